import { expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { createKey } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })

const connect = mqttClients(() => service.process.mqttPort)

interface Told {
  readonly eventType: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A reading of a stream of tests, as it is told. */
function at(second: number, temperature: number): object {
  return { timestamp: `2026-01-01T00:00:0${second}.000000Z`, temperature }
}

/** What the receiver was told, once it is so much. */
async function told(count: number): Promise<readonly Told[]> {
  const received = await receiver.requests(count)
  return received.map(({ body }) => JSON.parse(body.toString()) as Told)
}

async function webhook(...events: readonly string[]): Promise<void> {
  const body = { url: receiver.url, events }
  const { status } = await service.api.withToken('POST', '/webhooks', body)
  expect(status).toBe(201)
}

test('D31: a rule that is broken fires once, and ends once', async () => {
  await webhook('stream.alert_triggered', 'stream.alert_cleared')
  const stream = await RuledStream.make(service.api, tooHot)

  await stream.push(20, 81, 90, 85)
  const firing = await stream.alerts()
  await stream.push(79, 20)
  const cleared = await stream.alerts()

  expect(firing).toMatchObject([
    { ruleId: 'too-hot', streamId: stream.id, state: 'firing', value: 81, threshold: 80 },
  ])
  expect(cleared).toMatchObject([
    { alertId: firing[0]?.alertId, state: 'cleared', clearedAt: '2026-01-01T00:00:04.000000Z' },
  ])
  const { alertId } = firing[0] ?? { alertId: '' }
  expect(await told(2)).toMatchObject([
    { eventType: 'stream.alert_triggered', data: { alertId, state: 'firing', value: 81 } },
    { eventType: 'stream.alert_cleared', data: { alertId, state: 'cleared', value: 79 } },
  ])
})

test('D26: who has subscribed to the events of a stream is told of its alerts', async () => {
  const stream = await RuledStream.make(service.api, tooHot)
  const key = await createKey(service.api, { userId: await service.api.userId() })
  const client = await connect(key)
  await client.subscribe(`streams/${stream.id}/events`, 1)

  await stream.push(20, 90, 20)

  const events = () =>
    client.messages.map(({ payload }) => {
      const { eventType, data } = JSON.parse(payload) as Told
      return [eventType, data['state'], data['value'], data['readings']]
    })
  await expect.poll(events).toHaveLength(2)
  expect(events()).toEqual([
    ['stream.alert_triggered', 'firing', 90, [at(0, 20), at(1, 90)]],
    ['stream.alert_cleared', 'cleared', 20, [at(0, 20), at(1, 90), at(2, 20)]],
  ])
})

test('an alert is explained by the readings that moved it and the deliveries that followed', async () => {
  await webhook('stream.alert_triggered')
  const before = receiver.received.length
  const stream = await RuledStream.make(service.api, { ...tooHot, for: '2s' })
  await stream.push(20, 90, 91, 92)
  await receiver.requests(before + 1)
  const { alertId } = await stream.alert()

  interface Explanation {
    readonly steps: readonly { readonly sentence: string; readonly deliveries: object[] }[]
  }
  const path = `/alerts/${alertId}/explain`
  const read = async () => (await service.api.withToken<Explanation>('GET', path)).body
  await expect
    .poll(async () => (await read()).steps[1]?.deliveries)
    .toContainEqual(expect.objectContaining({ state: 'delivered', attempts: 1 }))

  expect(await read()).toMatchObject({
    alert: { alertId, state: 'firing', triggeredAt: '2026-01-01T00:00:03.000000Z' },
    now: { state: 'firing', since: '2026-01-01T00:00:01.000000Z' },
    alertTime: '2026-01-01T00:00:03.000000Z',
    steps: [
      { step: { from: 'ok', to: 'pending', reading: { temperature: 90 } }, told: false },
      { step: { from: 'pending', to: 'firing' }, told: true },
    ],
  })
})

test('the severity chooses which webhooks are told', async () => {
  const body = { events: ['stream.alert_triggered'], filters: { severities: ['critical'] } }
  await service.api.withToken('POST', '/webhooks', { ...body, url: `${receiver.url}/critical` })
  const burning = { ...tooHot, id: 'burning', threshold: 200, severity: 'critical' }
  const stream = await RuledStream.make(service.api, tooHot, burning)
  await stream.push(90, 300)

  const critical = () =>
    receiver.received
      .filter(({ path }) => path.endsWith('/critical'))
      .map(({ body: bytes }) => (JSON.parse(bytes.toString()) as Told).data['ruleId'])
  await expect.poll(critical).toEqual(['burning'])
})
