import type { StreamId } from '../../src/core/ids.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { everything, QuarantineStore } from '../../src/ingest/quarantine/quarantine-store.ts'
import { openStateForWriting, type StateDatabase } from '../../src/storage/state/database.ts'
import { type JournalledReading, written } from './journalled-readings.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A real state database with a decider on it, fed with real entries. */
export class DecidedState implements AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly state: StateDatabase
  readonly store: StateDecisionStore
  readonly discarding: string[] = []
  readonly #decider: Decider

  static async open(): Promise<DecidedState> {
    const folder = new TemporaryFolder()
    const state = await openStateForWriting(folder.file('state.db'))
    const discarding: string[] = []
    const onDiscard = (streamId: string) => discarding.push(streamId)
    const store = new StateDecisionStore({ state, onDiscard })
    return new DecidedState(folder, {
      state,
      store,
      discarding,
      decider: await Decider.open(store),
    })
  }

  private constructor(
    folder: TemporaryFolder,
    parts: Pick<DecidedState, 'state' | 'store' | 'discarding'> & { readonly decider: Decider },
  ) {
    this.#folder = folder
    this.state = parts.state
    this.store = parts.store
    this.discarding = parts.discarding
    this.#decider = parts.decider
  }

  async decide(entries: readonly JournalledReading[]): Promise<void> {
    await handle(this.#decider, entries)
  }

  async decideWritten(write: (writer: EntryWriter) => void): Promise<void> {
    const writer = new EntryWriter()
    write(writer)
    const { bytes, count } = writer.take()
    await this.#decider.handle([{ firstOffset: this.#decider.position(), count, bytes }])
  }

  async counters(streamId: StreamId) {
    return await this.state
      .selectFrom('stream_counters')
      .selectAll()
      .where('stream_id', '=', streamId)
      .executeTakeFirst()
  }

  async kept(streamId: StreamId) {
    const limits = { entries: 1_000_000, payloadBytes: 128 * 1024 * 1024 }
    const range = { after: -1, limits }
    return (await new QuarantineStore(this.state).page(streamId, everything, range)).entries
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state.destroy()
    this.#folder[Symbol.dispose]()
  }
}

/** Hands entries to a decider as the batch of the journal that comes next for it. */
export async function handle(
  decider: Decider,
  entries: readonly JournalledReading[],
): Promise<void> {
  const { bytes, count } = written(entries)
  await decider.handle([{ firstOffset: decider.position(), count, bytes }])
}
