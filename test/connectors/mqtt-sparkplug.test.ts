import { connectAsync, type MqttClient } from 'mqtt'
import { expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { type Metric, metric, payloadOf, readPayload } from '../support/sparkplug-payloads.ts'

/** An edge node at our own broker, from its birth to its death (Sparkplug 3.0, section 5.4). */

const service = runningService()

const start = Date.UTC(2026, 0, 1)

class EdgeNode {
  readonly #client: MqttClient
  readonly commands: unknown[] = []
  #seq = 0
  #second = 0

  static async connect(bdSeq: number): Promise<EdgeNode> {
    const death = payloadOf([metric('UInt64', bdSeq, { name: 'bdSeq' })])
    const client = await connectAsync({
      host: '127.0.0.1',
      port: service.process.mqttPort,
      username: adminKey,
      password: adminSecret,
      reconnectPeriod: 0,
      will: {
        topic: 'spBv1.0/plant/NDEATH/node7',
        payload: Buffer.from(death),
        qos: 1,
        retain: false,
      },
    })
    const node = new EdgeNode(client)
    await client.subscribeAsync('spBv1.0/plant/NCMD/node7', { qos: 1 })
    return node
  }

  private constructor(client: MqttClient) {
    this.#client = client
    client.on('message', (topic, payload) => this.commands.push([topic, readPayload(payload)]))
  }

  async birth(bdSeq: number): Promise<void> {
    this.#seq = 0
    const session = metric('UInt64', bdSeq, { name: 'bdSeq' })
    const temperature = metric('Double', 20, { name: 'Temperature/Inlet', alias: 1 })
    await this.send('NBIRTH', [session, temperature])
    await this.send('DBIRTH', [metric('Int32', -5, { name: 'level', alias: 2 })], 'pump')
  }

  async send(type: string, metrics: readonly Metric[], device?: string): Promise<void> {
    const timestamp = start + this.#second++ * 1_000
    const topic = ['spBv1.0/plant', type, 'node7', ...(device === undefined ? [] : [device])]
    const payload = payloadOf(metrics, { seq: this.#seq, timestamp })
    this.#seq = (this.#seq + 1) % 256
    // Sparkplug sends with QoS 0; with 1 the test knows when it is there.
    await this.#client.publishAsync(topic.join('/'), Buffer.from(payload), { qos: 1 })
  }

  /** Goes on without a message that was never sent. */
  lose(): void {
    this.#seq++
  }

  die(): void {
    this.#client.stream.destroy()
  }
}

const temperature = (value: number) => metric('Double', value, { alias: 1 })

async function counted(event: string): Promise<number> {
  return await metricOf(service.process, `sparkplug_events_total{reason="${event}"}`)
}

test('is born, sends by alias, loses a message, is asked for its births, and dies', async () => {
  const streamId = await service.api.createStream(
    { inlet: { type: 'number' }, level: { type: 'integer' } },
    {
      source: {
        format: 'sparkplug',
        topic: 'spBv1.0/plant/+/node7/#',
        names: { 'Temperature/Inlet': 'inlet' },
      },
    },
  )
  const node = await EdgeNode.connect(3)
  await node.birth(3)
  await node.send('NDATA', [temperature(21)])
  await node.send('DDATA', [metric('Int32', -6, { alias: 2 })], 'pump')
  expect(node.commands).toEqual([])

  node.lose()
  await node.send('NDATA', [temperature(23)])
  await expect.poll(() => node.commands).toHaveLength(1)
  expect(node.commands).toMatchObject([
    ['spBv1.0/plant/NCMD/node7', { metrics: [{ name: 'Node Control/Rebirth', value: true }] }],
  ])
  await node.birth(3)
  await node.send('NDATA', [temperature(24)])
  node.die()
  await expect.poll(() => counted('death')).toBe(1)

  const counters = await service.api.settled(streamId, 8)
  expect(counters).toMatchObject({ received: 8, stored: 7, quarantined: 1 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { timestamp: '2026-01-01T00:00:00.000000Z', inlet: 20 },
    { level: -5 },
    { inlet: 21 },
    { level: -6 },
    { inlet: 20 },
    { level: -5 },
    { timestamp: '2026-01-01T00:00:07.000000Z', inlet: 24 },
  ])
  const redriven = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
  expect(redriven.body).toMatchObject({
    redriven: 0,
    stillRefused: [
      { reason: 'malformed', message: expect.stringContaining('aliases 1') as string },
    ],
  })
  expect(await counted('gap')).toBe(1)
  expect(await counted('rebirth_request')).toBe(1)
})
