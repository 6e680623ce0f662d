import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AlertWatch } from '../../src/alerts/alert-watch.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { Decider, type DecisionStore } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { SealMarks } from '../../src/ingest/pipeline/seal-marks.ts'
import { marksIn, streamWithVersions } from '../support/sealed-streams.ts'
import { TestState } from '../support/test-state.ts'

const minuteUs = 60_000_000
const quarterUs = 15 * minuteUs
/** Midnight of a day in 2026. */
const dayUs = 1_767_225_600_000_000

type Kind = 'accepted' | 'imported' | 'redriven' | 'filtered' | 'quarantined' | 'cleared'

/** An entry of the journal about one of the streams. */
interface OneEntry {
  readonly stream: number
  readonly version: number
  readonly kind: Kind
  /** Minutes after midnight. */
  readonly minute: number
}

/** The versions of each stream: how they are sealed. */
const streams: readonly (readonly object[])[] = [
  [{ seal: '15m' }, { seal: '1h' }, {}],
  [{}, { seal: '15m', alertThresholds: { value: { max: 5 } } }, { seal: '15m' }],
  [{}, {}, {}],
]

let tests: TestState

beforeAll(async () => {
  tests = await TestState.open()
})

afterAll(async () => {
  await tests[Symbol.asyncDispose]()
})

/** Tables that what is decided leaves something in. */
const tables = ['data_streams', 'data_stream_versions', 'stream_counters', 'quarantine'] as const
const ofDecisions = ['alert_memories', 'consumer_positions', 'seal_marks'] as const

/** A decider over a journal of its own, whose process can be killed, and whose commits can fail. */
class Marking {
  readonly ids = streams.map(() => newId<StreamId>())
  readonly written: OneEntry[] = []
  #decider: Decider | undefined
  #marks = new SealMarks()
  #isFailing = false
  #atCommit: () => Promise<void> = async () => undefined

  readonly state = tests.state

  static async open(): Promise<Marking> {
    for (const table of [...tables, ...ofDecisions]) {
      await tests.state.deleteFrom(table).execute()
    }
    const marking = new Marking()
    for (const [index, versions] of streams.entries()) {
      await streamWithVersions(tests, marking.ids[index] as StreamId, versions)
    }
    await marking.restart()
    return marking
  }

  get marks(): SealMarks {
    return this.#marks
  }

  async restart(): Promise<void> {
    const { state } = this
    const clock = { nowUs: () => dayUs }
    const watches = new AlertWatch({ state, clock, notify: async () => () => undefined })
    const store = new StateDecisionStore({ state, onDiscard: () => undefined, alerts: watches })
    this.#marks = new SealMarks()
    const failing: DecisionStore = {
      position: () => store.position(),
      commit: async (decision) => {
        await this.#atCommit()
        if (this.#isFailing) throw new Error('no commit now')
        await store.commit(decision)
      },
    }
    this.#decider = await Decider.open(failing, { watches, marks: this.#marks })
  }

  /**
   * @param isFailing whether it takes two attempts
   * @param atCommit what happens between the decision and its commit
   */
  async decide(
    entries: readonly OneEntry[],
    isFailing = false,
    atCommit: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    this.#atCommit = atCommit
    const writer = new EntryWriter()
    for (const entry of entries) this.#write(writer, entry)
    const firstOffset = this.written.length
    const batch = { firstOffset, count: entries.length, bytes: writer.take().bytes }
    this.#isFailing = isFailing
    if (isFailing) await expect(this.#decider?.handle([batch])).rejects.toThrow('no commit now')
    this.#isFailing = false
    await this.#decider?.handle([batch])
    this.written.push(...entries)
  }

  #write(writer: EntryWriter, { stream, version, kind, minute }: OneEntry): void {
    const named = { streamId: this.ids[stream] as StreamId, version }
    const timestampUs = dayUs + minute * minuteUs
    const digest = '00'.repeat(8)
    const reading = { timestampUs, values: '{"value":1}', extra: '', flagged: [], digest }
    const receivedAtUs = dayUs
    const refusal = { reason: 'out_of_range', message: '', details: [] }
    const received = { atUs: receivedAtUs, source: 'http', payload: Buffer.from('{}') }
    const origin = { offset: 0, index: 1 }
    if (kind === 'accepted') writer.accepted(named, reading as never, receivedAtUs)
    if (kind === 'redriven') writer.accepted(named, reading as never, receivedAtUs, origin)
    if (kind === 'imported') writer.imported(named, reading as never, receivedAtUs)
    if (kind === 'filtered') writer.filtered(named, reading as never, receivedAtUs)
    if (kind === 'quarantined') writer.quarantined(named, refusal as never, received)
    if (kind === 'cleared') {
      writer.cleared(named, { startUs: 0, endUs: Number.MAX_SAFE_INTEGER }, receivedAtUs)
    }
  }

  /** What a person computes of the entries: for each stretch with a reading, the offset of its newest one. */
  expected(): ReadonlyMap<string, number> {
    const stretches = new Map<string, number>()
    const newest = streams.map(() => 0)
    for (const [offset, { stream, version, kind, minute }] of this.written.entries()) {
      newest[stream] = Math.max(newest[stream] ?? 0, version)
      const { seal } = (streams[stream]?.[(newest[stream] ?? 1) - 1] ?? {}) as { seal?: string }
      if (seal === undefined || !['accepted', 'imported', 'redriven'].includes(kind)) continue
      const widthUs = seal === '1h' ? 4 * quarterUs : quarterUs
      const startUs = Math.floor((dayUs + minute * minuteUs) / widthUs) * widthUs
      stretches.set(keyOf({ streamId: this.ids[stream] as string, startUs, widthUs }), offset)
    }
    return stretches
  }
}

function keyOf(mark: {
  readonly streamId: string
  readonly startUs: number
  readonly widthUs: number
}) {
  return `${mark.streamId} ${mark.startUs} ${mark.widthUs}`
}

const anyEntry: fc.Arbitrary<OneEntry> = fc.record({
  stream: fc.nat(streams.length - 1),
  version: fc.integer({ min: 1, max: 3 }),
  kind: fc.constantFrom<Kind>(
    'accepted',
    'accepted',
    'imported',
    'redriven',
    'filtered',
    'quarantined',
    'cleared',
  ),
  minute: fc.nat(80),
})

const anyRound = fc.record({
  entries: fc.array(anyEntry, { minLength: 1, maxLength: 8 }),
  isFailing: fc.boolean(),
  /** What happens after it. */
  after: fc.constantFrom('nothing', 'restart', 'look', 'look at commit', 'seal'),
})

/**
 * Versions only grow along a journal: the stream has one at a time. After a restart the first entry of a stream decides
 * which version the decider goes on with.
 */
function withGrowingVersions(rounds: readonly (readonly OneEntry[])[]) {
  const newest = streams.map(() => 1)
  return rounds.map((entries) =>
    entries.map((entry) => {
      const version = Math.max(entry.version, newest[entry.stream] ?? 1)
      newest[entry.stream] = version
      return { ...entry, version }
    }),
  )
}

describe('marks of stretches', () => {
  test('are those of all readings of streams with seals, in whatever rounds they are decided', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRound, { minLength: 1, maxLength: 8 }), async (rounds) => {
        const marking = await Marking.open()
        const versioned = withGrowingVersions(rounds.map(({ entries }) => entries))
        for (const [at, { isFailing, after }] of rounds.entries()) {
          await marking.decide(versioned[at] ?? [], isFailing)
          if (after === 'restart') await marking.restart()
        }

        const marks = await marksIn(marking.state)

        expect(marks.map(keyOf).toSorted()).toEqual([...marking.expected().keys()].toSorted())
      }),
      { numRuns: 60 },
    )
  })

  test('leave no reading out of both a seal and a mark, whenever stretches are sealed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRound, { minLength: 2, maxLength: 10 }), async (rounds) => {
        const marking = await Marking.open()
        const versioned = withGrowingVersions(rounds.map(({ entries }) => entries))
        /** Offset behind the entries that the seal of a stretch has at least. */
        const sealed = new Map<string, number>()
        let looked: Awaited<ReturnType<typeof marksIn>> = []
        let until = 0
        const look = async () => {
          looked = await marksIn(marking.state)
          marking.marks.forgetAll(looked)
          until = marking.marks.decidingUntil
        }
        for (const [at, { isFailing, after }] of rounds.entries()) {
          const atCommit = after === 'look at commit' ? look : undefined
          await marking.decide(versioned[at] ?? [], isFailing, atCommit)
          if (after === 'restart') await marking.restart()
          if (after === 'look') await look()
          if (after !== 'seal') continue
          for (const mark of looked) {
            await marking.state
              .deleteFrom('seal_marks')
              .where('stream_id', '=', mark.streamId)
              .where('start_us', '=', mark.startUs)
              .where('width_us', '=', mark.widthUs)
              .where('journal_offset', '=', mark.offset)
              .execute()
            sealed.set(keyOf(mark), until)
          }
          looked = []
        }

        const marked = new Set((await marksIn(marking.state)).map(keyOf))
        for (const [key, newest] of marking.expected()) {
          const isSealed = newest < (sealed.get(key) ?? 0)
          expect({ key, isThere: isSealed || marked.has(key) }).toEqual({ key, isThere: true })
        }
      }),
      { numRuns: 150 },
    )
  })

  test('cost no statement while a stretch has one, and none at all without seals', async () => {
    const marking = await Marking.open()
    const entry = { stream: 0, version: 1, kind: 'accepted', minute: 1 } as const
    await marking.decide([entry])
    await marking.decide([
      { ...entry, minute: 2 },
      { ...entry, stream: 2, minute: 30 },
    ])

    expect(marking.marks.written).toBe(1)
    expect(await marksIn(marking.state)).toMatchObject([
      { startUs: dayUs, widthUs: quarterUs, offset: 0, dueAtUs: dayUs + quarterUs },
    ])
  })

  test('stay due when they are while readings keep coming', async () => {
    const marking = await Marking.open()
    const entry = { stream: 0, version: 1, kind: 'accepted', minute: 1 } as const
    await marking.decide([entry])
    marking.marks.forgetAll(await marksIn(marking.state))
    await marking.decide([entry])

    expect(await marksIn(marking.state)).toMatchObject([{ offset: 1, dueAtUs: dayUs + quarterUs }])
  })

  test('are none of a stream that is gone', async () => {
    const marking = await Marking.open()
    const entry = { stream: 0, version: 1, kind: 'accepted', minute: 1 } as const
    await marking.decide([entry])
    await marking.state.deleteFrom('seal_marks').execute()
    await marking.state.deleteFrom('data_streams').execute()
    await marking.decide([{ ...entry, minute: 40 }])

    expect(await marksIn(marking.state)).toEqual([])
  })
})
