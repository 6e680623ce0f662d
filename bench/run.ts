import { parseArgs } from 'node:util'
import { alertSpeed } from './alert-speed.ts'
import { authCost } from './auth-cost.ts'
import { inboundWebhookSpeed } from './inbound-webhooks.ts'
import { kafkaSpeed } from './kafka.ts'
import { listSpeed } from './list-speed.ts'
import { natsSpeed } from './nats.ts'
import { inboxSpeed } from './notifications.ts'
import { opcUaSpeed } from './opcua.ts'
import { type Figure, printFigure, writeReport } from './report.ts'
import {
  acknowledgedRate,
  acknowledgedToQueryable,
  httpRates,
  startTime,
  sustained,
} from './scenarios.ts'
import { sourceSpeed } from './source-speed.ts'
import { webhookSpeed } from './webhooks.ts'

/** Measures everything and writes `bench/REPORT.md`; `--quick` takes short runs and writes nothing. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
  const seconds = values.quick ? 2 : 5
  const figures: Figure[] = []
  const add = async (measured: Promise<Figure | readonly Figure[]>) => {
    for (const figure of [await measured].flat()) {
      figures.push(figure)
      printFigure(figure)
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
  if (!values.quick) await add(inboxSpeed())
  if (!values.quick) await add(webhookSpeed())
  if (!values.quick) await add(alertSpeed(3, seconds))
  if (!values.quick) await add(inboundWebhookSpeed())
  if (!values.quick) await add(sourceSpeed())
  if (!values.quick) await add(kafkaSpeed())
  if (!values.quick) await add(natsSpeed())
  if (!values.quick) await add(opcUaSpeed())
  if (values.quick) return
  writeReport({
    file: 'bench/REPORT.md',
    title: 'What it does on one machine',
    command: 'npm run bench',
    notes,
    figures,
  })
}

const notes = `A reading is about 120 bytes of JSON with five fields. "Acknowledged" means on disk: the PUBACK or
the 202 is sent after fsync. Latencies of an open loop count from the moment at which a reading was
due, so a stall shows in full; see [README.md](README.md) for what the generators do.`

await main()
