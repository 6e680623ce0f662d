import { describe, expect, test } from 'vitest'
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

test('a rule that is broken fires once, and ends once', async () => {
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

test('a thousand breaches at once are one alert, which is told once', async () => {
  await webhook('stream.alert_triggered', 'stream.alert_cleared')
  const stream = await RuledStream.make(service.api, tooHot)
  const breaches = Array.from({ length: 1_000 }, (_, index) => ({
    timestamp: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    temperature: 81 + (index % 10),
  }))

  const statuses = await Promise.all(
    breaches.map(async (breach) => {
      const path = `/streams/${stream.id}/data`
      return (await service.api.withToken('POST', path, breach)).status
    }),
  )

  expect(new Set(statuses)).toEqual(new Set([202]))
  await service.api.settled(stream.id, breaches.length)
  expect(await stream.alerts()).toMatchObject([{ state: 'firing' }])
  expect(await stream.history()).toHaveLength(1)
  await stream.act('clear')
  // Nothing of it is told after its end.
  const toldOf = () =>
    receiver.received
      .map(({ body }) => JSON.parse(body.toString()) as Told & { readonly eventId: string })
      .filter(({ data }) => data['streamId'] === stream.id)
  const ended = () => toldOf().map(({ eventType }) => eventType)
  await expect.poll(ended).toContain('stream.alert_cleared')
  expect(new Set(toldOf().map(({ eventId }) => eventId)).size).toBe(2)
})

test('rules see the readings that a stream drops as unchanged', async () => {
  const schema = { temperature: { type: 'number' } }
  const long = { ...tooHot, id: 'long', for: '1m', clearFor: '30s' }
  const windowed = { field: 'temperature', operator: '>=', function: 'count', window: '10s' }
  const alerting = [long, { ...windowed, id: 'many', threshold: 10 }]
  const processing = { deduplicate: true, frequency: '1h', alerting }
  const stream = new RuledStream(
    service.api,
    await service.api.createStream(schema, { processing }),
  )

  await stream.push(...Array.from({ length: 61 }, () => 90))
  const firing = await stream.alerts()
  await stream.push(...Array.from({ length: 31 }, () => 20))
  const cleared = await stream.alerts('?state=cleared')

  const counters = await service.api.settled(stream.id, 92)
  expect(counters).toMatchObject({ stored: 2, unchanged: 90 })
  // Before as much time has passed as timers would take.
  expect(firing).toHaveLength(2)
  expect(firing).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ruleId: 'many', state: 'firing', value: 10 }),
      expect.objectContaining({
        ruleId: 'long',
        state: 'firing',
        triggeredAt: '2026-01-01T00:01:00.000000Z',
      }),
    ]),
  )
  expect(cleared).toMatchObject([{ ruleId: 'long', clearedAt: '2026-01-01T00:01:31.000000Z' }])
})

test('a stream that is paused keeps its alerts, and people can end them', async () => {
  const stream = await RuledStream.make(service.api, tooHot)
  await stream.push(90)
  await service.api.withToken('POST', `/streams/${stream.id}/pause`)

  expect(await stream.alerts()).toMatchObject([{ state: 'firing' }])
  expect((await stream.act('acknowledge')).body.state).toBe('acknowledged')
  expect((await stream.act('clear')).body.state).toBe('cleared')
  await service.api.withToken('POST', `/streams/${stream.id}/resume`)
  await stream.push(20, 90)
  expect(await stream.alerts()).toMatchObject([{ state: 'firing' }, { state: 'cleared' }])
})

test('who has subscribed to the events of a stream is told of its alerts', async () => {
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

test('the inbox has alerts of all severities, and lists those of one', async () => {
  const burning = { ...tooHot, id: 'burning', threshold: 200, severity: 'critical' }
  const stream = await RuledStream.make(service.api, tooHot, burning)
  await stream.push(90, 300)
  interface Inbox {
    readonly content: readonly {
      readonly severity: string
      readonly resource_id: string
      readonly message: string
    }[]
    readonly total_records: number
  }
  const inbox = async (query: string) =>
    (await service.api.withKey<Inbox>('GET', `/notifications/in-app${query}`)).body
  const alerts = await stream.alerts()
  const burningId = alerts.find(({ ruleId }) => ruleId === 'burning')?.alertId

  const critical = await inbox('?severity=critical&page_size=100')
  const all = await inbox('?page_size=100')

  expect(critical.content.map((one) => one.resource_id)).toContain(burningId)
  expect(new Set(critical.content.map(({ severity }) => severity))).toEqual(new Set(['critical']))
  // Beside the name of the stream stands what has been found.
  expect(critical.content.find((one) => one.resource_id === burningId)?.message).toMatch(
    / \(burning: 300, limit 200\)$/,
  )
  expect(critical.total_records).toBe(critical.content.length)
  expect(all.content.map((one) => one.resource_id)).toEqual(
    expect.arrayContaining(alerts.map(({ alertId }) => alertId)),
  )
  expect((await service.api.withKey('GET', '/notifications/in-app?severity=mild')).status).toBe(400)
})

test('what fires is in the status of its stream, until somebody has acknowledged it', async () => {
  const severe = { ...tooHot, id: 'far-too-hot', threshold: 90, severity: 'critical' }
  const stream = await RuledStream.make(service.api, tooHot, severe)
  const firing = async () => {
    const { body } = await service.api.withToken('GET', `/streams/${stream.id}/status`)
    return body
  }

  await stream.push(81)
  expect(await firing()).toMatchObject({ firing: { alerts: 1, severity: 'warning' } })
  await stream.push(91)
  expect(await firing()).toMatchObject({ firing: { alerts: 2, severity: 'critical' } })
  await stream.act('acknowledge')
  expect(await firing()).toMatchObject({ firing: { alerts: 1, severity: 'warning' } })
})

/** An alert from second 2 to second 5, one from 7 to 8, and one from 10 on. */
async function threeAlerts(): Promise<RuledStream> {
  const stream = await RuledStream.make(service.api, tooHot)
  await stream.push(20, 20, 81, 81, 81, 20, 20, 81, 20, 20, 81)
  return stream
}

async function begun(stream: RuledStream, query: object): Promise<readonly string[]> {
  const found = await stream.alerts(`?${new URLSearchParams(Object.entries(query)).toString()}`)
  return found.map(({ triggeredAt }) => String(triggeredAt).slice(17, 19)).toSorted()
}

describe('alerts of a range', () => {
  const [fifth, tenth] = ['2026-01-01T00:00:05Z', '2026-01-01T00:00:10Z']

  test('are those that were triggered in it, or went on at its start', async () => {
    const stream = await threeAlerts()

    expect(await begun(stream, {})).toEqual(['02', '07', '10'])
    expect(await begun(stream, { start: '2026-01-01T00:00:04Z' })).toEqual(['02', '07', '10'])
    expect(await begun(stream, { start: fifth })).toEqual(['07', '10'])
    expect(await begun(stream, { end: tenth })).toEqual(['02', '07'])
    expect(await begun(stream, { start: fifth, end: tenth })).toEqual(['07'])
    expect(await begun(stream, { start: '2026-01-01T01:00:00Z' })).toEqual(['10'])
    expect(await begun(stream, { start: tenth, end: tenth })).toEqual([])
  })

  test.each([{ start: 'yesterday' }, { end: '2026-01-01' }, { start: tenth, end: fifth }])(
    'are refused for %o',
    async (query) => {
      const stream = await RuledStream.make(service.api, tooHot)
      const search = new URLSearchParams(Object.entries(query)).toString()

      const path = `/streams/${stream.id}/alerts?${search}`
      const { status, body } = await service.api.withToken('GET', path)

      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_request' })
    },
  )

  test('has no pending one in it', async () => {
    const stream = await RuledStream.make(service.api, { ...tooHot, for: '1h' })
    await stream.push(81)

    expect(await stream.alerts()).toMatchObject([{ state: 'pending' }])
    expect(await stream.alerts(`?start=${fifth.replace('05', '00')}`)).toEqual([])
  })
})
