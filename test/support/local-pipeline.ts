import { decoderOf } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { mapperOf } from '../../processors/mapping/mapper.ts'
import type { RawMessage, Settled } from '../../src/contracts/connector.ts'
import type { ItemsLevel } from '../../src/contracts/mapping.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { FieldMap, PayloadFormat, ValidationMode } from '../../src/contracts/stream-schema.ts'
import type { TransformStep } from '../../src/contracts/transform-step.ts'
import { ReceiptClock, systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import type { Consumer } from '../../src/ingest/pipeline/consumer.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import { Intake } from '../../src/ingest/pipeline/intake.ts'
import { Shipper } from '../../src/ingest/pipeline/shipper.ts'
import {
  everything,
  type HeldReading,
  QuarantineStore,
} from '../../src/ingest/quarantine/quarantine-store.ts'
import { Reviews } from '../../src/ingest/quarantine/reviews.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { SqliteJournalFile, SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { DecidedCounts } from '../../src/streams/data-streams/data-stream-store.ts'
import { countersOf } from '../../src/streams/data-streams/stream-status.ts'
import { TemporaryFolder } from './temporary-folder.ts'

export interface LocalVersion {
  readonly fields: FieldMap
  readonly validation?: ValidationMode
  readonly format?: PayloadFormat
  readonly items?: readonly ItemsLevel[]
  readonly transform?: readonly TransformStep[]
  readonly isPaused?: boolean
  readonly distinguishesSenders?: boolean
  /** How long the windows are, in each of which one is kept, where what is unchanged is dropped. */
  readonly keptEveryUs?: number
}

/** What one process opens of a data folder. */
async function openParts(folder: TemporaryFolder, pipeline: LocalPipeline) {
  const state = await openStateForWriting(folder.file('state.db'))
  const file = new SqliteJournalFile(folder.file('journal.db'), 1024 ** 3)
  const reader = new SqliteJournalReader(folder.file('journal.db'))
  const store = await DuckDbStore.open(folder.file('time-series.duckdb'), systemClock)
  const journal: Journal = {
    append: async (bytes, count) => file.append(bytes, count),
    trim: async () => {},
    status: async () => file.status(),
  }
  const commits = new GroupCommit(journal)
  const loadVersion = async (_: string, version: number) => {
    const { fields, keptEveryUs } = pipeline.versionOf(version)
    return { shape: shapeOf(fields), keptEveryUs }
  }
  const onDiscard = (streamId: string) => pipeline.notices.push(streamId)
  const decisions = new StateDecisionStore({ state, onDiscard })
  const quarantine = new QuarantineStore(state)
  return {
    state,
    store,
    reader,
    commits,
    quarantine,
    intake: new Intake({ commits, receipts: new ReceiptClock(systemClock) }),
    decider: await Decider.open(decisions),
    shipper: new Shipper({ store, loadVersion }),
    reviews: new Reviews({
      quarantine,
      commits,
      directory: { find: async () => pipeline.stream() },
      processing: { caughtUp: () => pipeline.caughtUp() },
      clock: systemClock,
    }),
    async close() {
      reader.close()
      file.close()
      await store.close()
      await state.destroy()
    },
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>

/**
 * The way of a reading of one stream, made of the real parts, without threads: its consumers move when
 * they are told to, and it can be stopped between any two steps.
 */
export class LocalPipeline implements AsyncDisposable {
  readonly streamId = newId<StreamId>()
  readonly #ownerId = newId<UserId>()
  readonly #folder = new TemporaryFolder()
  readonly #versions: LocalVersion[]
  #parts: Parts | undefined
  /** Streams whose quarantine began to discard, as often as that was told. */
  readonly notices: string[] = []
  /** Times that the decider may be waited for before it is stuck. */
  decisionsLeft = Number.POSITIVE_INFINITY

  static async open(first: LocalVersion): Promise<LocalPipeline> {
    const pipeline = new LocalPipeline(first)
    pipeline.#parts = await openParts(pipeline.#folder, pipeline)
    return pipeline
  }

  private constructor(first: LocalVersion) {
    this.#versions = [first]
  }

  get parts(): Parts {
    if (!this.#parts) throw new Error('the pipeline is not open')
    return this.#parts
  }

  versionOf(version: number): LocalVersion {
    const found = this.#versions[version - 1]
    if (!found) throw new Error(`there is no version ${version}`)
    return found
  }

  /** As a PUT of the definition does. */
  change(next: LocalVersion): void {
    this.#versions.push(next)
  }

  stream(): CompiledStream {
    const version = this.#versions.length
    const {
      fields,
      validation = 'lenient',
      format = 'json',
      items,
      transform = [],
      isPaused = false,
      distinguishesSenders = false,
    } = this.versionOf(version)
    const timestamps = { timestampField: 'timestamp', timestampFormat: 'rfc3339' } as const
    const schema = { fields, validation, ...timestamps, ...(items && { items }) }
    const map = mapperOf(schema)
    const decode = decoderOf(format, { schema })
    const judge = judgeOf(schema, transform)
    const compiled = { decode, judge, map, scan: undefined, isPaused, distinguishesSenders }
    return { streamId: this.streamId, ownerId: this.#ownerId, version, schema, format, ...compiled }
  }

  /** Takes a message as MQTT would; resolves when it is on disk. */
  async push(payload: Uint8Array, receivedAtUs?: number): Promise<void> {
    await this.#take({ payload, ...(receivedAtUs !== undefined && { receivedAtUs }) })
  }

  /** Pushes a message on a topic; without one as HTTP would. */
  async publish(topic: string | undefined, payload: Uint8Array): Promise<void> {
    await this.#take({ payload, ...(topic !== undefined && { topic }) })
  }

  async #take(message: Pick<RawMessage, 'payload' | 'topic' | 'receivedAtUs'>): Promise<void> {
    const received = { stream: this.stream(), source: 'mqtt gateway', ...message }
    await settled((done) => this.parts.intake.accept(received, done))
  }

  /** Writes entries of a test's own. */
  async write(entries: (writer: EntryWriter) => void): Promise<void> {
    await settled((done) => this.parts.commits.add(entries, done))
  }

  async caughtUp(): Promise<boolean> {
    if (this.decisionsLeft <= 0) return false
    this.decisionsLeft--
    await this.decide()
    return true
  }

  async decide(): Promise<void> {
    await this.#follow(this.parts.decider)
  }

  async ship(): Promise<void> {
    await this.#follow(this.parts.shipper)
  }

  async held(): Promise<readonly HeldReading[]> {
    const limits = { entries: 100_000, payloadBytes: 1024 ** 3 }
    const page = await this.parts.quarantine.page(this.streamId, everything, { after: -1, limits })
    return page.entries
  }

  async stored() {
    const query = {
      streamId: this.streamId,
      startUs: 0,
      endUs: 253_402_300_800_000_000,
      fields: [],
      limit: 10_000,
      bytesMax: 1024 ** 3,
      after: undefined,
      aggregation: 'raw',
    } as const
    return (await this.parts.store.query(query)).points
  }

  /** What the status of the stream would show now. */
  async counters() {
    return countersOf(await this.#decided(), this.parts.store.counts(this.streamId))
  }

  /** What the decider and the store have received, each by its own count. */
  async receivedByBoth(): Promise<readonly [number, number]> {
    const { received } = await this.#decided()
    return [received, this.parts.store.counts(this.streamId).received]
  }

  async restart(): Promise<void> {
    await this.parts.close()
    this.decisionsLeft = Number.POSITIVE_INFINITY
    this.#parts = await openParts(this.#folder, this)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.close()
    this.#folder[Symbol.dispose]()
  }

  /** What the limit of the quarantine is measured by. */
  async quarantineBytes(): Promise<number | undefined> {
    const counters = this.parts.state.selectFrom('stream_counters').select('quarantine_bytes')
    return (await counters.executeTakeFirst())?.quarantine_bytes
  }

  /** When the newest reading was received, and how many on that day. */
  async receipts() {
    await this.decide()
    return await this.parts.state
      .selectFrom('stream_counters')
      .select(['last_received_at', 'day', 'received_on_day'])
      .execute()
  }

  async #decided(): Promise<DecidedCounts> {
    const row = await this.parts.state.selectFrom('stream_counters').selectAll().executeTakeFirst()
    const { received = 0, accepted = 0, filtered = 0, quarantined = 0, discarded = 0 } = row ?? {}
    const times = { lastReceivedAtUs: 0, day: 0, receivedOnDay: 0 }
    return { received, accepted, filtered, quarantined, discarded, ...times }
  }

  async #follow(consumer: Consumer): Promise<void> {
    const { reader } = this.parts
    while (consumer.position() < reader.nextOffset()) {
      await consumer.handle(reader.read(consumer.position(), 1_000))
    }
  }
}

/** Resolves when what is handed in is on disk. @throws DomainError when it is not */
async function settled(handIn: (done: Settled) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  handIn((error) => (error ? reject(error) : resolve()))
  await promise
}
