import { describe, expect, test } from 'vitest'
import { LifecycleEvents, type PendingEvent } from '../../src/outbox/lifecycle/lifecycle-events.ts'
import { Relay, type RelayNeeds } from '../../src/outbox/relay/relay.ts'
import { TestState } from '../support/test-state.ts'

const hourMs = 3_600_000

type HandOver = RelayNeeds<PendingEvent>['handOver']

/** An outbox with a relay, which looks into it by itself only when the test says how often. */
class Subject implements AsyncDisposable {
  readonly tests: TestState
  readonly outbox: LifecycleEvents
  /** What came with each round, by the times of the rows. */
  readonly rounds: number[][] = []
  readonly failures: unknown[] = []
  #relay: Relay<PendingEvent> | undefined

  static async open(): Promise<Subject> {
    return new Subject(await TestState.open())
  }

  private constructor(tests: TestState) {
    this.tests = tests
    const clock = { nowUs: () => 0 }
    this.outbox = new LifecycleEvents({ state: tests.state, writer: tests, clock })
  }

  start(lookMs = hourMs, handOver: HandOver = async () => undefined): Relay<PendingEvent> {
    this.#relay = new Relay({
      outbox: this.outbox,
      handOver: async (rows) => {
        this.rounds.push(rows.map(({ atUs }) => atUs))
        await handOver(rows)
      },
      lookMs,
      onFailure: (error) => this.failures.push(error),
    })
    return this.#relay
  }

  async write(...times: readonly number[]): Promise<void> {
    const rows = times.map((at) => ({ stream_id: 's', at, reading: '{}' }))
    await this.tests.commit(this.tests.state.insertInto('lifecycle_events').values(rows))
  }

  async left(): Promise<readonly number[]> {
    return (await this.outbox.next(1_000)).map(({ atUs }) => atUs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay?.stop()
    await this.tests[Symbol.asyncDispose]()
  }
}

describe('a relay', () => {
  test('hands over all that waits, in its order, and takes it out', async () => {
    await using subject = await Subject.open()
    const times = Array.from({ length: 450 }, (_, index) => index)
    await subject.write(...times)

    subject.start()

    await expect.poll(() => subject.left()).toEqual([])
    expect(subject.rounds.map(({ length }) => length)).toEqual([200, 200, 50])
    expect(subject.rounds.flat()).toEqual(times)
  })

  test('comes when it is called', async () => {
    await using subject = await Subject.open()
    const relay = subject.start()

    await subject.write(1)
    relay.wake()
    await expect.poll(() => subject.left()).toEqual([])
    await subject.write(2)
    relay.wake()

    await expect.poll(() => subject.rounds).toEqual([[1], [2]])
  })

  test('comes when it was called while it was busy', async () => {
    await using subject = await Subject.open()
    await subject.write(1)
    const relay: Relay<PendingEvent> = subject.start(hourMs, async ([row]) => {
      if (row?.atUs !== 1) return
      await subject.write(2)
      relay.wake()
    })

    await expect.poll(() => subject.rounds).toEqual([[1], [2]])
  })

  test('looks by itself for what nobody has called for', async () => {
    await using subject = await Subject.open()
    subject.start(10)
    await subject.write(1)
    await expect.poll(() => subject.rounds).toEqual([[1]])
    await subject.write(2)

    await expect.poll(() => subject.rounds).toEqual([[1], [2]])
  })

  test('keeps what could not be handed over, and leaves it alone for a second', async () => {
    await using subject = await Subject.open()
    await subject.write(1, 2)
    const times: number[] = []
    const relay: Relay<PendingEvent> = subject.start(hourMs, async () => {
      times.push(performance.now())
      relay.wake()
      if (times.length > 1) return
      await subject.write(3)
      throw new Error('nobody is there')
    })

    await expect.poll(() => subject.left()).toEqual([])

    expect(subject.rounds).toEqual([
      [1, 2],
      [1, 2, 3],
    ])
    expect(subject.failures).toEqual([new Error('nobody is there')])
    const [first = 0, second = 0] = times
    expect(second - first).toBeGreaterThan(990)
  })

  test('ends what is under way before it stops', async () => {
    await using subject = await Subject.open()
    await subject.write(1)
    const arriving = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const relay = subject.start(hourMs, async () => {
      arriving.resolve()
      await arrived.promise
    })
    await arriving.promise

    const stopped = relay.stop()
    arrived.resolve()
    await stopped

    expect(await subject.left()).toEqual([])
  })
})
