import { parseArgs } from 'node:util'
import { exportSpeed } from './export-speed.ts'
import { manyStreams } from './many-streams.ts'
import { querySpeed } from './query-speed.ts'
import { type Measurements, measureAll, writeReport } from './report.ts'

/**
 * What data streams cost: many of them, queries, and those who read all of one. Words choose some of the
 * measurements, and then nothing is written.
 */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const measurements: Measurements = {
    streams: () => manyStreams(5, 20),
    queries: () => querySpeed(),
    export: () => exportSpeed({ rows: 10_000_000, rate: 5_000, seconds: 20 }),
  }
  const figures = await measureAll(measurements, positionals)
  if (positionals.length > 0) return
  writeReport({
    file: 'bench/REPORT-data-streams.md',
    title: 'What data streams take on one machine',
    command: 'npm run bench:data-streams',
    notes,
    figures,
  })
}

const notes = `Rates of many and of few streams are measured in turns, by the same load of readings that are prepared
beforehand, for 20 seconds after a warm-up of 7: what is held for thousands of streams takes so long to have its place
in memory. Their ratio is that of the pair in the middle. The same SQL on the engine has two threads. So has the
store for queries that look at little; where there are two processors, it has one for the others (docs/decisions.md).`

await main()
