import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { QuestDb } from '../test/support/questdb.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { untilVisible, visibleRows } from './questdb-visible.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  type MqttTarget,
  mqttFlags,
  runGenerator,
  startMosquitto,
  startStreamvault,
} from './servers.ts'
import { Telegraf, telegrafProgram, underWayMax } from './telegraf-process.ts'
import { thousands } from './writer-rows.ts'

const streams = 20

/** Both have compiled what they run by then, and have made their tables. */
const before = { rate: 20_000, seconds: 3, warmup: 0.1 }

/** Time for rows to appear that nobody waits for. */
const afterwardsMs = 1_000

/** On each of 20 connections: enough that the broker never waits for a client. */
const inFlight = 500

/**
 * mosquitto keeps everything in memory, where Streamvault has to wait for its disk: that is in favour of
 * Telegraf, and so is that mosquitto asks nobody for a password.
 */
const mosquittoSettings = [
  'max_queued_messages 0',
  'max_queued_bytes 0',
  `max_inflight_messages ${underWayMax}`,
]

interface Measured {
  readonly perSecond: number
  /** Readings that were acknowledged, from the very beginning. */
  readonly acknowledged: number
}

interface Run extends Measured {
  /** Rows in the end that are too many, because readings were written twice, or too few. */
  readonly surplus: number
}

/** One consumer is what its manual shows. With two it uses both cores, which nobody promises to be twice as fast as. */
const setups = [
  { consumers: 1, ratioMin: 2 },
  { consumers: 2, ratioMin: 1 },
] as const

/**
 * Streamvault against mosquitto and Telegraf, in turns, each with a new QuestDB. Both get the same load of QoS 1
 * for the same time, which is a closed loop: as much as the broker takes. Both brokers take more than comes out behind
 * them, so what counts is the way to the store: the rows that a query shows, by the seconds from the beginning of the load
 * until it shows all that was acknowledged.
 */
export async function telegrafRatios(rounds: number, seconds: number): Promise<Figure[]> {
  const name = `MQTT QoS 1 in a closed loop for ${seconds} s, until all rows are visible in QuestDB, against mosquitto and Telegraf`
  if (telegrafProgram() === undefined) {
    const measured = 'telegraf is not installed: scripts/install-bench-tools'
    return [{ name, measured, target: 'ratio 2', isMet: undefined }]
  }
  const ours: Run[] = []
  const theirs: Run[][] = setups.map(() => [])
  for (let round = 0; round < rounds; round++) {
    ours.push(await streamvaultRun(seconds))
    for (const [at, { consumers }] of setups.entries()) {
      theirs[at]?.push(await telegrafRun(seconds, consumers))
    }
  }
  return setups.map(({ consumers, ratioMin }, at) => {
    const figure = ratioOf(ours, theirs[at] ?? [], ratioMin)
    return {
      ...figure,
      name: `${name} with ${consumers === 1 ? 'one consumer' : `${consumers} consumers`}`,
    }
  })
}

function ratioOf(
  ours: readonly Run[],
  theirs: readonly Run[],
  ratioMin: number,
): Omit<Figure, 'name'> {
  const ratios = ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? 1))
  const ratio = ratios.toSorted((left, right) => left - right)[Math.floor(ratios.length / 2)] ?? 0
  const isExact = [...ours, ...theirs].every(({ surplus }) => surplus === 0)
  return {
    measured: `${runsText(ours)}; with Telegraf ${runsText(theirs)}; ratio ${ratio.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(', ')})`,
    target: `ratio ${ratioMin}`,
    isMet: isExact && ratio >= ratioMin,
  }
}

function runsText(runs: readonly Run[]): string {
  const rates = `${runs.map(({ perSecond }) => thousands(perSecond)).join(', ')} rows/s`
  const surplus = runs.map((run) => run.surplus)
  if (surplus.every((rows) => rows === 0)) return rates
  return `${rates} (rows beyond those acknowledged: ${surplus.map(thousands).join(', ')})`
}

async function streamvaultRun(seconds: number): Promise<Run> {
  await using questDb = await newQuestDb()
  await using ending = new AsyncDisposableStack()
  const service = await startStreamvault(streams, {
    STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDb.port}`,
  })
  ending.defer(async () => await service.stop())
  const run = await measure(service, questDb, seconds)
  return { ...run, surplus: await surplusOf(run, questDb) }
}

async function telegrafRun(seconds: number, consumers: number): Promise<Run> {
  await using questDb = await newQuestDb()
  await using ending = new AsyncDisposableStack()
  const topics = Array.from({ length: streams }, () => `streams/${randomUUID()}/data`)
  const broker = await startMosquitto(topics, mosquittoSettings)
  ending.defer(async () => await broker.stop())
  const route = { mqttPort: broker.port, topics, questDbPort: questDb.port, consumers }
  const telegraf = ending.use(await Telegraf.start(route))
  const run = await measure(broker, questDb, seconds)
  // It writes what it still holds, if that is anything.
  await telegraf.stop()
  return { ...run, surplus: await surplusOf(run, questDb) }
}

/** As it runs at its user's: not compiled for a quick start. */
async function newQuestDb(): Promise<QuestDb> {
  return await QuestDb.start([], false)
}

async function measure(target: MqttTarget, questDb: QuestDb, seconds: number): Promise<Measured> {
  const earlier = await load(target, before)
  await untilVisible(questDb, earlier)
  const beganMs = performance.now()
  const acknowledged = earlier + (await load(target, { seconds, warmup: 1, 'in-flight': inFlight }))
  const shown = await untilVisible(questDb, acknowledged)
  const perSecond = (shown - earlier) / ((performance.now() - beganMs) / 1_000)
  return { perSecond, acknowledged }
}

/** Resolves with the readings that were acknowledged. */
async function load(target: MqttTarget, flags: Readonly<Record<string, number>>): Promise<number> {
  const { totals } = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(target),
    ...flagsOf(flags),
  ])
  return totals.acknowledged
}

async function surplusOf({ acknowledged }: Measured, questDb: QuestDb): Promise<number> {
  // What QuestDB has answered for and does not show yet counts, too.
  await sleep(afterwardsMs)
  return (await visibleRows(questDb)) - acknowledged
}
