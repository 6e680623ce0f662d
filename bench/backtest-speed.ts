import { newMemory } from '../processors/alert-memory.ts'
import { type AlertRule, compileAlertRules } from '../processors/alert-rules.ts'
import { conditionSteps, step } from '../processors/alerts.ts'
import { Backtests } from '../src/alerts/backtests.ts'
import { systemClock } from '../src/core/clock.ts'
import { newId, type UserId } from '../src/core/ids.ts'
import { DuckDbStore } from '../src/storage/time-series/duckdb/duckdb-store.ts'
import { readSeries } from '../src/storage/time-series/series.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import type { Figure } from './report.ts'
import { everyUs, fill, fromUs } from './rollup-speed.ts'

/** As many as a backtest may go over. */
const readings = 1_000_000

const atOnce = { severity: 'warning', forUs: 0, clearForUs: 0 } as const
const isHot: AlertRule = {
  ...atOnce,
  id: 'hot',
  field: 'temperature',
  operator: '>',
  threshold: 20.99,
}
const held: AlertRule = { ...isHot, id: 'held', clearThreshold: 20.9, forUs: 1e6, clearForUs: 5e6 }
const average: AlertRule = { ...isHot, id: 'average', function: 'avg', windowUs: 60e6 }
const condition: AlertRule = { ...atOnce, id: 'condition', condition: 'temperature > 20.99' }

const sets: Readonly<Record<string, readonly AlertRule[]>> = {
  'one threshold': [isHot],
  'four rules, one of them a condition': [isHot, held, average, condition],
}

/** How long a backtest of one threshold takes over a million readings in DuckDB. */
export async function backtestSpeed(): Promise<Figure> {
  const seconds = await timesOf([isHot], 5)
  const median = seconds.toSorted((left, right) => left - right)[2] ?? Number.NaN
  return {
    name: 'a backtest over 1,000,000 readings',
    measured: `${median.toFixed(2)} s (median of 5; slowest ${Math.max(...seconds).toFixed(2)})`,
    target: 'under 2 s',
    isMet: median < 2,
  }
}

/** Seconds of each of some backtests. */
async function timesOf(proposed: readonly AlertRule[], rounds: number): Promise<readonly number[]> {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  await fill(path, readings)
  const store = await DuckDbStore.open(path, systemClock)
  const backtests = new Backtests({ readSeries: (query) => readSeries(store, query) })
  const fields = { temperature: { type: 'number' } } as const
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await backtests.run({
      userId: newId<UserId>(),
      streamId: 'boiler',
      startUs: fromUs,
      endUs: fromUs + readings * everyUs,
      plan: { proposed, current: undefined, fields, columns: ['temperature'] },
      signal: new AbortController().signal,
    })
    seconds.push((performance.now() - begun) / 1_000)
  }
  await store.close()
  return seconds
}

/** By itself with `npm run bench:backtests`: of several rules, and what a reading costs each. */
async function main(): Promise<void> {
  for (const [name, proposed] of Object.entries(sets)) {
    const seconds = await timesOf(proposed, 3)
    process.stdout.write(`${name}: ${seconds.map((one) => one.toFixed(2)).join(', ')} s\n`)
  }
  for (const rule of [isHot, held, average, condition]) {
    process.stdout.write(
      `${rule.id}: ${costOf(rule).toFixed(0)} ns for a reading that breaks nothing\n`,
    )
  }
}

/** Nanoseconds of a reading. */
function costOf(rule: AlertRule): number {
  const [compiled] = compileAlertRules([rule], { temperature: { type: 'number' } }).rules
  if (compiled === undefined) throw new Error('there is a rule')
  const memory = newMemory()
  const allowance = { left: 0 }
  const rounds = 2_000_000
  let begun = 0
  for (let round = -200_000; round < rounds; round++) {
    if (round === 0) begun = performance.now()
    const timeUs = fromUs + round * 1_000
    allowance.left = conditionSteps
    const values = { temperature: 20 }
    step(compiled, memory, { kind: 'reading', timeUs, receivedAtUs: timeUs, values, allowance })
  }
  return ((performance.now() - begun) * 1e6) / rounds
}

if (import.meta.main) await main()
