import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { runningService } from '../support/running-service.ts'
import { type Metric, metric, payloadOf, readPayload } from '../support/sparkplug-payloads.ts'

/** An edge node at a broker of somebody else. */

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
let broker: Mosquitto

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

const start = Date.UTC(2026, 0, 1)

test('an edge node that lost a message is asked for its births there', async () => {
  const source = {
    endpoint: broker.endpoint,
    topic: 'spBv1.0/plant/+/node7/#',
    format: 'sparkplug',
  }
  const streamId = await service.api.createStream(undefined, { source })
  await expect
    .poll(async () => (await service.api.status(streamId))['source'])
    .toMatchObject({ state: 'running' })
  const node = await broker.client()
  const commands: unknown[] = []
  node.on('message', (topic, payload) => commands.push([topic, readPayload(payload)]))
  await node.subscribeAsync('spBv1.0/plant/NCMD/node7')
  let second = 0
  const send = (type: string, metrics: readonly Metric[], seq: number) => {
    const timestamp = start + second++ * 1_000
    const payload = Buffer.from(payloadOf(metrics, { seq, timestamp }))
    return node.publishAsync(`spBv1.0/plant/${type}/node7`, payload, { qos: 1 })
  }

  await send('NBIRTH', [metric('Double', 20, { name: 'temperature', alias: 1 })], 0)
  await send('NDATA', [metric('Double', 21, { alias: 1 })], 1)
  await send('NDATA', [metric('Double', 23, { alias: 1 })], 3)
  await expect.poll(() => commands).toHaveLength(1)
  await send('NBIRTH', [metric('Double', 24, { name: 'temperature', alias: 1 })], 0)

  expect(commands).toMatchObject([
    ['spBv1.0/plant/NCMD/node7', { metrics: [{ name: 'Node Control/Rebirth', value: true }] }],
  ])
  const counters = await service.api.settled(streamId, 4)
  expect(counters).toMatchObject({ stored: 3, quarantined: 1 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { timestamp: '2026-01-01T00:00:00.000000Z', temperature: 20 },
    { temperature: 21 },
    { temperature: 24 },
  ])
})
