import { rm } from 'node:fs/promises'
import { rowReading } from '../../../processors/mapping/row-reading.ts'
import type { CompiledStream, Verdict } from '../../contracts/reading.ts'
import { monotonicMs, type ReceiptClock } from '../../core/clock.ts'
import { cutText } from '../../core/cut-text.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { EntryWriter } from '../../ingest/pipeline/entry-writer.ts'
import type { GroupCommit } from '../../ingest/pipeline/group-commit.ts'
import { judgeMessage } from '../../ingest/pipeline/intake.ts'
import type { JobRun } from '../jobs/background-jobs.ts'
import { patiently, pause } from '../jobs/patience.ts'
import { type ImportJob, type ImportPlace, type RowRefusal, refusalsMax } from './import-job.ts'
import { type ImportStore, sourceOf } from './import-store.ts'
import { type ImportedReading, importedReading } from './imported-reading.ts'
import type { Row } from './row.ts'
import { RowReader } from './row-reader.ts'

/** Rows that are judged in one go: nobody else has a turn meanwhile. */
const sliceRows = 50

/** After so many rows it is written down how far the job is: so many are sent again after a crash. */
const noteRows = 5_000

/** How long to rest after each slice, in shares of the time that it took: live readings go before. */
const restShare = 0.5

/** Entries that may wait for the store: those behind them are others' readings, too. */
const lagMax = 100_000

/** How often it is looked whether the store follows, in slices; and how long to wait if it does not. */
const lagEverySlices = 20
const lagWaitMs = 250

/** Times to wait for the store (10 s each) before the duplicates are told as they are then. */
const countWaitsMax = 6

export interface ImportRunNeeds {
  readonly store: ImportStore
  readonly commits: Pick<GroupCommit, 'add' | 'assertReady'>
  readonly receipts: ReceiptClock
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** Entries of the journal that are not in the time-series store yet. */
  readonly lag: () => Promise<number>
  /** Resolves with whether all that is acknowledged by now has been decided, after a bounded wait. */
  readonly decided: () => Promise<boolean>
  /**
   * Resolves with whether all of a stream that is acknowledged by now is stored, late readings
   * included, after a bounded wait.
   */
  readonly stored: (id: StreamId) => Promise<boolean>
  /** Duplicates of a stream, as far as it is stored. */
  readonly duplicatesOf: (id: StreamId) => Promise<number>
  readonly pathOf: (job: ImportJob) => string | undefined
}

/** One run of an import, from the row on up to which it is known to have come. */
export class ImportRun implements JobRun {
  readonly #needs: ImportRunNeeds
  readonly #job: ImportJob
  readonly #signal: AbortSignal
  #reader: RowReader | undefined
  #place: ImportPlace
  #noted: number
  #slices = 0
  /** Refused rows up to this one are in the quarantine already: a crash came before they were noted. */
  #quarantinedUpTo = 0
  #duplicatesBefore = 0

  constructor(needs: ImportRunNeeds, job: ImportJob, signal: AbortSignal) {
    this.#needs = needs
    this.#job = job
    this.#signal = signal
    this.#place = job
    this.#noted = job.nextRow
  }

  get progress(): number {
    return this.#place.progress
  }

  async run(): Promise<boolean> {
    await this.#takeUp()
    const reader = await this.#open()
    for (;;) {
      const { rows, isLast } = await reader.next()
      for (let at = 0; at < rows.length; at += sliceRows) {
        if (this.#signal.aborted) break
        await this.#take(rows.slice(at, at + sliceRows))
      }
      if (this.#signal.aborted) {
        await this.#note()
        return false
      }
      if (isLast) return await this.#finish()
    }
  }

  /** Nobody asks for the file of an import that has all of it. */
  async completed(): Promise<void> {
    const path = this.#needs.pathOf(this.#job)
    if (path !== undefined) await rm(path, { force: true })
  }

  async close(): Promise<void> {
    await this.#reader?.close()
  }

  async #takeUp(): Promise<void> {
    const { store, duplicatesOf, decided, stored } = this.#needs
    const { id, streamId, duplicatesBefore } = this.#job
    if (duplicatesBefore === undefined) {
      await stored(streamId)
      this.#duplicatesBefore = await duplicatesOf(streamId)
      await store.noteDuplicates(id, this.#duplicatesBefore)
      return
    }
    this.#duplicatesBefore = duplicatesBefore
    while (!(await decided())) {
      if (this.#signal.aborted) return
    }
    this.#quarantinedUpTo = await store.lastQuarantined(this.#job)
  }

  async #open(): Promise<RowReader> {
    const path = this.#needs.pathOf(this.#job)
    if (path === undefined)
      throw new DomainError('not_found', 'the file of the import is gone', {
        remedy: 'Send the file again with POST /streams/{streamId}/import.',
      })
    const { schema } = await this.#stream()
    const { format, nextRow: skip } = this.#job
    this.#reader = new RowReader({ path, format, schema, skip }, this.#signal)
    return this.#reader
  }

  /** Brings rows to the journal, and goes on once they are durable. */
  async #take(rows: readonly Row[]): Promise<void> {
    const startedMs = monotonicMs()
    const judged = await patiently(() => this.#keep(rows), this.#signal)
    this.#advance(judged)
    if (this.#place.nextRow - this.#noted >= noteRows) await this.#note()
    await pause((monotonicMs() - startedMs) * restShare, this.#signal)
    if (++this.#slices % lagEverySlices !== 0) return
    while ((await this.#needs.lag()) > lagMax && !this.#signal.aborted) {
      await pause(lagWaitMs, this.#signal)
    }
  }

  /** Judges rows by the stream as it is now, and resolves once they are durable. */
  async #keep(rows: readonly Row[]): Promise<readonly JudgedRow[]> {
    const { commits, receipts } = this.#needs
    const stream = await this.#stream()
    commits.assertReady()
    const receivedAtUs = receipts.reserve(rows.length)
    const judged = judgeRows(stream, rows, receivedAtUs)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    commits.add(
      (writer) => this.#write(writer, stream, { judged, receivedAtUs }),
      (error) => (error === undefined ? resolve() : reject(error)),
    )
    await promise
    return judged
  }

  #write(
    writer: EntryWriter,
    stream: CompiledStream,
    { judged, receivedAtUs }: { judged: readonly JudgedRow[]; receivedAtUs: number },
  ): void {
    const { nextRow } = this.#place
    for (const [index, { verdict, payload, sender }] of judged.entries()) {
      const atUs = receivedAtUs + index
      if (verdict.isFiltered) writer.filtered(stream, verdict, atUs)
      else if (verdict.accepted) writer.imported(stream, verdict, atUs)
      else if (nextRow + index + 1 > this.#quarantinedUpTo) {
        const source = sourceOf(this.#job.id, nextRow + index + 1)
        const context = { isRow: true }
        const received = { atUs, source, payload, isElement: true, sender, context }
        writer.quarantined(stream, verdict, received)
      }
    }
  }

  #advance(judged: readonly JudgedRow[]): void {
    const { nextRow, accepted, refused, refusals, duplicates } = this.#place
    const wrong = judged.flatMap(({ verdict }, index): readonly RowRefusal[] => {
      if (verdict.accepted) return []
      const { reason: error, message } = verdict
      return [{ row: nextRow + index + 1, error, message: cutText(message, 500) }]
    })
    this.#place = {
      nextRow: nextRow + judged.length,
      accepted: accepted + judged.length - wrong.length,
      refused: refused + wrong.length,
      refusals: [...refusals, ...wrong].slice(0, refusalsMax),
      duplicates,
      progress: judged.at(-1)?.share ?? 1,
    }
  }

  /** Writes down how far it is. Nobody is told of more than is durable. */
  async #note(): Promise<void> {
    const { store, duplicatesOf } = this.#needs
    const { id, streamId } = this.#job
    const duplicates = Math.max(0, (await duplicatesOf(streamId)) - this.#duplicatesBefore)
    this.#place = { ...this.#place, duplicates }
    this.#noted = this.#place.nextRow
    await store.move(id, this.#place)
  }

  async #finish(): Promise<boolean> {
    await this.#note()
    // Only the store knows what was there already.
    for (let wait = 0; wait < countWaitsMax && !this.#signal.aborted; wait++) {
      if (await this.#needs.stored(this.#job.streamId)) break
    }
    await this.#note()
    return !this.#signal.aborted
  }

  /** @throws DomainError `not_found`, `stream_paused` */
  async #stream(): Promise<CompiledStream> {
    const { streamId, ownerId } = this.#job
    const stream = await this.#needs.findStream(streamId)
    if (stream?.ownerId !== ownerId) throw notFound('stream', streamId)
    if (stream.isPaused) throw new DomainError('stream_paused', 'the stream is paused')
    return stream
  }
}

interface JudgedRow {
  readonly verdict: Verdict
  readonly payload: Uint8Array
  readonly sender: string | undefined
  readonly share: number
}

function judgeRows(
  stream: CompiledStream,
  rows: readonly Row[],
  receivedAtUs: number,
): readonly JudgedRow[] {
  const read = rows.map((row): ImportedReading => importedReading(row, stream))
  const unreadable = new Map(
    read.flatMap(({ problem }, index) => (problem === undefined ? [] : [[index, problem]])),
  )
  const { map, schema } = stream
  const readings = read.map(({ reading }) =>
    map === undefined ? reading : rowReading(reading, schema),
  )
  const senders = read.map(({ sender }) => sender)
  const message = { ok: true, readings, isBatch: true, format: 'json', unreadable } as const
  const verdicts = judgeMessage(stream, message, receivedAtUs, { senders })
  return read.flatMap(({ payload, refusal }, index) => {
    const verdict = refusal ?? verdicts[index]
    const share = rows[index]?.share ?? 1
    return verdict === undefined ? [] : [{ verdict, payload, share, sender: senders[index] }]
  })
}
