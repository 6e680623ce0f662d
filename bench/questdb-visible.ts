import { setTimeout as sleep } from 'node:timers/promises'
import { QuestDb } from '../test/support/questdb.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from './servers.ts'
import { thousands } from './writer-rows.ts'

const streams = 20

/** Longest time to wait for what is on its way. */
const patienceMs = 180_000

/** Readings a second from MQTT clients to rows that a query of QuestDB shows. */
export async function questDbVisible(rate: number, seconds: number): Promise<Figure> {
  await using questDb = await QuestDb.start()
  const service = await startStreamvault(streams, urlOf(questDb))
  const beganMs = performance.now()
  const result = await load(service, rate, seconds)
  const shown = await untilVisible(questDb, result.totals.acknowledged)
  const perSecond = shown / ((performance.now() - beganMs) / 1_000)
  await service.stop()
  return {
    name: `MQTT QoS 1 at ${thousands(rate)}/s for ${seconds} s, until all rows are visible in QuestDB`,
    measured: `${thousands(shown)} rows, ${thousands(perSecond)}/s; acknowledged ${thousands(result.perSecond)}/s, p99 ${(result.latencyUs.p99 / 1_000).toFixed(0)} ms`,
    target: '45,000 rows/s',
    isMet: perSecond >= 45_000,
  }
}

/** How fast an outage is made up for while readings go on coming in. */
export async function questDbDrain(rate: number, outageS: number): Promise<Figure> {
  await using questDb = await QuestDb.start()
  const service = await startStreamvault(streams, urlOf(questDb))
  await load(service, rate, 2)
  await untilVisible(questDb, rate)
  await questDb.stop()
  await load(service, rate, outageS)
  const waiting = await lagOf(service)
  const going = load(service, rate, 60)
  await questDb.start()
  // From when the store has noticed, which its pause between attempts puts off.
  while ((await lagOf(service)) >= waiting) await sleep(100)
  const [beganMs, before] = [performance.now(), await stored(service)]
  while ((await lagOf(service)) > rate && performance.now() - beganMs < 55_000) await sleep(100)
  const perSecond = ((await stored(service)) - before) / ((performance.now() - beganMs) / 1_000)
  const left = await lagOf(service)
  await going
  await service.stop()
  return {
    name: `after ${outageS} s without QuestDB at ${thousands(rate)}/s, which go on: stored while the backlog drains`,
    measured: `${thousands(perSecond)}/s, from ${thousands(waiting)} to ${thousands(left)} entries: ${(perSecond / rate).toFixed(2)} of what comes in`,
    target: '1.5',
    isMet: perSecond / rate >= 1.5,
  }
}

function urlOf({ port }: QuestDb): Readonly<Record<string, string>> {
  return { STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${port}` }
}

async function load(
  service: StreamvaultTarget,
  rate: number,
  seconds: number,
): Promise<MqttLoadResult> {
  return await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(service),
    ...flagsOf({ rate, seconds, warmup: 1 }),
  ])
}

async function lagOf(service: StreamvaultTarget): Promise<number> {
  return (await service.metrics()).get('shipper_lag') ?? 0
}

async function stored(service: StreamvaultTarget): Promise<number> {
  return (await service.metrics()).get('readings_stored_total') ?? 0
}

/** Resolves with the rows that a query shows, once there are so many, or when it takes too long. */
export async function untilVisible(questDb: QuestDb, rows: number): Promise<number> {
  const beganMs = performance.now()
  let shown = await visibleRows(questDb)
  while (shown < rows && performance.now() - beganMs < patienceMs) {
    await sleep(50)
    shown = await visibleRows(questDb)
  }
  return shown
}

/** Rows of all tables of readings that a query shows. */
export async function visibleRows(questDb: QuestDb): Promise<number> {
  const connection = questDb.connection()
  const tables = await connection.run(
    `SELECT table_name FROM tables() WHERE table_name LIKE '%readings%'`,
  )
  let shown = 0
  for (const [table] of tables.rows) {
    const counted = await connection.run(`SELECT count() FROM "${String(table)}"`)
    shown += Number(counted.rows[0]?.[0])
  }
  connection.close()
  return shown
}
