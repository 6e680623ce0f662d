import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { authCost } from './auth-cost.ts'
import { listSpeed } from './list-speed.ts'
import {
  acknowledgedRate,
  acknowledgedToQueryable,
  type Figure,
  httpRates,
  startTime,
  sustained,
} from './scenarios.ts'
import { machine } from './servers.ts'

/** Measures everything and writes `bench/REPORT.md`; `--quick` takes short runs and writes nothing. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
  const seconds = values.quick ? 2 : 5
  const figures: Figure[] = []
  const add = async (measured: Promise<Figure | readonly Figure[]>) => {
    for (const figure of [await measured].flat()) {
      figures.push(figure)
      process.stdout.write(`${figure.isMet ? 'met ' : 'MISS'} ${figure.name}: ${figure.measured}\n`)
    }
  }
  await add(startTime(values.quick ? 2 : 5))
  await add(acknowledgedRate(values.quick ? 1 : 5, seconds))
  await add(acknowledgedToQueryable(20_000, values.quick ? 5 : 30))
  await add(sustained(60_000, values.quick ? 10 : 60))
  await add(httpRates(seconds))
  await add(authCost(seconds))
  // Building the lists alone takes longer than all quick runs together.
  if (!values.quick) await add(listSpeed())
  if (!values.quick) writeFileSync('bench/REPORT.md', report(figures))
}

function report(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ name, measured, target, isMet }) =>
      `| ${name} | ${measured} | ${target} | ${isMet ? 'yes' : '**no**'} |`,
  )
  return `# What it does on one machine

Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores of ${machine()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}.
Service, load generator and, where it is compared with, mosquitto share these cores. Every run
begins with an empty data folder. Compare ratios of one report, not rates of two: other machines,
and other neighbours on the same machine, give other rates.

A reading is about 120 bytes of JSON with five fields. "Acknowledged" means on disk: the PUBACK or
the 202 is sent after fsync. Latencies of an open loop count from the moment at which a reading was
due, so a stall shows in full; see [README.md](README.md) for what the generators do.

| what | measured | wanted | met |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

await main()
