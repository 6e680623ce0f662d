import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AlertTime } from '../../src/alerts/alert-time.ts'
import { DomainError } from '../../src/core/errors.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { kindAccepted, kindClock, kindDowntime } from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { HandClock } from '../support/hand-clock.ts'
import { acceptedReading } from '../support/written-entries.ts'

const secondUs = 1_000_000
const dayUs = 86_400 * secondUs

/** What a time of receipt may be ahead of the clock, without being a repetition. */
const bridgedUs = 1.1 * secondUs

/** A journal in memory, whose disk may be full. */
class MemoryJournal implements Journal {
  readonly batches: Uint8Array<ArrayBuffer>[] = []
  isFull = false

  async append(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    await turn()
    if (this.isFull) throw new DomainError('journal_full', 'no room', { retryAfter: 1 })
    this.batches.push(bytes)
    return 0
  }

  async trim(): Promise<void> {}

  status(): never {
    throw new Error('nobody asks')
  }
}

type Deed =
  | { readonly kind: 'pass' | 'step'; readonly us: number }
  | { readonly kind: 'send' | 'sendAgain' | 'refuse' | 'sendInTurns' | 'fill' | 'clear' }

const deeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), us: fc.nat({ max: 60 * secondUs }) }),
    fc.record({
      kind: fc.constant('step' as const),
      us: fc.oneof(
        fc.integer({ min: -dayUs, max: dayUs }),
        fc.integer({ min: -secondUs, max: secondUs }),
      ),
    }),
    ...(['send', 'sendAgain', 'refuse', 'sendInTurns', 'fill', 'clear'] as const).map((kind) =>
      fc.record({ kind: fc.constant(kind) }),
    ),
  ),
  { minLength: 1, maxLength: 40 },
)

/** When a message came, in steady time, at the earliest and at the latest that it may be taken for. */
interface Came {
  readonly fromUs: number
  untilUs: number
}

/** Sends to a service whose clock is set, and whose disk is full at times. */
class Sender {
  readonly clock = new HandClock()
  readonly journal = new MemoryJournal()
  readonly startUs = [this.clock.steadyUs(), this.clock.nowUs()] as const
  readonly came = new Map<number, Came>()
  /** What was known to be refused when a message was written. */
  readonly refusedBefore = new Map<number, readonly number[]>()
  readonly refusedUs: number[] = []
  readonly #commits = new GroupCommit(this.journal, this.clock)
  readonly #receipts: number[] = []
  readonly #inTurns: Promise<void>[] = []

  async do(deed: Deed): Promise<void> {
    if (deed.kind === 'pass') this.clock.atUs += deed.us
    else if (deed.kind === 'step') this.clock.step(deed.us)
    else if (deed.kind === 'send') this.#send(this.clock.nowUs())
    else if (deed.kind === 'sendAgain') this.#send(this.#receipts[0] ?? this.clock.nowUs())
    else if (deed.kind === 'sendInTurns') this.#inTurns.push(this.#sendInTurns())
    else if (deed.kind === 'refuse') {
      this.#commits.noteUnheard()
      this.refusedUs.push(this.clock.steadyUs())
    } else this.journal.isFull = deed.kind === 'fill'
    await turn()
  }

  async end(): Promise<void> {
    await Promise.all(this.#inTurns)
    await this.#commits.drain()
    this.journal.isFull = false
    this.#send(this.clock.nowUs())
    await this.#commits.drain()
  }

  /** What was received before now may be taken for what it was; nothing comes later than it did. */
  #send(receivedAtUs: number): Came {
    const { clock } = this
    const nowUs = clock.steadyUs()
    const ageUs = clock.nowUs() - receivedAtUs
    const came = { fromUs: nowUs - Math.max(0, ageUs), untilUs: nowUs }
    const id = this.came.size
    this.came.set(id, came)
    this.refusedBefore.set(id, [...this.refusedUs])
    this.#receipts.push(receivedAtUs)
    this.#commits.addReceived(receivedAtUs, entryOf(id, receivedAtUs), (error) => {
      if (error !== undefined) this.refusedUs.push(nowUs)
    })
    return came
  }

  /** Other entries may be written meanwhile, and stand before. */
  async #sendInTurns(): Promise<void> {
    const sent: Came[] = []
    const steps = Array.from({ length: 5 }, () => () => {
      sent.push(this.#send(this.clock.nowUs()))
    })
    await this.#commits.togetherInTurns(steps)
    for (const came of sent) came.untilUs = this.clock.steadyUs()
  }
}

const stream = { streamId: newId<StreamId>(), version: 1 }

function entryOf(id: number, receivedAtUs: number): (writer: EntryWriter) => void {
  const reading = acceptedReading({ timestampUs: receivedAtUs, values: `${id}` })
  return (writer) => writer.accepted(stream, reading, receivedAtUs)
}

/** Each message of the journal with the steady time it is taken to have come at, and what was a downtime before it. */
function* heard({ journal, startUs }: Sender) {
  const time = new AlertTime()
  time.set(...startUs)
  const downtimes: (readonly [number, number])[] = []
  for (const bytes of journal.batches) {
    const entry = new EntryReader(bytes)
    while (entry.next()) {
      const { kind, timestampUs, receivedAtUs } = entry
      const atUs = time.steadyUs(receivedAtUs)
      if (kind === kindClock) time.set(timestampUs, receivedAtUs)
      else if (kind === kindDowntime) downtimes.push([timestampUs, atUs])
      else if (kind === kindAccepted) yield { id: Number(entry.values), atUs, downtimes }
    }
  }
}

test('whatever is done to clock and disk, the journal says when each message came and when none could', async () => {
  await fc.assert(
    fc.asyncProperty(deeds, async (some) => {
      const sender = new Sender()
      for (const deed of some) await sender.do(deed)
      await sender.end()
      let last = -1
      for (const { id, atUs, downtimes } of heard(sender)) {
        const { fromUs, untilUs } = sender.came.get(id) ?? { fromUs: Number.NaN, untilUs: 0 }
        expect(atUs).toBeGreaterThanOrEqual(fromUs - bridgedUs)
        expect(atUs).toBeLessThanOrEqual(untilUs + bridgedUs)
        for (const refusedUs of sender.refusedBefore.get(id) ?? []) {
          const isCovered = downtimes.some(
            ([sinceUs, endUs]) => sinceUs <= refusedUs && refusedUs <= endUs + bridgedUs,
          )
          expect(isCovered, `a refusal at ${refusedUs} was no downtime`).toBe(true)
        }
        last = Math.max(last, id)
      }
      expect(last).toBe(sender.came.size - 1)
    }),
    { numRuns: 300 },
  )
})

test('a service that takes everything never says that nobody could be heard', async () => {
  const taken = deeds.map((some) => some.filter(({ kind }) => kind !== 'refuse' && kind !== 'fill'))
  await fc.assert(
    fc.asyncProperty(taken, async (some) => {
      const sender = new Sender()
      for (const deed of some) await sender.do(deed)
      await sender.end()
      for (const { downtimes } of heard(sender)) expect(downtimes).toEqual([])
    }),
    { numRuns: 50 },
  )
})
