import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  readingSchema,
  runGenerator,
  startMosquitto,
  startStreamvault,
} from './servers.ts'

/** How fast the broker is filled, which is far below what it can do. */
const fillRate = 40_000

/** How long the readings may take to arrive. */
const patienceMs = 60_000

/** mosquitto keeps everything, and has no limit of its own to what is under way. */
const settings = ['max_queued_messages 0', 'max_queued_bytes 0', 'max_inflight_messages 0']

/**
 * Readings that wait in mosquitto, taken through one connection and acknowledged to it once they are
 * on disk: from the first to the last.
 */
export async function externalBroker(readings: number): Promise<Figure> {
  const broker = await startMosquitto(['plant/7'], settings)
  const service = await startStreamvault(0, {
    STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${broker.port}`,
  })
  const endpoint = `mqtt://127.0.0.1:${broker.port}`
  const streamId = await service.api.createStream(readingSchema, {
    source: { protocol: 'mqtt', endpoint, topic: 'plant/+' },
  })
  // The session has to be there before anything can wait in it.
  await until(async () => {
    const { source } = (await service.api.status(streamId)) as { source?: { state?: string } }
    return source?.state === 'running'
  })
  await service.api.withToken('POST', `/streams/${streamId}/pause`)
  await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(broker),
    ...flagsOf({ rate: fillRate, seconds: readings / fillRate, warmup: 1 }),
  ])
  const accepted = async () => (await service.metrics()).get('readings_accepted_total') ?? 0
  await service.api.withToken('POST', `/streams/${streamId}/resume`)
  await until(async () => (await accepted()) > 0)
  const [first, startedMs] = [await accepted(), performance.now()]
  await until(async () => (await accepted()) >= readings)
  const rate = (((await accepted()) - first) / (performance.now() - startedMs)) * 1_000
  await service.stop()
  await broker.stop()
  return {
    name: 'readings from an external mosquitto through one connection, MQTT 5, QoS 1',
    measured: `${Math.round(rate).toLocaleString('en-US')}/s, acknowledged after fsync (${readings.toLocaleString('en-US')} that had waited there)`,
    target: '15,000/s',
    isMet: rate >= 15_000,
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the readings do not arrive')
    await sleep(50)
  }
}
