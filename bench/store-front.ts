import { parseArgs } from 'node:util'
import { backgroundWork } from './background-work.ts'
import { backlogRecovery } from './backlog-recovery.ts'
import { duckDbWriters } from './duckdb-writers.ts'
import { numberFlag } from './load-command.ts'
import { longRun } from './long-run.ts'
import { questDbRollups } from './questdb-rollups.ts'
import { questDbDrain, questDbVisible } from './questdb-visible.ts'
import { questDbBytes, questDbWriters } from './questdb-writers.ts'
import { type Measurements, measureAll, writeReport } from './report.ts'
import { rollupWriting } from './rollup-writing.ts'
import { telegrafRatios } from './telegraf.ts'
import { windowCost } from './windows.ts'

/**
 * What the stores take and cost. Words choose some of the measurements, and then nothing is written;
 * neither is it with other sizes than those of the report.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string' },
      'million-rows': { type: 'string' },
      'million-entries': { type: 'string' },
    },
  })
  const minutes = numberFlag('minutes', values.minutes) ?? 10
  const rows = (numberFlag('million-rows', values['million-rows']) ?? 200) * 1e6
  const entries = (numberFlag('million-entries', values['million-entries']) ?? 10) * 1e6
  const measurements: Measurements = {
    writers: () => duckDbWriters(1_000_000, 3),
    questdb: () => questDbWriters(500_000, 3),
    bytes: () => questDbBytes(2_000_000),
    visible: () => questDbVisible(60_000, 20),
    telegraf: () => telegrafRatios(3, 5),
    drain: () => questDbDrain(20_000, 150),
    rollups: () => questDbRollups(),
    'rollup-writing': () => rollupWriting(4),
    windows: () => windowCost(3, 25),
    backlog: () => backlogRecovery(entries),
    background: () => backgroundWork(10_000_000),
    long: () => longRun(minutes, rows),
  }
  const figures = await measureAll(measurements, positionals)
  if (positionals.length > 0 || Object.keys(values).length > 0) return
  writeReport({
    file: 'bench/REPORT-stores.md',
    title: 'What the stores take on one machine',
    command: 'npm run bench:stores',
    notes,
    figures,
  })
}

const notes = `Older readings are put into the store past the service, by the engine itself: twenty streams of five
fields over thirty days. Late ones are spread evenly over those days, so each shipment touches old
months, too.`

await main()
