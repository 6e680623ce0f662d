import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { monotonicMs } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import type { JobRun } from '../jobs/background-jobs.ts'
import { patiently, pause } from '../jobs/patience.ts'
import { type ExportFile, type ExportJob, fileNameOf } from './export-job.ts'
import type { ExportStore } from './export-store.ts'
import { type Lines, openPartSource, type PartSource, type PartSourceNeeds } from './part-source.ts'
import { PartWriter } from './part-writer.ts'

/**
 * Rows that one file has at most: it is done again after a crash, and Parquet is made of all of it
 * at once. A file may have one chunk more.
 */
const partRowsMax = 500_000
const partBytesMax = 64 * 1024 * 1024

/** Files of one job: all of them are listed in one answer. */
const filesMax = 10_000

/** Space on the disk that exports leave to the journal and the store. */
const spareBytes = 512 * 1024 * 1024

/** How long to rest after each chunk, in shares of the time that it took: others are served then. */
const restShare = 0.25

export interface ExportRunNeeds extends PartSourceNeeds {
  readonly store: ExportStore
  readonly loadStream: (id: StreamId) => Promise<DataStream | undefined>
  /** The time of a stream's newest reading. */
  readonly newestUs: (id: StreamId) => Promise<number | undefined>
  /** Where the folders of all jobs are. */
  readonly folder: string
  /** Bytes that all exports of one user may have. */
  readonly bytesOfUserMax: number
}

/** One run of a job, from its last finished file on. */
export class ExportRun implements JobRun {
  readonly #needs: ExportRunNeeds
  readonly #job: ExportJob
  readonly #writer = new PartWriter()
  readonly #signal: AbortSignal
  #progress: number
  #files = 0
  #originUs: number | undefined

  constructor(needs: ExportRunNeeds, job: ExportJob, signal: AbortSignal) {
    this.#needs = needs
    this.#job = job
    this.#signal = signal
    this.#progress = job.progress
  }

  get progress(): number {
    return this.#progress
  }

  async run(): Promise<boolean> {
    await this.#takeUp()
    const { request, nextStream } = this.#job
    let cursor = this.#job.nextCursor
    for (const [index, id] of request.streamIds.entries()) {
      if (index < nextStream) continue
      const stream = await this.#needs.loadStream(id)
      // One that was deleted, or got another owner, since the job was made is left out.
      if (stream?.ownerId === this.#job.ownerId) {
        if (!(await this.#writeStream(stream, index, cursor))) return false
      }
      cursor = undefined
    }
    return !this.#signal.aborted
  }

  async close(): Promise<void> {
    await this.#writer.close()
  }

  /** Makes sure that the finished files are what they were, and removes what was not finished. */
  async #takeUp(): Promise<void> {
    const folder = this.#folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const files = await this.#needs.store.files(this.#job.id)
    const known = new Set(files.map(({ name }) => name))
    for (const name of readdirSync(folder)) {
      if (!known.has(name)) rmSync(join(folder, name))
    }
    for (const { name, sha256 } of files) {
      if ((await this.#writer.digest(join(folder, name))) === sha256) continue
      throw conflict(
        `${name} is not what was written: make the export again`,
        'Make the export again with POST /exports: its files were changed on the disk.',
      )
    }
    this.#files = files.length
  }

  /** Returns false when the job is not to go on. */
  async #writeStream(
    stream: DataStream,
    index: number,
    from: string | undefined,
  ): Promise<boolean> {
    const newestUs = await patiently(() => this.#needs.newestUs(stream.id), this.#signal)
    let cursor = from
    this.#originUs = undefined
    do {
      const open = () => openPartSource(this.#needs, stream, this.#job.request)
      const source = await patiently(open, this.#signal)
      if (source === undefined) return !this.#signal.aborted
      const place = { stream, index, newestUs: newestUs ?? 0 }
      const written = await this.#writePart(source, cursor, place)
      if (!written.isKept) return false
      cursor = written.cursor
    } while (cursor !== undefined)
    return true
  }

  async #writePart(
    source: PartSource,
    from: string | undefined,
    place: Place,
  ): Promise<{ readonly isKept: boolean; readonly cursor?: string | undefined }> {
    await this.#assertRoom()
    const { id, request } = this.#job
    const streamId = place.stream.id
    const number = this.#files + 1
    const name = fileNameOf(number, streamId, request.format)
    const path = join(this.#folder, name)
    const { head, parquet } = source
    await this.#writer.begin({ path, head, parquet })
    const lines = await this.#copy(source, from, place)
    if (lines === undefined) {
      await this.#writer.drop()
      return { isKept: false }
    }
    const file: ExportFile = {
      number,
      name,
      streamId,
      rows: lines.rows,
      ...(await this.#writer.finish()),
    }
    const { cursor } = lines
    const isKept = await this.#needs.store.addFile(id, {
      file,
      nextStream: cursor === undefined ? place.index + 1 : place.index,
      nextCursor: cursor,
      progress: this.#progress,
    })
    if (!isKept) rmSync(path, { force: true })
    this.#files++
    return { isKept, cursor }
  }

  /** Copies lines into the open part, until it is full or the stream ends; undefined: told to end. */
  async #copy(
    source: PartSource,
    from: string | undefined,
    place: Place,
  ): Promise<{ readonly rows: number; readonly cursor: string | undefined } | undefined> {
    let cursor = from
    let rows = 0
    let bytes = 0
    do {
      const startedMs = monotonicMs()
      const lines = await patiently(() => source.read(cursor, partRowsMax - rows), this.#signal)
      if (this.#signal.aborted) return undefined
      cursor = lines.cursor
      rows += lines.rows
      bytes += lines.bytes.byteLength
      this.#advance(lines, place)
      if (lines.rows > 0) await this.#writer.write(lines.bytes)
      await pause((monotonicMs() - startedMs) * restShare, this.#signal)
    } while (cursor !== undefined && rows < partRowsMax && bytes < partBytesMax)
    return { rows, cursor }
  }

  /** How far a stream is written is told by time: how many readings it has is not known. */
  #advance({ timestampUs, cursor }: Lines, { index, newestUs }: Place): void {
    const { streamIds } = this.#job.request
    this.#originUs ??= timestampUs
    let share = 1
    if (cursor !== undefined) {
      const done = (timestampUs ?? 0) - (this.#originUs ?? 0)
      const all = Math.max(newestUs, timestampUs ?? 0) - (this.#originUs ?? 0)
      share = all > 0 ? done / all : 0
    }
    // It never falls back, whatever came since.
    this.#progress = Math.max(this.#progress, (index + share) / streamIds.length)
  }

  /** @throws DomainError `disk_full`, `too_many_points` */
  async #assertRoom(): Promise<void> {
    if (this.#files >= filesMax) {
      throw new DomainError('too_many_points', `an export has at most ${filesMax} files`)
    }
    await assertSpace(this.#needs, this.#job.ownerId)
  }

  get #folder(): string {
    return join(this.#needs.folder, this.#job.id)
  }
}

/** @throws DomainError `disk_full` when there is no space for another file of a user */
export async function assertSpace(
  { store, bytesOfUserMax, folder }: Pick<ExportRunNeeds, 'store' | 'bytesOfUserMax' | 'folder'>,
  ownerId: UserId,
): Promise<void> {
  if ((await store.bytesOf(ownerId)) >= bytesOfUserMax) {
    const message = `your exports have ${bytesOfUserMax} bytes already: delete some`
    throw new DomainError('disk_full', message)
  }
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= spareBytes) return
  throw new DomainError('disk_full', 'there is too little space left on the disk')
}

/** Where a job is. */
interface Place {
  readonly stream: DataStream
  /** In the list of streams. */
  readonly index: number
  readonly newestUs: number
}
