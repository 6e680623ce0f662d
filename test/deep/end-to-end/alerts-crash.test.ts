import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RuledStream, type StepBody, tooHot } from '../../support/alerting.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { answering, hanging } from '../../support/receiver.ts'
import { testReceiver } from '../../support/test-receiver.ts'

const receiver = await testReceiver()

/** A service with a webhook that is told of alerts. */
async function started(): Promise<FaultyService> {
  const service = await FaultyService.start({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
  const events = ['stream.alert_triggered', 'stream.alert_cleared']
  await service.api.withToken('POST', '/webhooks', { url: receiver.url, events })
  return service
}

interface Told {
  readonly eventId: string
  readonly eventType: string
  readonly data: { readonly alertId: string; readonly ruleId: string; readonly sequence: number }
}

/** What the receiver was told, request by request. */
function told(): readonly Told[] {
  return receiver.received.map(({ body }) => JSON.parse(body.toString()) as Told)
}

/** The events that the receiver was told of, each once; the same event always has the same bytes. */
function eventsTold(): ReadonlySet<string> {
  const bodies = new Map<string, Buffer>()
  for (const { body } of receiver.received) {
    const { eventId } = JSON.parse(body.toString()) as Told
    expect(body).toEqual(bodies.get(eventId) ?? body)
    bodies.set(eventId, body)
  }
  return new Set(bodies.keys())
}

interface Step extends StepBody {
  readonly alertId: string
}

/** Every step of every alert of a stream, as the service tells them. */
async function steps({ api }: FaultyService, streamId: string): Promise<readonly Step[]> {
  const alerts = await new RuledStream(api, streamId).alerts('?limit=1000')
  const histories = alerts.map(async ({ alertId }) => {
    const path = `/alerts/${alertId}/history`
    const { body } = await api.withToken<{ steps: readonly StepBody[] }>('GET', path)
    return body.steps.map((step) => ({ ...step, alertId }))
  })
  return (await Promise.all(histories)).flat()
}

/** Events that steps have told. */
function eventsOf(all: readonly StepBody[]): readonly string[] {
  return all.flatMap(({ eventId }) => (eventId === null ? [] : [eventId]))
}

/** Resolves when nothing waits any more: each delivery of so many events has ended. */
async function ended(service: FaultyService, deliveries: number): Promise<void> {
  const { api } = service
  const { body } = await api.withToken<readonly { webhookId: string }[]>('GET', '/webhooks')
  await service.until('all deliveries have ended', async () => {
    interface Logs {
      readonly logs: readonly { readonly deliveryStatus: string }[]
    }
    const path = `/webhooks/${body[0]?.webhookId}/logs?limit=1000`
    const { logs } = (await api.withToken<Logs>('GET', path)).body
    return (
      logs.length === deliveries && logs.every(({ deliveryStatus }) => deliveryStatus !== 'pending')
    )
  })
}

test('killed before a transition is written, it comes after the restart, and is told once', async () => {
  await using service = await started()
  const { id } = await RuledStream.make(service.api, tooHot)
  service.faults.begin('hold', 'state.db')
  await new RuledStream(service.api, id).send(90)
  await service.kill()
  expect(receiver.received).toEqual([])

  await service.restart()

  await service.until('it fires', async () => (await steps(service, id)).length > 0)
  await ended(service, 1)
  const all = await steps(service, id)
  expect(all).toMatchObject([{ from: 'ok', to: 'firing', reading: { temperature: 90 } }])
  expect(told().map(({ eventId }) => eventId)).toEqual(eventsOf(all))
})

test('killed between transitions and their deliveries, the very same events are told', async () => {
  await using service = await started()
  receiver.behaviour = hanging
  const rules = Array.from({ length: 20 }, (_, index) => ({ ...tooHot, id: `hot-${index}` }))
  const stream = await RuledStream.make(service.api, ...rules)
  await stream.push(90)
  await service.until('all fire', async () => (await stream.alerts()).length === 20)
  // A receiver that does not answer gets a few at first: nobody has begun with the others.
  await receiver.requests(4)
  const before = await steps(service, stream.id)
  await service.kill()
  const underWay = eventsTold()
  expect([before.length, underWay.size]).toEqual([20, 4])
  receiver.behaviour = answering(200)

  await service.restart()

  await receiver.requests(24)
  await ended(service, 20)
  expect(await steps(service, stream.id)).toEqual(before)
  const after = told().slice(4)
  expect(after.map(({ eventId }) => eventId).toSorted()).toEqual(eventsOf(before).toSorted())
  const alertOf = new Map(before.map(({ eventId, alertId }) => [eventId, alertId]))
  expect(after.filter(({ eventId, data }) => alertOf.get(eventId) !== data.alertId)).toEqual([])
  expect([...underWay].filter((id) => !alertOf.has(id))).toEqual([])
})

test('killed again and again while alerts come and go, none is lost and none doubled', async () => {
  await using service = await started()
  const { id } = await RuledStream.make(service.api, tooHot)
  const readings = 48
  const kills = 6
  for (let next = 0; next < readings; next++) {
    if (next % (readings / kills) === 5) {
      const cut = send(service, id, next).catch(() => undefined)
      // At another place of what follows from it each time.
      for (let turn = 0; turn < next * 3; turn++) await nextTurn()
      await service.kill()
      await cut
      await service.restart()
    }
    // Sent once more after a kill, it may have come before: it moves nothing then.
    await send(service, id, next)
  }

  await service.api.settled(id, readings)
  await service.until('all are over', async () => (await steps(service, id)).length === readings)
  await ended(service, readings)
  const all = await steps(service, id)
  const each = Object.values(Object.groupBy(all, ({ alertId }) => alertId)).map((ofAlert) =>
    ofAlert?.map(({ cause, from, to }) => `${cause}: ${from} ${to}`),
  )
  const life = ['reading: ok firing', 'reading: firing cleared']
  expect(each).toEqual(Array.from({ length: readings / 2 }, () => life))
  expect([...eventsTold()].toSorted()).toEqual(eventsOf(all).toSorted())
  expect(new Set(eventsOf(all)).size).toBe(readings)
  const delivered = new Map(told().map(({ eventId, data }) => [eventId, data.sequence]))
  const sequences = [...delivered.values()].toSorted((first, second) => first - second)
  expect(sequences).toEqual(Array.from({ length: readings }, (_, index) => index + 1))
  // What the history tells one after the other has one number after the other.
  const inOrder = all.toSorted((first, second) => first.at.localeCompare(second.at))
  expect(eventsOf(inOrder).map((eventId) => delivered.get(eventId))).toEqual(sequences)
})

test('a mute that ends while nothing runs has its alert told at the start, once', async () => {
  await using service = await started()
  const { id } = await RuledStream.make(service.api, tooHot)
  await send(service, id, 0)
  const stream = new RuledStream(service.api, id)
  const muteUntil = async (untilMs: number) => {
    const muted = await stream.act('mute', { until: new Date(untilMs).toISOString() })
    expect(muted.status).toBe(200)
  }
  await muteUntil(Date.now() + 3_600_000)
  // The one that was told ends; the next one begins untold, and goes on.
  await send(service, id, 1)
  await send(service, id, 2)
  await receiver.requests(2)
  await ended(service, 2)
  // Only the kill has to come before the end of it.
  const untilMs = Date.now() + 10_000
  await muteUntil(untilMs)
  await service.kill()
  await sleep(Math.max(0, untilMs - Date.now()))

  await service.restart()

  await receiver.requests(3)
  await ended(service, 3)
  const [newest] = await new RuledStream(service.api, id).alerts()
  expect(newest).toMatchObject({ state: 'firing', mutedUntil: null })
  expect(
    told().map(({ eventType, data }) => [eventType, data.alertId === newest?.alertId]),
  ).toEqual([
    ['stream.alert_triggered', false],
    ['stream.alert_cleared', false],
    ['stream.alert_triggered', true],
  ])
})

/** Every other reading is too hot; they are an hour apart, so that nothing flaps. */
async function send({ api }: FaultyService, streamId: string, number: number): Promise<void> {
  const timestamp = new Date(Date.UTC(2026, 0, 1, number)).toISOString()
  const reading = { timestamp, temperature: number % 2 === 0 ? 90 : 20 }
  const { status } = await api.withToken('POST', `/streams/${streamId}/data`, reading)
  expect(status).toBe(202)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
