import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadFleet, makeFleet, medianOf, warmupOf } from './fleet.ts'
import { type Figure, printFigure } from './report.ts'
import { startStreamvault } from './servers.ts'

const fleet = { streams: 10_000, shapes: 100 }
const widthS = 10
const processing = { frequency: `${widthS}s`, aggregation: 'average' }

/**
 * Readings a second of ten thousand streams in a hundred shapes, from the first one until all of them are
 * stored: with windows of ten seconds, all of which that ended meanwhile are computed then, and without. In turns.
 */
export async function windowCost(rounds: number, seconds: number): Promise<Figure> {
  const ratios: number[] = []
  const rates: string[] = []
  for (let round = 0; round < rounds; round++) {
    const plain = await rateOf(seconds, undefined)
    const windowed = await rateOf(seconds, processing)
    ratios.push(windowed / plain)
    rates.push(`${windowed.toLocaleString('en')} and ${plain.toLocaleString('en')}`)
  }
  const ratio = medianOf(ratios)
  return {
    name: `windows of ${processing.frequency} on 10,000 streams in 100 shapes, and none: readings stored, and windows computed, a second`,
    measured: `${rates.join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: 'ratio 0.85',
    isMet: ratio >= 0.85,
  }
}

async function rateOf(seconds: number, wanted: object | undefined): Promise<number> {
  const target = await startStreamvault(0)
  const topics = await makeFleet(target.api, { ...fleet, processing: () => wanted })
  const warmup = warmupOf(fleet.streams)
  const beganMs = performance.now()
  const { totals } = await loadFleet(target, topics, { seconds, warmup })
  // The first windows are not whole; those that end with the load are due 2 s later.
  const whole = Math.floor((seconds + warmup) / widthS) - 1
  const windows = wanted === undefined ? 0 : whole * fleet.streams
  for (;;) {
    const metrics = await target.metrics()
    const computed = metrics.get('windows_computed_total') ?? 0
    if (metrics.get('shipper_lag') === 0 && computed >= windows) break
    await sleep(100)
  }
  const tookS = (performance.now() - beganMs) / 1_000
  await target.stop()
  return Math.round(totals.acknowledged / tookS)
}

/** By itself with `npm run bench:windows`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '25' },
    },
  })
  printFigure(await windowCost(Number(values.rounds), Number(values.seconds)))
}

if (import.meta.main) await main()
