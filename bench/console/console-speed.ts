import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { buildConsole } from '../../test/support/console/built-console.ts'
import { type Figure, type Measurements, measureAll } from '../report.ts'
import { drawnPoints } from './drawn-points.ts'
import { firstPage } from './first-page.ts'
import { hourOfReadings, liveReadings } from './live-readings.ts'
import { openConsoles } from './open-consoles.ts'
import { pageChanges } from './page-changes.ts'
import { serviceCost } from './service-cost.ts'
import { streamList } from './stream-list.ts'

/** What the console may cost, and what was measured: `npm run bench:console`, or some of it with `--only live`. */
const measurements: Measurements = {
  first: firstPage,
  install: serviceCost,
  list: streamList,
  live: liveReadings,
  hour: hourOfReadings,
  pages: pageChanges,
  points: drawnPoints,
  open: openConsoles,
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
  const only = values.only ?? []
  const unknown = only.filter((word) => !(word in measurements))
  if (unknown.length > 0) {
    throw new Error(`--only takes ${Object.keys(measurements).join(', ')}, not ${unknown.join()}`)
  }
  buildConsole()
  const figures = await measureAll(measurements, only)
  printTable(figures)
  if (figures.some(({ isMet }) => isMet === false)) process.exitCode = 1
}

function printTable(figures: readonly Figure[]): void {
  const rows = figures.map(({ name, target, measured, isMet }) => [
    name,
    target,
    measured,
    isMet === false ? 'MISS' : 'met',
  ])
  const table = [['what', 'wanted', 'measured', ''], ...rows]
  const widths = [0, 1, 2].map((at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  const lines = table.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  const load = loadavg()[0]?.toFixed(1)
  process.stdout.write(`\n${lines.join('\n')}\nprocesses that want a processor: ${load}\n`)
}

await main()
