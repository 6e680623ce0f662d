import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { ReceiptClock, systemClock } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { kindPosition } from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import { Intake } from '../../src/ingest/pipeline/intake.ts'
import { StreamDirectory } from '../../src/ingest/pipeline/stream-directory.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { SqliteJournalFile, SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { HandedIn } from '../../src/streams/sources/handed-in.ts'
import { LeftMessages } from '../../src/streams/sources/left-messages.ts'
import { SourcePositions } from '../../src/streams/sources/source-positions.ts'
import { SourceRunner } from '../../src/streams/sources/source-runner.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** There is nothing to be caught up with. */
async function start(): Promise<number> {
  return 0
}

/** When a process dies. */
interface Crash {
  /** Appends that come through before. */
  after: number
  /** Whether the append in which it dies gets to the disk. */
  readonly isWritten: boolean
  readonly reached: PromiseWithResolvers<void>
}

/** A journal whose disk can be made to stand still, or to be full for a while. */
class FaultyJournal implements Journal {
  readonly #file: SqliteJournalFile
  #held: PromiseWithResolvers<void> | undefined
  /** Appends that are still to fail, as they do on a full disk. */
  failuresLeft = 0
  #crash: Crash | undefined

  constructor(file: SqliteJournalFile) {
    this.#file = file
  }

  hold(): void {
    this.#held ??= Promise.withResolvers()
  }

  release(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  /** Lets the process die in one of the next appends; resolves when it is at it. Only `kill` may follow. */
  async crashIn({ after, isWritten }: Pick<Crash, 'after' | 'isWritten'>): Promise<void> {
    this.#crash = { after, isWritten, reached: Promise.withResolvers() }
    await this.#crash.reached.promise
  }

  async append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<number> {
    if (this.#crash && this.#crash.after-- === 0) return await this.#die(this.#crash, bytes, count)
    await this.#held?.promise
    if (this.failuresLeft > 0) {
      this.failuresLeft--
      throw new DomainError('journal_full', 'the disk is full', { retryAfter: 1 })
    }
    return this.#file.append(bytes, count)
  }

  /** What is written then is never told to anybody. */
  async #die(
    { isWritten, reached }: Crash,
    bytes: Uint8Array<ArrayBuffer>,
    count: number,
  ): Promise<never> {
    if (isWritten) this.#file.append(bytes, count)
    this.hold()
    reached.resolve()
    await this.#held?.promise
    this.#crash = undefined
    throw new DomainError('journal_full', 'the process is dead', { retryAfter: 1 })
  }

  async trim(): Promise<void> {}

  async status() {
    return this.#file.status()
  }
}

export interface FetchingOptions {
  readonly connector: FetchConnector
  readonly source: Readonly<Record<string, unknown>>
  /** Ports of this machine that it may connect to. */
  readonly ports: readonly number[]
}

/**
 * A stream that fetches, made of the real parts, up to a journal on disk. It can be killed: what a
 * process would have forgotten then is forgotten here.
 */
export class FetchingSource implements AsyncDisposable {
  readonly streamId = newId<StreamId>()
  readonly #folder = new TemporaryFolder()
  #options: FetchingOptions
  readonly #file: SqliteJournalFile
  #directory: StreamDirectory | undefined
  #isPaused = false
  readonly journal: FaultyJournal
  #runner: SourceRunner | undefined

  constructor(options: FetchingOptions) {
    this.#options = options
    this.#file = new SqliteJournalFile(this.#folder.file('journal.db'), 1024 ** 3)
    this.journal = new FaultyJournal(this.#file)
  }

  get runner(): SourceRunner {
    if (!this.#runner) throw new Error('nothing was started yet')
    return this.#runner
  }

  /** Counts from the next start on: another definition of the same stream. */
  change(source: Readonly<Record<string, unknown>>): void {
    this.#options = { ...this.#options, source }
  }

  /** From now on the stream is paused, as far as it is looked up: whoever ends its source comes later. */
  pause(): void {
    this.#isPaused = true
    this.#directory?.forget(this.streamId)
  }

  /** As a process does that has just begun. */
  start(): void {
    const { connector, source, ports } = this.#options
    const commits = new GroupCommit(this.journal)
    const receipts = new ReceiptClock(systemClock)
    const directory = new StreamDirectory(async (streamId) => ({
      streamId,
      ownerId: newId<UserId>(),
      version: 1,
      isPaused: this.#isPaused,
      schema: {
        fields: {
          number: { type: 'integer' },
          text: { type: 'string' },
          place: { type: 'object' },
        },
        validation: 'lenient',
        timestampField: 'timestamp',
        timestampFormat: 'rfc3339',
      },
    }))
    this.#directory = directory
    const allowed = new AllowedDestinations(ports.map((port) => ({ host: '127.0.0.1', port })))
    const { streamId } = this
    const needs = {
      intake: new Intake({ commits, receipts }),
      findStream: (id: StreamId) => directory.find(id),
      assertReady: () => commits.assertReady(),
      dial: guardedDial(new EgressGuard({ allowed })),
      nowUs: () => systemClock.nowUs(),
      positions: this.#positions(),
      handedIn: new HandedIn(),
      onFailing: () => undefined,
    }
    const left = new LeftMessages({ ...needs, connectors: [connector] })
    const opened = connector.open({ streamId, source })
    this.#runner = new SourceRunner({ ...needs, left }, streamId, {
      source: opened,
      definition: source,
      secrets: [],
    })
    this.#runner.start()
  }

  /** Ends it while the disk stands still, so that nothing more gets there. */
  async kill(): Promise<void> {
    this.journal.failuresLeft = Number.POSITIVE_INFINITY
    this.journal.release()
    await this.runner.stop()
    this.journal.failuresLeft = 0
  }

  /** The newest position that is in the journal. */
  get position(): string | undefined {
    let newest: string | undefined
    this.#read((entry) => {
      if (entry.kind === kindPosition) newest = entry.position
    })
    return newest
  }

  /** What is in the journal, in its order: readings with their times and values, and bytes and origins of refused messages. */
  entries() {
    const numbers: number[] = []
    const values: Readonly<Record<string, unknown>>[] = []
    const timesUs: number[] = []
    const refused: string[] = []
    const sources: string[] = []
    this.#read((entry) => {
      if (entry.kind === kindPosition) return
      if (entry.accepted) {
        timesUs.push(entry.timestampUs)
        const reading = JSON.parse(entry.values) as Readonly<Record<string, unknown>>
        numbers.push(reading['number'] as number)
        values.push(reading)
        return
      }
      const { payload, notes } = entry.quarantinedEntry()
      refused.push(Buffer.from(payload).toString('hex'))
      sources.push(notes.source)
    })
    return { numbers, values, timesUs, refused, sources }
  }

  /** The state of this source is its journal. */
  #positions(): SourcePositions {
    const newest = this.position
    return new SourcePositions({ load: async () => newest, head: start, decided: start })
  }

  #read(see: (entry: EntryReader) => void): void {
    const reader = new SqliteJournalReader(this.#folder.file('journal.db'))
    try {
      for (let at = 0; at < reader.nextOffset(); ) {
        for (const batch of reader.read(at, 100_000)) {
          const entry = new EntryReader(batch.bytes)
          while (entry.next()) see(entry)
          at = batch.firstOffset + batch.count
        }
      }
    } finally {
      reader.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.journal.release()
    await this.#runner?.stop()
    this.#file.close()
    this.#folder[Symbol.dispose]()
  }
}
