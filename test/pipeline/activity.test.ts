import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { Activity } from '../../src/ingest/activity/activity.ts'
import { type ActivityKind, activities } from '../../src/ingest/activity/owner-activity.ts'
import { HandClock } from '../support/hand-clock.ts'

const usPerMinute = 60_000_000
const owners = [newId<UserId>(), newId<UserId>()] as const
const streams = Array.from({ length: 4 }, () => newId<StreamId>())
const unknownStream = newId<StreamId>()

/** Streams by turns of one owner and of the other. */
function ownerOf(stream: StreamId): UserId {
  return owners[streams.indexOf(stream) % 2] as UserId
}

interface Event {
  readonly stream: StreamId
  readonly kind: ActivityKind
  readonly atUs: number
  readonly count: number
}

/** Clocks of which one is ahead of the other by no whole minutes. */
function setClock(): HandClock {
  const clock = new HandClock()
  clock.step(7 * usPerMinute + 12_345_678)
  return clock
}

/** Activity that is counted, beside a list of all that has happened. */
class Counted {
  readonly clock = setClock()
  readonly failures: unknown[] = []
  readonly #stored = new Map<string, number>()
  readonly #events: Event[] = []
  readonly #startUs = this.clock.steadyUs()
  readonly #aheadUs = this.clock.nowUs() - this.clock.steadyUs()
  ownersOf = async (ids: readonly string[]) =>
    new Map(
      streams.flatMap((one) => (ids.includes(one) ? [[one as string, ownerOf(one)] as const] : [])),
    )
  readonly activity = new Activity(
    {
      clock: this.clock,
      ownersOf: (ids) => this.ownersOf(ids),
      storedOf: (id) => this.#stored.get(id) ?? 7,
      onFailure: (error) => this.failures.push(error),
    },
    this.clock.monotonicMs,
  )

  async receive(stream: StreamId, received: number, { ageUs = 0, refused = 0 } = {}) {
    const lastReceivedAtUs = this.clock.nowUs() - ageUs
    const quarantine = [
      ...Array.from({ length: refused }, () => ({ kind: 'refused' })),
      { kind: 'redriven' },
    ]
    await this.activity.noteDecided([{ streamId: stream, received, lastReceivedAtUs, quarantine }])
    const atUs = Math.min(this.clock.steadyUs() - ageUs, this.clock.steadyUs())
    if (atUs < this.#startUs || received === 0) return
    this.#events.push({ stream, kind: 'received', atUs, count: received })
    this.#events.push({ stream, kind: 'quarantined', atUs, count: refused })
  }

  async store(stream: StreamId, count: number) {
    await this.activity.meet([stream])
    this.#stored.set(stream, (this.#stored.get(stream) ?? 7) + count)
    this.activity.noteStored([stream])
    this.#events.push({ stream, kind: 'stored', atUs: this.clock.steadyUs(), count })
  }

  /** A curve as the list has it. */
  curve(length: number, minutes: number, isMeant: (event: Event) => boolean) {
    const slotOf = (us: number) => Math.floor((us + this.#aheadUs) / (minutes * usPerMinute))
    const first = slotOf(this.clock.steadyUs()) - length + 1
    return Array.from({ length }, (_, index) => {
      if (first + index < slotOf(this.#startUs)) return null
      return this.#events
        .filter((event) => isMeant(event) && slotOf(event.atUs) === first + index)
        .reduce((sum, { count }) => sum + count, 0)
    })
  }
}

const stream = fc.constantFrom(...streams)
const count = fc.integer({ min: 0, max: 30_000 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ stream, received: count, refused: fc.nat(3) }) },
  fc.record({ stream, received: count, ageUs: fc.nat(200 * usPerMinute) }),
  { weight: 2, arbitrary: fc.record({ stream, stored: count }) },
  { weight: 3, arbitrary: fc.record({ passUs: fc.nat(7 * usPerMinute) }) },
  { weight: 3, arbitrary: fc.record({ passUs: fc.nat(40 * usPerMinute) }) },
  fc.record({ passUs: fc.nat(200 * usPerMinute) }),
  fc.record({ stepUs: fc.integer({ min: -3_000 * usPerMinute, max: 3_000 * usPerMinute }) }),
)

describe('activity', () => {
  test('has in each slot what was counted in it, whatever is done to the wall clock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const counted = new Counted()
        for (const one of steps) {
          if ('received' in one) await counted.receive(one.stream, one.received, one)
          else if ('stored' in one) await counted.store(one.stream, one.stored)
          else if ('passUs' in one) counted.clock.atUs += one.passUs
          else counted.clock.step(one.stepUs)
          expectAll(counted)
        }
        expect(counted.failures).toEqual([])
      }),
    )
  })

  test('begins its first minute on a minute of the wall clock, and says since when it counts', () => {
    const { activity, clock } = new Counted()
    const { startUs, sinceUs } = activity.ofOwner(owners[0])

    expect(startUs).toBe(Math.floor(clock.nowUs() / usPerMinute) * usPerMinute - 59 * usPerMinute)
    expect(sinceUs).toBe(clock.nowUs())
  })

  test('tells how much comes a second, which fades when nothing does', async () => {
    const counted = new Counted()
    for (let second = 0; second < 600; second++) {
      counted.clock.atUs += 1_000_000
      await counted.receive(streams[0] as StreamId, 3)
    }
    const rateNow = () =>
      counted.activity.of([streams[0] as StreamId]).get(streams[0] as StreamId)?.receivedPerSecond

    expect(rateNow()).toBeCloseTo(3, 1)
    expect(counted.activity.ofOwner(owners[0]).perSecond.received).toBeCloseTo(3, 1)
    counted.clock.atUs += 10 * usPerMinute
    expect(rateNow()).toBeLessThan(0.001)
    expect(counted.activity.ofOwner(owners[0]).perSecond.received).toBeLessThan(0.001)
  })

  test('does not take what waited for an hour for what comes now', async () => {
    const counted = new Counted()
    counted.clock.atUs += 90 * usPerMinute
    await counted.receive(streams[0] as StreamId, 10_000, { ageUs: 60 * usPerMinute })

    expect(counted.activity.ofOwner(owners[0]).perSecond.received).toBeLessThan(0.001)
  })

  test('keeps large counts to within two in a hundred', async () => {
    const size = fc.integer({ min: 0, max: 30_000_000 })
    await fc.assert(
      fc.asyncProperty(size, async (received) => {
        const counted = new Counted()
        await counted.receive(streams[0] as StreamId, received)
        counted.clock.atUs += 5 * usPerMinute
        const spark = counted.activity.of(streams).get(streams[0] as StreamId)?.spark ?? []
        expect(Math.abs((spark.at(-2) ?? 0) - received)).toBeLessThanOrEqual(received * 0.02)
      }),
    )
  })

  test('names the streams of an owner that most comes of, the busiest first', async () => {
    const counted = new Counted()
    const [first, foreign, second] = streams as [StreamId, StreamId, StreamId]
    await counted.receive(first, 5)
    await counted.receive(foreign, 50)
    await counted.receive(second, 9)

    const { activity } = counted
    const busiest = activity.busiest(owners[0], 10)
    expect([...busiest.keys()]).toEqual([second, first])
    expect(busiest.get(first)).toBe(activity.of([first]).get(first)?.receivedPerSecond)
    expect([...activity.busiest(owners[0], 1).keys()]).toEqual([second])
    expect(activity.busiest(newId<UserId>(), 10).size).toBe(0)
  })

  test('forgets streams that are gone, and what has been counted of them stays with their owner', async () => {
    const counted = new Counted()
    await counted.receive(streams[0] as StreamId, 5)
    counted.activity.forgetStreams(streams)

    expect(counted.activity.size).toBe(0)
    expect(counted.activity.busiest(owners[0], 10).size).toBe(0)
    expect(counted.activity.ofOwner(owners[0]).perMinute.received.at(-1)).toBe(5)
  })

  test('forgets streams that have been silent for two hours, as soon as others are not', async () => {
    const counted = new Counted()
    await counted.receive(streams[0] as StreamId, 5)
    counted.clock.atUs += 130 * usPerMinute
    await counted.receive(streams[1] as StreamId, 5)

    expect(counted.activity.size).toBe(1)
    expect(counted.activity.owners).toBe(1)
  })

  test('takes nothing of a stream that is gone for that of another one', async () => {
    const counted = new Counted()
    const [gone, next] = streams as [StreamId, StreamId]
    await counted.receive(gone, 5)
    counted.clock.atUs += 15 * usPerMinute
    await counted.receive(gone, 6)
    counted.activity.forgetStreams([gone])
    await counted.receive(next, 7)

    const spark = counted.activity.of(streams).get(next)?.spark ?? []
    expect(spark.reduce((sum: number, one) => sum + (one ?? 0), 0)).toBe(7)
    expect(counted.activity.busiest(owners[0], 10).size).toBe(0)
  })

  test('counts nothing of a stream that nobody has', async () => {
    const counted = new Counted()
    await counted.receive(unknownStream, 5)

    expect(counted.activity.size).toBe(0)
  })

  test('counts again once it can find out whose streams are', async () => {
    const counted = new Counted()
    const { ownersOf } = counted
    counted.ownersOf = async () => {
      throw new Error('the disk is full')
    }
    const [one] = streams as [StreamId]
    await counted.receive(one, 5)
    counted.ownersOf = ownersOf
    await counted.receive(one, 6)

    expect(counted.failures).toHaveLength(1)
    expect(counted.activity.of([one]).get(one)?.spark.at(-1)).toBe(6)
  })
})

function expectAll(counted: Counted): void {
  for (const owner of owners) {
    const { perMinute } = counted.activity.ofOwner(owner)
    for (const kind of activities) {
      const isMeant = (event: Event) => event.kind === kind && ownerOf(event.stream) === owner
      expect(perMinute[kind]).toEqual(counted.curve(60, 1, isMeant))
    }
  }
  const paces = counted.activity.of(streams)
  for (const one of streams) {
    const isMeant = (event: Event) => event.kind === 'received' && event.stream === one
    const wanted = counted.curve(24, 5, isMeant)
    const spark = paces.get(one)?.spark ?? []
    // What was summed up beyond what is kept exactly is in the test of large counts.
    const isExact = wanted.every((sum) => (sum ?? 0) <= 0x7fff)
    if (isExact) expect(spark).toEqual(wanted)
  }
}
