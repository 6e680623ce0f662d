import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalDeliveries } from '../support/local-deliveries.ts'
import { answering, dripping, hanging, resetting } from '../support/receiver.ts'
import { testReceiver } from '../support/test-receiver.ts'

const second = 1_000_000
const minute = 60 * second
const hour = 60 * minute

const receiver = await testReceiver()
let local: LocalDeliveries

beforeEach(async () => {
  local = await LocalDeliveries.open(receiver)
})

afterEach(async () => {
  await local[Symbol.asyncDispose]()
  expect(local.failures).toEqual([])
})

/** Status codes and messages of all attempts, in their order. */
async function outcomes(): Promise<readonly unknown[]> {
  return (await local.attempts()).map(({ status_code, message }) => status_code ?? message)
}

describe('the bytes', () => {
  test('are the same at each attempt, with the time of the event', async () => {
    receiver.behaviour = answering(503)
    await local.webhook({ url: receiver.url, secret: 'a secret' })
    await local.happens({ resourceId: 'boiler' })
    await local.settled()
    await local.pass(2 * second)
    await local.pass(4 * second)
    expect(receiver.received.map(({ body }) => body.toString())).toEqual(
      Array.from(
        { length: 3 },
        () =>
          '{"event_type":"vault.created","timestamp":"2023-11-14T22:13:20.123457","data":{"id":"boiler","name":"boiler 7"}}',
      ),
    )
    const signatures = receiver.received.map(({ headers }) => headers['x-service-signature'])
    expect(new Set(signatures).size).toBe(1)
    expect(signatures[0]).toMatch(/^sha256=[0-9a-f]{64}$/)
  })
})

describe('the inline attempts', () => {
  test('are three, 2 s and 4 s after the end of the one before', async () => {
    receiver.behaviour = answering(500)
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    await local.pass(2 * second - 1)
    expect(receiver.received).toHaveLength(1)
    await local.pass(1)
    expect(receiver.received).toHaveLength(2)
    await local.pass(4 * second - 1)
    expect(receiver.received).toHaveLength(2)
    await local.pass(1)
    expect(receiver.received).toHaveLength(3)
    await local.pass(hour)
    expect(receiver.received).toHaveLength(3)
    const [first, next, last] = await local.attempts()
    expect(Number(first?.next_attempt_at) - Number(first?.attempted_at)).toBe(2 * second)
    expect(Number(next?.next_attempt_at) - Number(next?.attempted_at)).toBe(4 * second)
    expect(last?.next_attempt_at).toBeNull()
  })

  test.each([-24 * hour, -10 * 60 * second, 10 * 60 * second, 24 * hour])(
    'are as far apart when the wall clock is set by %s microseconds in between',
    async (stepUs) => {
      receiver.behaviour = answering(503)
      await local.webhook({ url: receiver.url })
      await local.happens()
      await local.settled()
      local.clock.step(stepUs)
      await local.pass(2 * second - 1)
      expect(receiver.received).toHaveLength(1)
      await local.pass(1)
      expect(receiver.received).toHaveLength(2)

      // What happens now is told at once, whatever the clock says.
      local.clock.step(-stepUs / 2)
      await local.happens()
      await local.settled()
      expect(receiver.received).toHaveLength(3)
      await local.pass(4 * second)
      expect(receiver.received).toHaveLength(5)
    },
  )

  test.each([200, 201, 204, 299])('end with a %i', async (status) => {
    receiver.behaviour = answering(status)
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    expect((await local.deliveries())[0]).toMatchObject({ state: 'delivered', due_at: null })
  })

  test.each([429, 500, 502, 503, 599])('go on after a %i', async (status) => {
    receiver.behaviour = answering(status, '', { 'retry-after': '1000' })
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    const [delivery] = await local.deliveries()
    expect(delivery).toMatchObject({ state: 'pending', phase: 'inline' })
    expect(delivery?.due_at).toBe(local.clock.atUs + 2 * second)
  })

  test.each([300, 301, 307, 400, 401, 404, 410, 422, 499])('stop at a %i', async (status) => {
    receiver.behaviour = answering(status, '', { location: `${receiver.url}/elsewhere` })
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    expect((await local.deliveries())[0]).toMatchObject({ state: 'pending', phase: 'background' })
    expect(receiver.received).toHaveLength(1)
  })

  test('go on when nobody answers, the body does not end, or the connection breaks', async () => {
    const webhook = await local.webhook({ url: receiver.url, timeoutMs: 150 })
    for (const behaviour of [hanging, dripping]) {
      receiver.behaviour = behaviour
      await local.happens()
      await local.settled()
    }
    // What breaks must not be taken for what is late, however slow we are.
    await local.change(webhook, { timeoutMs: 30_000 })
    receiver.behaviour = resetting
    await local.happens()
    await local.settled()
    await local.change(webhook, { url: 'http://nowhere.example.com/' })
    await local.happens()
    await local.settled()
    expect(await outcomes()).toEqual([
      'no complete answer within 0.15 s',
      'no complete answer within 0.15 s',
      expect.stringMatching(/closed|ECONNRESET|terminated/),
      'nowhere.example.com does not resolve',
    ])
    const deliveries = await local.deliveries()
    expect(deliveries.map(({ phase, state }) => `${phase} ${state}`)).toEqual(
      Array.from({ length: 4 }, () => 'inline pending'),
    )
  })

  test('are as many, and wait as long, as the webhook says', async () => {
    receiver.behaviour = answering(500)
    await local.webhook({ url: receiver.url, retryCount: 1, retryDelayMs: 10_000 })
    await local.happens()
    await local.settled()
    await local.pass(10 * second)
    await local.pass(hour)
    expect(receiver.received).toHaveLength(2)
    expect((await local.deliveries())[0]?.state).toBe('failed')
  })
})

describe('the background', () => {
  test('sends what a 404 has stopped once each pass, three times in all', async () => {
    receiver.behaviour = answering(404)
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    for (let pass = 0; pass < 5; pass++) await local.pass(5 * minute)
    expect(await outcomes()).toEqual([404, 404, 404])
    expect((await local.deliveries())[0]?.state).toBe('failed')
  })

  test('makes one attempt a pass, whatever that is answered', async () => {
    receiver.behaviour = answering(404)
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    receiver.behaviour = answering(503)
    await local.pass(5 * minute)
    await local.pass(10 * second)
    expect(await outcomes()).toEqual([404, 503])
    receiver.behaviour = answering(200)
    await local.pass(5 * minute)
    expect(await outcomes()).toEqual([404, 503, 200])
  })

  test('never sends what has failed three times', async () => {
    receiver.behaviour = answering(503)
    await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    await local.pass(2 * second)
    await local.pass(4 * second)
    receiver.behaviour = answering(200)
    await local.pass(hour)
    expect(receiver.received).toHaveLength(3)
  })

  test('gives up what was attempted more than 24 hours ago', async () => {
    receiver.behaviour = answering(404)
    const webhook = await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    receiver.behaviour = answering(200)
    await local.pass(24 * hour + minute)
    expect(receiver.received).toHaveLength(1)
    expect((await local.deliveries())[0]?.state).toBe('failed')
    expect((await local.read(webhook)).consecutiveFailures).toBe(1)
  })

  test.each(['PAUSED', 'DISABLED'] as const)('sends nothing of what is %s', async (status) => {
    receiver.behaviour = answering(404)
    const webhook = await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    await local.change(webhook, { status })
    await local.change(webhook, { status: 'ACTIVE' })
    await local.pass(hour)
    expect(receiver.received).toHaveLength(1)
    expect((await local.deliveries())[0]?.state).toBe('cancelled')
  })

  test('sends nothing of what was deleted', async () => {
    receiver.behaviour = answering(404)
    const webhook = await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    await local.tests.attempt(...local.webhooks.remove(webhook))
    await local.pass(hour)
    expect(receiver.received).toHaveLength(1)
  })
})

describe('failures', () => {
  test('are counted by delivery: once when the inline attempts have failed', async () => {
    receiver.behaviour = answering(503)
    const webhook = await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    expect((await local.read(webhook)).consecutiveFailures).toBe(0)
    await local.pass(2 * second)
    await local.pass(4 * second)
    expect((await local.read(webhook)).consecutiveFailures).toBe(1)
  })

  test('are not counted again for what is sent again, and are forgotten with a success', async () => {
    receiver.behaviour = answering(404)
    const webhook = await local.webhook({ url: receiver.url })
    await local.happens()
    await local.settled()
    await local.pass(5 * minute)
    expect((await local.read(webhook)).consecutiveFailures).toBe(1)
    receiver.behaviour = answering(200)
    await local.pass(5 * minute)
    expect(await local.read(webhook)).toMatchObject({
      consecutiveFailures: 0,
      lastDeliveryAtUs: local.clock.atUs,
    })
  })

  test('disable a webhook when there are ten in a row, with one notice', async () => {
    receiver.behaviour = answering(404)
    const webhook = await local.webhook({ url: receiver.url })
    for (let event = 0; event < 9; event++) {
      await local.happens()
      await local.settled()
    }
    expect((await local.read(webhook)).status).toBe('ACTIVE')
    await local.happens()
    await local.settled()
    await local.happens()
    await local.settled()
    expect(await local.read(webhook)).toMatchObject({ status: 'DISABLED', consecutiveFailures: 10 })
    expect(receiver.received).toHaveLength(10)
    await local.pass(hour)
    expect(receiver.received).toHaveLength(10)
    const notices = await local.tests.state
      .selectFrom('events')
      .select(['type', 'resource_id', 'fanned_out'])
      .where('type', '=', 'security.webhook_disabled')
      .execute()
    expect(notices).toEqual([
      { type: 'security.webhook_disabled', resource_id: webhook.id, fanned_out: 1 },
    ])
    const active = await local.change(webhook, { status: 'ACTIVE' })
    expect(active.consecutiveFailures).toBe(0)
    receiver.behaviour = answering(200)
    await local.happens()
    await local.settled()
    expect(receiver.received).toHaveLength(11)
  })

  test.each(['PAUSED', 'DISABLED'] as const)('while %s no delivery is made', async (status) => {
    const webhook = await local.webhook({ url: receiver.url, status })
    await local.happens()
    await local.settled()
    await local.change(webhook, { status: 'ACTIVE' })
    await local.pass(hour)
    expect(await local.deliveries()).toEqual([])
  })
})
