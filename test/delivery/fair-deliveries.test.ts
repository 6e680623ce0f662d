import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalDeliveries } from '../support/local-deliveries.ts'
import { answering, type Received } from '../support/receiver.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
let local: LocalDeliveries

beforeEach(async () => {
  local = await LocalDeliveries.open(receiver)
})

afterEach(async () => {
  await local[Symbol.asyncDispose]()
  expect(local.failures).toEqual([])
})

const isFast = ({ path }: Received) => !path.endsWith('/slow')

describe('a receiver that hangs', () => {
  test('holds up nobody else', async () => {
    await local.webhook({ url: receiver.url })
    await local.webhook({ url: `${receiver.url}/slow` })
    receiver.behaviour = (response, { path }) => {
      if (!path.endsWith('/slow')) response.end()
    }
    for (let event = 0; event < 50; event++) await local.happens()
    await expect.poll(() => receiver.received.filter(isFast)).toHaveLength(50)
    // Its attempts have been under way all the time, or there was nothing to be held up by.
    expect(local.stats().active).toBeGreaterThanOrEqual(4)
  })

  test('is asked by one attempt at a time from then on', async () => {
    await local.webhook({ url: `${receiver.url}/slow` })
    let open = 0
    let most = 0
    const reset = Promise.withResolvers<void>()
    receiver.behaviour = (response, { path }) => {
      if (!path.endsWith('/slow')) {
        response.end()
        return
      }
      most = Math.max(most, ++open)
      response.on('close', () => open--)
      void reset.promise.then(() => response.socket?.resetAndDestroy())
    }
    for (let event = 0; event < 9; event++) await local.happens()
    // When this one has come, the other was given all that it gets.
    await local.webhook({ url: receiver.url })
    await local.happens()
    await receiver.requests(5)
    expect(most).toBe(4)
    most = 0
    reset.resolve()
    await local.settled()
    expect(most).toBe(1)
  })

  test('and a thousand others of its user leave room for the rest', async () => {
    const busy = await local.webhooksOfAnother(1_000, `${receiver.url}/slow`)
    await local.webhook({ url: receiver.url })
    receiver.behaviour = (response, { path }) => {
      if (!path.endsWith('/slow')) response.end()
    }
    for (let event = 0; event < 5; event++) await local.happens({ ownerId: busy })
    // A quarter of all attempts, and half of what is taken into memory.
    await expect.poll(() => local.stats()).toMatchObject({ active: 256, taken: 2_048 })

    for (let event = 0; event < 20; event++) await local.happens()

    await expect.poll(() => receiver.received.filter(isFast)).toHaveLength(20)
    await expect.poll(() => local.stats()).toMatchObject({ active: 256, taken: 2_048 })
  })

  test('gets the events of one resource one after the other, in their order', async () => {
    await local.webhook({ url: receiver.url, eventTypes: ['stream.alert_triggered'] })
    let open = 0
    let most = 0
    receiver.behaviour = (response) => {
      most = Math.max(most, ++open)
      setTimeout(() => {
        open--
        response.end()
      }, 1)
    }
    for (let event = 0; event < 20; event++) {
      // Alerts are told of however soon they follow each other
      // (decisions.md#repetitions-of-an-event).
      const about = { type: 'stream.alert_triggered', resourceType: 'stream' } as const
      await local.happens({ ...about, resourceId: 'boiler', data: { event } })
    }
    await local.settled()
    const order = receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { data: { event: number } }).data.event,
    )
    expect(order).toEqual(Array.from({ length: 20 }, (_, event) => event))
    expect(most).toBe(1)
  })
})

describe('a destination', () => {
  test('that may not be reached any more is not reached', async () => {
    const webhook = await local.webhook({ url: 'http://10.0.0.1/hook' })
    await local.happens()
    await local.settled()
    const [attempt] = await local.attempts()
    expect(attempt).toMatchObject({
      status_code: null,
      message: 'blocked: destination not allowed',
      delivered: 0,
    })
    expect((await local.deliveries())[0]).toMatchObject({ state: 'pending', phase: 'background' })
    expect((await local.read(webhook)).consecutiveFailures).toBe(1)
  })
})

describe('what is coalesced', () => {
  test('replaces what was not sent yet, and adds its count; what is under way stays', async () => {
    await local.webhook({ url: receiver.url, eventTypes: ['stream.data_received'] })
    const arrived = async (resourceId: string, count: number) =>
      await local.happens({ type: 'stream.data_received', resourceId, data: { count } })
    const waiting = Promise.withResolvers<() => void>()
    receiver.behaviour = (response) => waiting.resolve(() => response.end())
    await arrived('one', 1)
    const answer = await waiting.promise
    receiver.behaviour = answering(200)
    await arrived('one', 2)
    await arrived('one', 4)
    await arrived('one', 8)
    answer()
    await local.settled()
    const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()) as object)
    expect(bodies).toMatchObject([{ data: { count: 1 } }, { data: { count: 14 } }])
    const events = await local.tests.state.selectFrom('events').select('id').orderBy('at').execute()
    expect(bodies[1]).toMatchObject({ eventId: events.at(-1)?.id })
  })

  test('is kept apart by resource and webhook', async () => {
    const paused = await local.webhook({
      url: receiver.url,
      eventTypes: ['stream.data_received'],
      filters: { resourceStreamIds: ['two'] },
    })
    await local.webhook({ url: receiver.url, eventTypes: ['stream.data_received'] })
    for (const resourceId of ['one', 'two']) {
      await local.happens({ type: 'stream.data_received', resourceId, data: { count: 1 } })
    }
    await local.settled()
    const deliveries = await local.deliveries()
    expect(deliveries).toHaveLength(3)
    expect(deliveries.filter(({ receiver_id }) => receiver_id === paused.id)).toMatchObject([
      { resource_id: 'two' },
    ])
  })
})
