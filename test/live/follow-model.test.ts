import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { Shipper } from '../../src/ingest/pipeline/shipper.ts'
import { JournalTails } from '../../src/reading/live/journal-tails.ts'
import { NotingJournal } from '../../src/reading/live/noting-journal.ts'
import { decodePosition, encodePosition, type Position } from '../../src/reading/live/position.ts'
import { StreamNews } from '../../src/reading/live/stream-news.ts'
import { follow, type TailEvent, type TailStep } from '../../src/reading/live/tail.ts'
import { SqliteJournalFile, SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { beforeAll } from '../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { hourUs, marchUs } from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { type Outcome, UnsettledJournal } from '../support/unsettled-journal.ts'

/**
 * Journal, shipper, store and trimming as they are, moved by hand in any order, and somebody who
 * follows one stream from its beginning, breaks off anywhere and goes on.
 */
class World {
  readonly streamId = newId<StreamId>()
  readonly accepted: number[] = []
  readonly received: number[] = []
  readonly #parts: Parts
  readonly #pageLimit: number
  #position: Position = { kind: 'history', offset: undefined, after: beforeAll }
  #steps: AsyncGenerator<TailStep> | undefined
  /** What of the last step was not looked at yet. */
  #waiting: TailEvent[] = []
  #stepPosition: string | undefined

  constructor(parts: Parts, pageLimit: number) {
    this.#parts = parts
    this.#pageLimit = pageLimit
  }

  /** Readings of the stream, between those of another one: the journal has them, its writer may not know yet. */
  async arrive(times: readonly number[], outcome: Outcome): Promise<void> {
    const writer = new EntryWriter()
    const other = newId<StreamId>()
    write(writer, other, { timestampUs: marchUs, number: -1 })
    for (const timestampUs of times) {
      const number = this.accepted.length
      this.accepted.push(number)
      write(writer, this.streamId, { timestampUs, number })
      write(writer, other, { timestampUs, number: -1 })
    }
    const { bytes, count } = writer.take()
    const { unsettled, noting } = this.#parts
    await unsettled.settle()
    unsettled.outcome = outcome
    const settled = noting.append(bytes, count).catch(() => undefined)
    if (outcome !== 'later') await settled
  }

  async ship(entries: number): Promise<void> {
    const { reader, shipper } = this.#parts
    const batches = reader.read(shipper.position(), entries)
    if (batches.length > 0) await shipper.handle(batches)
  }

  /** Never beyond what the follower still needs: that is another test. */
  trim(): void {
    const { journal, shipper } = this.#parts
    const step = this.#stepPosition === undefined ? undefined : decoded(this.#stepPosition).offset
    const needed = this.#position.offset ?? step ?? Number.POSITIVE_INFINITY
    journal.trim(Math.min(shipper.position(), needed))
  }

  /** Takes in some events, and asks for more when there are none. */
  async read(events: number): Promise<void> {
    if (this.#waiting.length === 0) {
      if (this.#stepPosition !== undefined) this.#position = decoded(this.#stepPosition)
      this.#steps ??= this.#follow()
      const { value } = (await this.#steps.next()) as IteratorYieldResult<TailStep>
      this.#waiting = [...value.events]
      this.#stepPosition = value.position
    }
    for (const { position, json } of this.#waiting.splice(0, events)) {
      this.#position = decoded(position)
      this.received.push((JSON.parse(json) as { number: number }).number)
    }
  }

  /** The connection breaks; it is opened again where the last event was. */
  breakOff(): void {
    this.#steps = undefined
    if (this.#waiting.length === 0 && this.#stepPosition !== undefined) {
      this.#position = decoded(this.#stepPosition)
    }
    this.#stepPosition = undefined
    this.#waiting = []
  }

  /** Reads on until nothing more comes out of the journal. */
  async drain(): Promise<void> {
    const { reader } = this.#parts
    await this.arrive([], 'kept')
    const isAtEnd = () =>
      this.#waiting.length === 0 &&
      this.#position.kind === 'live' &&
      this.#position.offset === reader.nextOffset()
    while (!isAtEnd()) await this.read(1_000)
  }

  #follow(): AsyncGenerator<TailStep> {
    const { tails: journal, store } = this.#parts
    const limit = this.#pageLimit
    return follow(
      { journal, history: (query) => store.history({ ...query, limit }) },
      { streamId: this.streamId, from: this.#position, withQuarantined: false },
    )
  }
}

interface Parts {
  readonly journal: SqliteJournalFile
  readonly reader: SqliteJournalReader
  readonly unsettled: UnsettledJournal
  /** What the readings go through, and who follows them asks. */
  readonly noting: NotingJournal
  readonly tails: JournalTails
  readonly store: DuckDbStore
  readonly shipper: Shipper
}

function decoded(text: string): Position {
  const position = decodePosition(text)
  if (position === undefined) throw new Error(`${text} is no position`)
  return position
}

let digests = 0

function write(
  writer: EntryWriter,
  streamId: StreamId,
  { timestampUs, number }: { readonly timestampUs: number; readonly number: number },
): void {
  const schema = { fields: {}, validation: 'lenient', timestampField: 't' } as const
  const stream = {
    streamId,
    ownerId: newId<UserId>(),
    version: 1,
    schema: { ...schema, timestampFormat: 'rfc3339' as const },
  }
  // Neither rising nor falling with the arrival.
  const digest = ((++digests * 2_654_435_761) % 2 ** 32).toString(16).padStart(16, '0')
  const reading = { values: `{"number":${number}}`, extra: '', flagged: [], digest }
  writer.accepted(stream, { accepted: true, timestampUs, ...reading }, timestampUs)
}

type Command =
  | { readonly kind: 'arrive'; readonly times: readonly number[]; readonly outcome: Outcome }
  | { readonly kind: 'ship'; readonly count: number }
  | { readonly kind: 'read'; readonly count: number }
  | { readonly kind: 'trim' }
  | { readonly kind: 'break' }

/** Few times, also before others that were seen, in two months. */
const timeUs = fc.integer({ min: -3, max: 3 }).map((hour) => marchUs + hour * hourUs)
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    times: fc.array(timeUs, { maxLength: 6 }),
    outcome: fc.constantFrom<Outcome[]>('kept', 'kept', 'later', 'refused'),
  }),
  fc.record({ kind: fc.constant('ship' as const), count: fc.integer({ min: 1, max: 12 }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      count: fc.integer({ min: 0, max: 4 }),
    }),
  },
  fc.record({ kind: fc.constant('trim' as const) }),
  fc.record({ kind: fc.constant('break' as const) }),
)

const onFailure = (error: unknown) => expect.unreachable(String(error))

test.for([
  ['at once', {}],
  ['later', { lookUpRowsMax: 0 }],
] as const)(
  'whoever follows a stream gets every accepted reading once, when late ones are looked up %s',
  async ([, options]) => {
    using folder = new TemporaryFolder()
    const path = folder.file('journal.db')
    const journal = new SqliteJournalFile(path, 1024 ** 3)
    const reader = new SqliteJournalReader(path)
    const store = await DuckDbStore.open(folder.file('time-series.duckdb'), systemClock, options)
    const shape = shapeOf({ number: { type: 'integer' } })
    const shipper = new Shipper({ store, loadVersion: async () => ({ shape }) })
    const unsettled = new UnsettledJournal(journal)
    const news = new StreamNews(reader.nextOffset(), { waitMs: 2, notedMax: 4 })
    const noting = new NotingJournal(unsettled, news)
    const tails = new JournalTails({ journalPath: path, news, onFailure })
    const parts = { journal, reader, unsettled, noting, tails, store, shipper }
    let behind = 0

    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        async (commands, pageLimit) => {
          const world = new World(parts, pageLimit)
          for (const one of commands) {
            if (one.kind === 'arrive') await world.arrive(one.times, one.outcome)
            else if (one.kind === 'ship') await world.ship(one.count)
            else if (one.kind === 'trim') world.trim()
            else if (one.kind === 'break') world.breakOff()
            else await world.read(one.count)
          }
          if (world.received.length < world.accepted.length) behind++
          await world.drain()

          expect(world.received.toSorted((a, b) => a - b)).toEqual(world.accepted)
        },
      ),
      { numRuns: 100 },
    )
    expect(behind).toBeGreaterThan(10)
    await tails.close()
    await store.close()
    reader.close()
    journal.close()
  },
)

test('a position reads back as it was written, and nothing else does', () => {
  const random = new SeededRandom(7)
  const after = { timestampUs: marchUs, digest: 2n ** 64n - 1n }
  const positions: Position[] = [
    { kind: 'live', offset: 0 },
    { kind: 'live', offset: 2 ** 49 },
    { kind: 'history', offset: undefined, after: beforeAll },
    { kind: 'history', offset: 12, after },
  ]
  for (const position of positions)
    expect(decodePosition(encodePosition(position))).toEqual(position)

  const foreign = ['', '0', '1 2', encodePosition({ kind: 'live', offset: 1 }) + '=']
  const long = Buffer.from(`1 1 1 ${2n ** 64n}`).toString('base64url')
  const noise = Array.from({ length: 200 }, () =>
    Buffer.from(Array.from({ length: 9 }, () => random.integer(0, 255))).toString('base64url'),
  )
  for (const text of [...foreign, long, ...noise]) expect(decodePosition(text)).toBeUndefined()
})
