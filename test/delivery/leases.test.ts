import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EndedAttempt } from '../../src/telling/delivery/desk.ts'
import type { Webhook } from '../../src/telling/webhooks/webhook.ts'
import { planResend } from '../../src/telling/webhooks/webhook-actions.ts'
import { LocalDeliveries } from '../support/local-deliveries.ts'
import { answering } from '../support/receiver.ts'
import { testReceiver } from '../support/test-receiver.ts'

const leaseUs = 90_000_000

const receiver = await testReceiver()
let local: LocalDeliveries
let webhook: Webhook

beforeEach(async () => {
  local = await LocalDeliveries.openWithoutEngine(receiver)
  webhook = await local.webhook({ url: receiver.url })
})

afterEach(async () => {
  await local[Symbol.asyncDispose]()
  expect(local.failures).toEqual([])
})

/** A process that asks the desk by itself, so that it can stop at any point. */
class Claimant {
  readonly #lease: string

  constructor(lease: string) {
    this.#lease = lease
  }

  /** Resolves with whether it was given the delivery. */
  async takes(id: string): Promise<boolean> {
    return (await this.#asks({ wanted: [id] })).includes(id)
  }

  async fails(id: string, change: Partial<EndedAttempt> = {}): Promise<void> {
    const inSomeTime = local.clock.atUs + 2_000_000
    const next = { state: 'pending', dueAtUs: inSomeTime, failures: 'same' } as const
    await this.#asks({ ended: [{ ...this.#ended(id, false), ...next, ...change }] })
  }

  async succeeds(id: string): Promise<void> {
    await this.#asks({ ended: [this.#ended(id, true)] })
  }

  async releases(id: string): Promise<void> {
    await this.#asks({ released: [id] })
  }

  async givesUp(id: string): Promise<void> {
    await this.#asks({ givenUp: [id] })
  }

  async #asks(request: object): Promise<readonly string[]> {
    const nowUs = local.clock.atUs
    const channel = 'webhook'
    const nothing = { channel, wanted: [], ended: [], released: [], givenUp: [] } as const
    const lease = { lease: this.#lease, nowUs, aheadUs: 0, leasedUntilUs: nowUs + leaseUs }
    return await local.desk.exchange({ ...nothing, ...lease, ...request })
  }

  #ended(deliveryId: string, delivered: boolean): EndedAttempt {
    return {
      deliveryId,
      receiverId: webhook.id,
      ownerId: webhook.ownerId,
      eventId: 'event',
      eventType: 'vault.created',
      attemptedAtUs: local.clock.atUs,
      endedAtUs: local.clock.atUs,
      endedUs: local.clock.steadyUs(),
      durationUs: 0,
      nextAttemptAtUs: undefined,
      statusCode: delivered ? 200 : 503,
      delivered,
      message: `of ${this.#lease}`,
      requestHeaders: '{}',
      responseExcerpt: '',
      state: 'delivered',
      phase: 'inline',
      dueAtUs: undefined,
      failures: 'reset',
    }
  }
}

const first = new Claimant('first')
const second = new Claimant('second')

/** What ends the attempts right after an event. */
const lastFailure = { state: 'failed', dueAtUs: undefined, failures: 'add' } as const

async function newDelivery(): Promise<string> {
  await local.happens()
  return (await delivery()).id
}

async function delivery() {
  const [one] = await local.deliveries()
  if (!one) throw new Error('there is no delivery')
  return one
}

/** A delivery that the first has taken, and the second after the lease was over. */
async function takenOver(): Promise<string> {
  const id = await newDelivery()
  await first.takes(id)
  local.clock.atUs += leaseUs
  expect(await second.takes(id)).toBe(true)
  return id
}

async function records() {
  const rows = await local.attempts()
  const { recordedAttempts } = await local.read(webhook)
  expect(rows).toHaveLength(recordedAttempts)
  return rows.map(({ attempt, message, delivered }) => [attempt, message, delivered])
}

describe('a delivery that a process has taken', () => {
  test('is given to no other until its lease is over', async () => {
    const id = await newDelivery()
    expect(await first.takes(id)).toBe(true)
    local.clock.atUs += leaseUs - 1
    expect(await second.takes(id)).toBe(false)
    local.clock.atUs += 1
    expect(await second.takes(id)).toBe(true)
    expect(await first.takes(id)).toBe(false)
  })

  test('goes to one of two that ask for it', async () => {
    const id = await newDelivery()
    expect(await Promise.all([first.takes(id), second.takes(id)])).toEqual([true, false])
  })

  test('can be had at once when it was given back', async () => {
    const id = await newDelivery()
    await first.takes(id)
    await first.releases(id)
    expect(await second.takes(id)).toBe(true)
  })
})

describe('who comes late, when another has taken over', () => {
  test('changes nothing with a failure, but for the record', async () => {
    const id = await takenOver()
    const before = await delivery()
    await first.fails(id, lastFailure)
    expect(await delivery()).toEqual({ ...before, attempts: 1, last_attempt_at: local.clock.atUs })
    expect((await local.read(webhook)).consecutiveFailures).toBe(0)

    await second.fails(id, lastFailure)
    expect(await delivery()).toMatchObject({ state: 'failed', due_at: null, lease: null })
    expect((await local.read(webhook)).consecutiveFailures).toBe(1)
    expect(await records()).toEqual([
      [1, 'of first', 0],
      [2, 'of second', 0],
    ])
  })

  test('has delivered it all the same, and the failure of the other is none', async () => {
    const id = await takenOver()
    await first.succeeds(id)
    expect(await delivery()).toMatchObject({ state: 'delivered', due_at: null, lease: null })

    await second.fails(id, lastFailure)
    expect(await delivery()).toMatchObject({ state: 'delivered', due_at: null, lease: null })
    expect((await local.read(webhook)).consecutiveFailures).toBe(0)
    expect(await records()).toEqual([
      [1, 'of first', 1],
      [2, 'of second', 0],
    ])
  })

  test('changes nothing once it is delivered', async () => {
    const id = await takenOver()
    await second.succeeds(id)
    await first.fails(id)
    expect(await delivery()).toMatchObject({ state: 'delivered', due_at: null, lease: null })
    expect(await records()).toEqual([
      [1, 'of second', 1],
      [2, 'of first', 0],
    ])
  })

  test('can neither give it back nor give it up', async () => {
    const id = await takenOver()
    const before = await delivery()
    await first.releases(id)
    await first.givesUp(id)
    expect(await delivery()).toEqual(before)
  })
})

describe('a delivery that is cancelled while somebody has it', () => {
  test.each([
    ['fails', (id: string) => first.fails(id)],
    ['is given up', (id: string) => first.givesUp(id)],
    ['is given back', (id: string) => first.releases(id)],
  ])('stays cancelled when it %s, and can be sent again then', async (_, end) => {
    const id = await newDelivery()
    await first.takes(id)
    await local.change(webhook, { status: 'PAUSED' })
    await local.change(webhook, { status: 'ACTIVE' })
    const again = () =>
      planResend(local.tests.state, webhook, { id, dueAtUs: local.clock.steadyUs() })
    expect(await local.tests.attempt(again())).toBe(false)

    await end(id)

    expect(await delivery()).toMatchObject({ state: 'cancelled', due_at: null, lease: null })
    expect(await local.tests.attempt(again())).toBe(true)
  })
})

describe('of two engines', () => {
  test('one delivers what the other is stuck with, whose late failure counts for nothing', async () => {
    const [stuck, other] = [local.engine(), local.engine()]
    const held = Promise.withResolvers<() => void>()
    receiver.behaviour = (response) => held.resolve(() => response.writeHead(503).end())
    stuck.start()
    await local.happens()
    const answer = await held.promise
    receiver.behaviour = answering(200)

    other.start()
    local.clock.atUs += leaseUs
    other.wake()
    await receiver.requests(2)
    await expect.poll(async () => (await delivery()).state).toBe('delivered')
    answer()
    await expect.poll(async () => (await delivery()).attempts).toBe(2)

    expect(await delivery()).toMatchObject({ state: 'delivered', due_at: null, lease: null })
    expect((await local.read(webhook)).consecutiveFailures).toBe(0)
    expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body)
    expect((await records()).map(([attempt, message]) => [attempt, message])).toEqual(
      expect.arrayContaining([
        [1, 'answered 200'],
        [2, 'answered 503'],
      ]),
    )
    local.desk.announce('webhook', ['the end'])
    await Promise.all([stuck.stop(), other.stop()])
  })
})
