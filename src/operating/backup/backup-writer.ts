import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { conflict } from '../../core/conflict.ts'
import { removeGradually } from '../../core/gradual-removal.ts'
import { contentPath } from '../../files/store/content-name.ts'
import { chainFile, keysFile } from '../../ledgers/sandbox/files.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import { SqliteJournalReader } from '../../storage/journal/sqlite-journal.ts'
import type { ServedRows } from '../../storage/time-series/store-copy.ts'
import type { BackupPlace } from './backup-place.ts'
import { contentFrames, contentLines, type KnownContent } from './content-frames.ts'
import { journalFrames } from './journal-frames.ts'
import { countsLeft, leaveOut } from './left-out.ts'
import {
  type BackupPositions,
  fileNames,
  type Manifest,
  manifestName,
  type PackedFile,
} from './manifest.ts'
import { chunksOf, Packing } from './packing.ts'
import { ReceivedCounts } from './received-counts.ts'
import { SqliteSnapshot } from './sqlite-snapshot.ts'
import { wholeLinesOf } from './whole-lines.ts'

/** How far a backup has come. */
export interface BackupProgress {
  readonly phase: BackupPhase
  /** Bytes of contents that are packed, of those that are known to be there. */
  readonly bytesDone: number
  readonly bytesTotal: number
}

export const backupPhases = ['time-series', 'state', 'journal', 'files', 'packing', 'done'] as const

export type BackupPhase = (typeof backupPhases)[number]

/** A file that the manifest will list, and where its content lies. */
export interface StagedFile {
  readonly name: string
  readonly path: string
}

/** A file that the manifest will list, and its content. */
export interface StagedText {
  readonly name: string
  readonly text: string
}

/** The files that are looked at in one moment. */
export interface SnapshotPaths {
  readonly state: string
  readonly mqttSessions: string
}

/** Where the bytes of users' files are. */
export type ContentSource =
  | { readonly kind: 's3' }
  | { readonly kind: 'folder'; readonly path: string }

/** What the manifest says beside what the writer knows itself. */
export type ManifestFacts = Pick<
  Manifest,
  'format' | 'backupId' | 'productVersion' | 'asOf' | 'finishedAt' | 'hasMasterKey'
> & {
  readonly storePosition: Offset
  readonly timeSeriesRows: Readonly<Record<string, number>>
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

interface Snapshots {
  readonly state: SqliteSnapshot
  readonly mqttSessions: SqliteSnapshot
}

/** Writes the files of one backup, step by step; blocks its thread while it does. */
export class BackupWriter {
  readonly #place: BackupPlace
  readonly #staging: string
  readonly #aborted = new AbortController()
  readonly #files: PackedFile[] = []
  #snapshots: Snapshots | undefined
  #received = new ReceivedCounts([], 0)
  #stateRows: Readonly<Record<string, number>> = {}
  #decider: Offset = 0
  #journal = { from: 0, to: 0, entries: 0 }
  #contents = { files: 0, fileBytes: 0, filesLost: 0 }
  #phase: BackupPhase = 'time-series'
  #bytesDone = 0
  #bytesTotal = 0
  #isPrepared = false

  /** @param staging where copies lie until they are packed, when the place has no folder for them */
  constructor(place: BackupPlace, staging: string) {
    this.#place = place
    this.#staging = place.stagingFolder ?? staging
  }

  /** Resolves with the folder for copies. @throws DomainError `conflict` when something is there */
  async prepare(): Promise<string> {
    await this.#place.prepare()
    this.#isPrepared = true
    mkdirSync(this.#staging, { recursive: true, mode: 0o700 })
    return this.#staging
  }

  /** Fixes the moment that the copies are of. */
  takeSnapshots({ state, mqttSessions }: SnapshotPaths): void {
    this.#phase = 'state'
    this.#snapshots = {
      state: new SqliteSnapshot(state),
      mqttSessions: new SqliteSnapshot(mqttSessions),
    }
  }

  /** Copies what was fixed. Resolves with the decider's position in it. */
  async copySnapshots(): Promise<Offset> {
    const { state, mqttSessions } = this.#taken()
    for (const row of state.rows(deciderPosition)) {
      this.#decider = Number(row['next_offset'])
    }
    const counted = Array.from(state.rows(countersOfStreams), (row) => {
      return [String(row['stream_id']), Number(row['received'])] as const
    })
    this.#received = new ReceivedCounts(counted, this.#decider)
    this.#stateRows = countsLeft(state.counts())
    const onStep = () => this.#aborted.signal.throwIfAborted()
    await state.copyTo(this.#staged(fileNames.state), onStep)
    leaveOut(this.#staged(fileNames.state))
    await mqttSessions.copyTo(this.#staged(fileNames.mqttSessions), onStep)
    this.#closeSnapshots()
    return this.#decider
  }

  /** Packs the entries between two offsets; they must not be trimmed before that is done. */
  async writeJournal(path: string, range: { from: Offset; to: Offset }): Promise<void> {
    this.#phase = 'journal'
    const reader = new SqliteJournalReader(path)
    let entries = 0
    try {
      const frames = journalFrames(reader, range, (batch) => {
        entries += batch.count
        this.#received.add(batch)
      })
      await this.#pack(fileNames.journal, frames, 0)
    } finally {
      reader.close()
    }
    this.#journal = { ...range, entries }
  }

  /** Packs the contents that the copied state knows, or their list where an object store has them. */
  async writeContents(source: ContentSource): Promise<void> {
    this.#phase = 'files'
    const state = new SqliteSnapshot(this.#staged(fileNames.state))
    try {
      for (const row of state.rows(sumOfContents)) {
        this.#contents.files = Number(row['files'])
        this.#contents.fileBytes = Number(row['bytes'])
      }
      const known = knownContents(state)
      if (source.kind === 's3') {
        await this.#pack(fileNames.contentList, contentLines(known), 0)
        return
      }
      const { fileBytes } = this.#contents
      this.#bytesTotal += fileBytes
      const frames = contentFrames(
        known,
        (cid) => contentPath(source.path, cid),
        ({ bytes, size }) => {
          if (bytes !== size) this.#contents.filesLost++
        },
      )
      await this.#pack(fileNames.contents, frames, fileBytes)
    } finally {
      state.close()
    }
  }

  /**
   * Packs the ledger of our own, as it is now: later than the state, so that whatever the state knows of it is there.
   * Its keys come last, because there is no block without them.
   */
  async writeLedger(folder: string): Promise<void> {
    this.#phase = 'packing'
    const chain = join(folder, chainFile)
    const keys = join(folder, keysFile)
    if (existsSync(chain)) {
      const { size } = statSync(chain)
      this.#bytesTotal += size
      await this.#pack(fileNames.ledgerChain, wholeLinesOf(chain), size)
    }
    if (existsSync(keys)) await this.#pack(fileNames.ledgerKeys, chunksOf(keys), 0)
  }

  /** Packs what was copied, and a few files that lie elsewhere. */
  async writeFiles(files: readonly StagedFile[]): Promise<void> {
    this.#phase = 'packing'
    const names = [fileNames.state, fileNames.mqttSessions]
    const staged = names.map((name) => ({ name, path: this.#staged(name) }))
    const all = [...staged, ...files].filter(({ path }) => existsSync(path))
    for (const { path } of all) this.#bytesTotal += statSync(path).size
    for (const { name, path } of all) {
      await this.#pack(name, chunksOf(path), statSync(path).size)
      if (path.startsWith(this.#staging)) await removeGradually(path)
    }
  }

  /** Packs rows that lie on a server; resolves with how many each table has. */
  async writeRows(served: ServedRows): Promise<Readonly<Record<string, number>>> {
    // The client library is only loaded by those who need it.
    const { readServedRows } = await import('../../storage/time-series/questdb/copy/read-rows.ts')
    const counts: Record<string, number> = {}
    async function* counted(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      for await (const { table, rows, bytes } of readServedRows(served, signal)) {
        counts[table] = (counts[table] ?? 0) + rows
        yield bytes
      }
    }
    await this.#pack(fileNames.rows, counted(this.#aborted.signal), 0)
    return counts
  }

  /** Packs a short text that lies in no file. */
  async writeText({ name, text }: StagedText): Promise<void> {
    await this.#pack(name, [Buffer.from(text)], text.length)
  }

  /** Writes what belongs to the whole, and the manifest last. */
  async finish({ storePosition, timeSeriesRows, ...facts }: ManifestFacts): Promise<Manifest> {
    await this.#pack(fileNames.counts, this.#received.lines(), 0)
    rmSync(this.#staging, { recursive: true, force: true })
    const { from, to, entries } = this.#journal
    const positions: BackupPositions = {
      store: storePosition,
      decider: this.#decider,
      journalFrom: from,
      journalTo: to,
    }
    const { total, streams } = this.#received
    const counts = {
      received: total,
      streams,
      journalEntries: entries,
      timeSeriesRows,
      stateRows: this.#stateRows,
      ...this.#contents,
    }
    const manifest: Manifest = { ...facts, positions, counts, files: this.#files }
    this.#aborted.signal.throwIfAborted()
    const text = `${JSON.stringify(manifest, null, 2)}\n`
    await this.#place.write(manifestName, piecesOf(text), text.length)
    this.#phase = 'done'
    return manifest
  }

  progress(): BackupProgress {
    const bytesTotal = Math.max(this.#bytesTotal, this.#bytesDone)
    return { phase: this.#phase, bytesDone: this.#bytesDone, bytesTotal }
  }

  /** Ends the step that goes on; it fails. */
  abort(): void {
    this.#aborted.abort(
      conflict('the backup was cancelled', 'Make another one with POST /backups.'),
    )
  }

  /** Removes what there is of it. Nothing of a place that was somebody else's is touched. */
  async discard(): Promise<void> {
    this.#closeSnapshots()
    if (!this.#isPrepared) return
    rmSync(this.#staging, { recursive: true, force: true })
    await this.#place.remove([manifestName, ...Object.values(fileNames)])
  }

  async #pack(name: string, chunks: Chunks, bytesMax: number): Promise<void> {
    const packing = new Packing(name)
    const pieces = packing.pack(chunks, (bytes) => {
      this.#bytesDone += bytes
      this.#aborted.signal.throwIfAborted()
    })
    await this.#place.write(name, pieces, bytesMax)
    this.#files.push(packing.file())
  }

  #staged(name: string): string {
    return join(this.#staging, name.replace(/\.zst$/, ''))
  }

  #taken(): Snapshots {
    if (this.#snapshots === undefined) throw new Error('no snapshots were taken')
    return this.#snapshots
  }

  #closeSnapshots(): void {
    this.#snapshots?.state.close()
    this.#snapshots?.mqttSessions.close()
    this.#snapshots = undefined
  }
}

const deciderPosition = `SELECT next_offset FROM consumer_positions WHERE consumer = 'decider'`

/** What the decider has counted of the streams that there are. */
const countersOfStreams = `SELECT s.id AS stream_id, coalesce(c.received, 0) AS received
  FROM data_streams s LEFT JOIN stream_counters c ON c.stream_id = s.id`

const sumOfContents = 'SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM contents'

function* knownContents(state: SqliteSnapshot): Generator<KnownContent> {
  for (const row of state.rows('SELECT cid, size, sha256 FROM contents ORDER BY cid')) {
    const { cid, size, sha256 } = row
    yield { cid: String(cid), size: Number(size), sha256: String(sha256) }
  }
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
