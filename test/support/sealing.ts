import type { KyselyPlugin } from 'kysely'
import { AlertWatch } from '../../src/alerts/alert-watch.ts'
import { AnchorProofs } from '../../src/anchors/proofs/anchor-proofs.ts'
import { compareText } from '../../src/core/canonical-json.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { SealStore } from '../../src/evidence/seals/seal-store.ts'
import { Sealer } from '../../src/evidence/seals/sealer.ts'
import type { Consumer } from '../../src/ingest/pipeline/consumer.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { SealMarks } from '../../src/ingest/pipeline/seal-marks.ts'
import { Shipper } from '../../src/ingest/pipeline/shipper.ts'
import { leafHash, rootOf } from '../../src/ledgers/merkle/merkle.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import type { JournalBatch } from '../../src/storage/journal/journal.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import type { OpenNewStore, OpenStore } from '../contracts/open-store.ts'
import { streamWithVersions } from './sealed-streams.ts'
import { TestState } from './test-state.ts'

const minuteUs = 60_000_000

/** A day that is over, in 2026. */
export const dayUs = 1_767_225_600_000_000

export type ReadingKind = 'accepted' | 'imported' | 'redriven'

/** What the service is told to have died by. */
class Killed extends Error {
  override readonly name = 'Killed'
}

interface Stretch {
  readonly startUs: number
  readonly endUs: number
}

/**
 * The way of the readings of one stream to its seals, made of the real parts without threads: they move when they are told to,
 * and the process can die at any statement and at any read.
 */
export class Sealing implements AsyncDisposable {
  readonly #tests: TestState
  readonly #opened: OpenStore
  readonly #batches: JournalBatch[] = []
  streamId = newId<StreamId>()
  #head = 0
  #parts: Awaited<ReturnType<Sealing['openParts']>> | undefined
  /** Statements and reads until the process dies. */
  #left = Number.POSITIVE_INFINITY
  nowUs = dayUs + 86_400_000_000
  /** Stretches that could not be sealed. */
  readonly putOff: unknown[] = []
  /** Statements and reads of the sealer. */
  asked = 0
  /** How often something was to be anchored. */
  anchorings = 0
  /** Done once, after the store is read next. */
  atRead: (() => Promise<void>) | undefined
  /** Fails reads of the store with this. */
  failure: Error | undefined

  static async open(openStore: OpenNewStore): Promise<Sealing> {
    const sealing = new Sealing(await TestState.open(), await openStore())
    return sealing
  }

  private constructor(tests: TestState, opened: OpenStore) {
    this.#tests = tests
    this.#opened = opened
  }

  get state() {
    return this.#tests.state
  }

  get store(): TimeSeriesStore {
    return this.#opened.store
  }

  get seals(): SealStore {
    return new SealStore(this.state, new AnchorProofs(this.state))
  }

  get sealer(): Sealer {
    return this.parts.sealer
  }

  get parts() {
    if (!this.#parts) throw new Error('no stream was made')
    return this.#parts
  }

  /** Begins with another stream. @param versions how each of its versions is processed */
  async newStream(versions: readonly object[] = [{ seal: '15m' }]): Promise<void> {
    this.streamId = newId<StreamId>()
    await streamWithVersions(this.#tests, this.streamId, versions)
    await this.restart()
  }

  /** Forgets all that is in memory. */
  async restart(): Promise<void> {
    this.#parts = await this.openParts()
  }

  async openParts() {
    const { state, store } = this
    const clock = { nowUs: () => this.nowUs, steadyUs: () => this.nowUs }
    const watches = new AlertWatch({ state, clock, notify: async () => () => undefined })
    const marks = new SealMarks()
    const decisions = new StateDecisionStore({ state, onDiscard: () => undefined, alerts: watches })
    const decider = await Decider.open(decisions, { watches, marks })
    const shape = shapeOf({ value: { type: 'number' } })
    const shipper = new Shipper({ store, loadVersion: async () => ({ shape }) })
    const sealer = new Sealer({
      state: state.withPlugin(this.#mortal()),
      store: this.#mortalStore(),
      clock,
      marks,
      progress: {
        storedUntilUs: (nowUs) => shipper.storedUntilUs(this.#head, nowUs),
        position: () => shipper.position(),
        isBehind: false,
      },
      graceUs: 0,
      ledger: { ledger: 'XRPL', network: 'sandbox' },
      onAnchors: () => this.anchorings++,
      onFailure: () => undefined,
      onPutOff: (_, error) => {
        if (error instanceof Killed) throw error
        this.putOff.push(error)
      },
    })
    return { decider, shipper, sealer }
  }

  /** Writes readings into the journal. @param minutes when they were measured, in minutes after midnight */
  receive(
    minutes: readonly number[],
    { kind = 'accepted', version = 1, value = 1 }: ReceivedAs = {},
  ): void {
    const writer = new EntryWriter()
    const named = { streamId: this.streamId, version }
    for (const minute of minutes) {
      const timestampUs = dayUs + minute * minuteUs
      const values = JSON.stringify({ value })
      const digest = leafHash(`${timestampUs} ${values}`).toString('hex', 0, 8)
      const what = { timestampUs, values, extra: '', flagged: [], digest }
      const reading = { accepted: true, ...what } as const
      if (kind === 'imported') writer.imported(named, reading, this.nowUs)
      else {
        const origin = kind === 'redriven' ? { offset: 0, index: 1 } : undefined
        writer.accepted(named, reading, this.nowUs, origin)
      }
    }
    this.#append(writer)
  }

  /** Writes a removal of all readings of some minutes into the journal. */
  remove(fromMinute: number, toMinute: number): void {
    const writer = new EntryWriter()
    const range = { startUs: dayUs + fromMinute * minuteUs, endUs: dayUs + toMinute * minuteUs }
    writer.cleared({ streamId: this.streamId, version: 1 }, range, this.nowUs)
    this.#append(writer)
  }

  async decide(): Promise<void> {
    await this.#follow(this.parts.decider)
  }

  async ship(): Promise<void> {
    await this.#follow(this.parts.shipper)
  }

  /** Has the sealer do a step. Resolves with whether it died before the end of it. */
  async step(statements = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#left = statements
    try {
      await this.sealer.step()
      return false
    } catch (error) {
      if (!(error instanceof Killed)) throw error
      return true
    } finally {
      this.#left = Number.POSITIVE_INFINITY
    }
  }

  /** Does all that there is to do. */
  async settle(): Promise<void> {
    await this.decide()
    await this.ship()
    while (await this.sealer.step());
  }

  /** The root over what is stored of a stretch, computed in the plainest way. */
  async rootNow({ startUs, endUs }: Stretch) {
    await this.store.placeLate?.()
    const { streamId } = this
    const page = { streamId, startUs, endUs, fields: [], limit: 10_000, bytesMax: 1e9 }
    const { points } = await this.store.query({ ...page, after: undefined })
    const leaves = points.map((point) => {
      return { timestampUs: point.timestampUs, text: readingText(streamId, point) }
    })
    leaves.sort((a, b) => a.timestampUs - b.timestampUs || compareText(a.text, b.text))
    const root = rootOf(leaves.map(({ text }) => leafHash(text))).toString('hex')
    return { count: leaves.length, root }
  }

  async list() {
    const all = { startUs: 0, endUs: Number.MAX_SAFE_INTEGER, after: undefined, limit: 10_000 }
    return await this.seals.list(this.streamId, all)
  }

  async waiting() {
    return await this.seals.waiting(this.streamId, { startUs: 0, endUs: Number.MAX_SAFE_INTEGER })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
    await this.#tests[Symbol.asyncDispose]()
  }

  #append(writer: EntryWriter): void {
    const { bytes, count } = writer.take()
    if (count === 0) return
    this.#batches.push({ firstOffset: this.#head, count, bytes })
    this.#head += count
  }

  async #follow(consumer: Consumer): Promise<void> {
    while (consumer.position() < this.#head) {
      const from = consumer.position()
      await consumer.handle(this.#batches.filter((one) => one.firstOffset + one.count > from))
    }
  }

  #count(): void {
    this.asked++
    if (--this.#left < 0) throw new Killed('the process is gone')
  }

  /** Dies before a statement. What a transaction has done by then is taken back, as SQLite does. */
  #mortal(): KyselyPlugin {
    return {
      transformQuery: ({ node }) => {
        this.#count()
        return node
      },
      transformResult: async ({ result }) => result,
    }
  }

  #mortalStore(): Pick<TimeSeriesStore, 'query' | 'placeLate'> {
    return {
      query: async (query) => {
        this.#count()
        if (this.failure) throw this.failure
        const page = await this.store.query(query)
        const { atRead } = this
        this.atRead = undefined
        await atRead?.()
        return page
      },
      placeLate: async (streamId) => await this.store.placeLate?.(streamId),
    }
  }
}

interface ReceivedAs {
  readonly kind?: ReadingKind
  readonly version?: number
  readonly value?: number
}
