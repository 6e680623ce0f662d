import type { Compilable } from 'kysely'
import { type Clock, monotonicMs } from '../../core/clock.ts'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { TakenUpload, UploadForm, UploadLimits } from '../content/content.ts'
import { fileBytesOf, isThere, keptContents, takenRoom } from '../contents/content-rows.ts'
import type { ContentTurns } from '../contents/content-turns.ts'
import type { UnusedContents } from '../contents/unused-contents.ts'
import type { FileStore, StagedUpload } from '../store/file-store.ts'
import {
  parseUploadId,
  type UploadId,
  type UploadPurpose,
  type UploadSubject,
} from '../store/upload-id.ts'
import { ArrivingFiles } from './arriving-files.ts'
import type { ExpectedUpload, UploadKind } from './upload-kind.ts'

/** Bytes after which it is looked again whether the disk has room. */
const roomEveryBytes = 32 * 1024 * 1024

/** How long what has arrived rests after a failure, and of how many that is known. */
const restMs = 60_000
const restingMax = 10_000

/** An archive may unpack to so many times the largest upload. */
const unpackedTimesMax = 4

/** Finds out what bytes are, and makes contents of them. */
export interface ContentTaker {
  /** @throws DomainError `file_rejected`, `body_too_large`, `disk_full` */
  take(order: {
    readonly upload: UploadId
    readonly form: UploadForm
    readonly limits: UploadLimits
  }): Promise<TakenUpload>
}

export interface UploadsNeeds {
  readonly store: FileStore
  readonly content: ContentTaker
  readonly turns: ContentTurns
  readonly unused: Pick<UnusedContents, 'note'>
  readonly kinds: readonly UploadKind[]
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
  /** Bytes that the files of one user may have. */
  readonly filesBytesMax: number
  /** Free bytes of the disk beyond what is left to others. */
  readonly roomBytes: () => number
}

/** An upload whose resource waits for it. */
interface OpenUpload extends ExpectedUpload {
  readonly id: UploadId
  readonly subject: UploadSubject
  readonly kind: UploadKind
}

/** Bytes as they come, and how many are announced. */
export interface ArrivingBody {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly length: number | undefined
  /** Largest body that the address allows. */
  readonly limit: number
  /** Ends what comes, without an answer: it may be a connection that is long dead. */
  readonly breakOff: () => void
}

/** An upload that was taken, and what it was taken for. */
export interface Received {
  readonly form: UploadForm
  readonly taken: TakenUpload
}

/**
 * Takes what is uploaded: brings it to the store, has it looked at, and makes it the file of its resource,
 * in this order. So at any time either the state names contents that are there and whole, or the upload can
 * be made again; what a crash leaves in the store is named by nothing, and is removed.
 */
export class Uploads {
  readonly #needs: UploadsNeeds
  readonly #kinds: ReadonlyMap<UploadPurpose, UploadKind>
  readonly #underWay = new Map<UploadId, { readonly over: Promise<void>; stop(): void }>()
  readonly #restUntilMs = new LruMap<UploadId, number>(restingMax)
  readonly arriving = new ArrivingFiles()
  /** Uploads that were taken, and those that were not, by reason. */
  readonly counts = {
    taken: 0,
    takenBytes: 0,
    refused: new Map<string, number>(refusals.map((reason) => [reason, 0])),
  }

  constructor(needs: UploadsNeeds) {
    this.#needs = needs
    this.#kinds = new Map(needs.kinds.map((kind) => [kind.purpose, kind]))
  }

  /** @throws DomainError `upload_refused` unless the resource waits for just this upload */
  async open(id: UploadId): Promise<OpenUpload> {
    const upload = await this.#find(id)
    if (upload) return upload
    throw new DomainError('upload_refused', 'the upload is over, or its resource is gone')
  }

  /**
   * Takes an upload that comes to us. When it comes once more meanwhile, the newer one is heard: whoever has
   * lost a connection need not wait until we notice.
   *
   * @throws DomainError `upload_refused`, `body_too_large`, `file_rejected`, `files_full`, `disk_full`,
   *   `rate_limited`, `overloaded`, `conflict`
   */
  async receive(id: UploadId, body: ArrivingBody): Promise<Received> {
    return await this.#counted(async () => {
      const { ownerId, subject } = await this.open(id)
      return await this.arriving.admit(subject.holderId ?? ownerId, async () => {
        const alone = this.#aloneWith(id)
        try {
          await alone.before
          // The one before may have been taken.
          const upload = await this.open(id)
          await this.#assertFits(upload, body)
          await this.#needs.store.stage(id, this.#passing(upload, body, alone.signal))
          return { form: upload.form, taken: await this.#take(upload) }
        } finally {
          alone.leave()
        }
      })
    })
  }

  /**
   * Takes what has arrived without us, or before a crash, as far as somebody waits for it; removes all else.
   * Failures that are none of the sender's are tried again with the next call.
   */
  async takeStaged(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    for await (const staged of this.#needs.store.staged()) {
      if (signal.aborted) return
      const { upload } = staged
      if (this.#underWay.has(upload) || this.#isResting(upload)) continue
      const alone = this.#aloneWith(upload)
      await this.#takeOne(staged)
        .catch((error: unknown) => {
          this.#restUntilMs.set(upload, monotonicMs() + restMs)
          onFailure(error)
        })
        .finally(() => alone.leave())
    }
  }

  /** Whether it failed lately: a file that there is no room for is not fetched every few seconds. */
  #isResting(upload: UploadId): boolean {
    return (this.#restUntilMs.get(upload) ?? 0) > monotonicMs()
  }

  async #takeOne({ upload: id, bytes }: StagedUpload): Promise<void> {
    const upload = await this.#find(id)
    if (!upload) return await this.#needs.store.discard(id)
    try {
      await this.#counted(async () => {
        if (bytes > upload.bytesMax) throw tooLarge(upload.bytesMax)
        await this.#take(upload)
      })
    } catch (error) {
      if (!(error instanceof DomainError) || !finalCodes.has(error.code)) throw error
      // Nobody hears an answer: the resource says it.
      const { kind, subject } = upload
      const failure = { error: error.code, message: error.message }
      const changes = await kind.refused(subject.resourceId, subject.turn, failure)
      if (changes.length > 0) await this.#needs.writer.attempt(...changes)
      await this.#needs.store.discard(id)
    }
  }

  noteRefusal(error: unknown): void {
    const reason = error instanceof DomainError ? error.code : 'broken_off'
    const { refused } = this.counts
    refused.set(reason, (refused.get(reason) ?? 0) + 1)
  }

  async #find(id: UploadId): Promise<OpenUpload | undefined> {
    const { subject } = parseUploadId(id) ?? {}
    const kind = subject && this.#kinds.get(subject.purpose)
    if (!kind) return undefined
    const expected = await kind.expected(subject.resourceId)
    if (expected?.turn !== subject.turn) return undefined
    // An address ends with the keys of its user.
    if (!(await this.#hasUser(expected.ownerId))) return undefined
    const { resourceId, holderId } = subject
    // A permission ends at any time: it is asked for here, and once more by the changes that take the file.
    if (holderId !== undefined && !(await kind.byHolders?.mayUpload(resourceId, holderId))) {
      return undefined
    }
    return { ...expected, id, subject, kind }
  }

  async #hasUser(id: UserId): Promise<boolean> {
    const { state } = this.#needs
    const users = state.selectFrom('users').select('id').where('id', '=', id).where(isThere(id))
    return (await users.executeTakeFirst()) !== undefined
  }

  /** Ends whoever else brings the same upload; there is one at a time. */
  #aloneWith(id: UploadId) {
    const other = this.#underWay.get(id)
    other?.stop()
    const over = Promise.withResolvers<void>()
    const ending = new AbortController()
    const own = { over: over.promise, stop: () => ending.abort(superseded()) }
    this.#underWay.set(id, own)
    return {
      signal: ending.signal,
      before: other?.over,
      leave: () => {
        if (this.#underWay.get(id) === own) this.#underWay.delete(id)
        over.resolve()
      },
    }
  }

  async #assertFits(upload: OpenUpload, { length = 0, limit }: ArrivingBody): Promise<void> {
    const bytesMax = Math.min(upload.bytesMax, limit)
    if (length > bytesMax) throw tooLarge(bytesMax)
    const { state, filesBytesMax } = this.#needs
    const kept = await fileBytesOf(state, upload.ownerId)
    // An image may take the place of another one.
    const isMore = upload.form.is !== 'image'
    if (isMore && kept + length > filesBytesMax) throw full(filesBytesMax)
    this.#assertRoom(length)
  }

  #assertRoom(bytes: number): void {
    if (this.#needs.roomBytes() >= bytes) return
    throw new DomainError('disk_full', 'there is too little space left on the disk')
  }

  async *#passing(
    { bytesMax: ofKind }: OpenUpload,
    { bytes, limit, breakOff }: ArrivingBody,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const bytesMax = Math.min(ofKind, limit)
    let count = 0
    let lookedAt = 0
    signal.addEventListener('abort', breakOff)
    try {
      // Before a piece is waited for that may never come.
      signal.throwIfAborted()
      for await (const piece of bytes) {
        signal.throwIfAborted()
        count += piece.length
        if (count > bytesMax) throw tooLarge(bytesMax)
        if (count - lookedAt >= roomEveryBytes) {
          this.#assertRoom(0)
          lookedAt = count
        }
        this.arriving.noteBytes(piece.length)
        yield piece
        // What goes to a bucket is kept until a part of it is whole.
        if (this.#needs.store.kind === 'folder') release(piece)
      }
      signal.throwIfAborted()
    } finally {
      signal.removeEventListener('abort', breakOff)
    }
  }

  async #take(upload: OpenUpload): Promise<TakenUpload> {
    const { store, content, turns, unused, writer, state, clock, filesBytesMax } = this.#needs
    const { id, subject, kind, ownerId, form, bytesMax } = upload
    const roomBytes = this.#needs.roomBytes()
    const limits = { bytesMax, unpackedBytesMax: unpackedTimesMax * bytesMax, roomBytes }
    return await turns.take(async () => {
      const taken = await content
        .take({ upload: id, form, limits })
        .catch(async (error: unknown) => {
          // What cannot be taken will not be better next time.
          if (isFinal(error)) await store.discard(id)
          throw error
        })
      const made = await writer.attempt(
        // What it takes the place of gives its room back first.
        ...(await kind.taken(subject.resourceId, subject.turn, taken)),
        ...stillAllowed(upload),
        ...keptContents(state, taken.files, clock.nowUs()),
        ...takenRoom(state, ownerId, { bytes: taken.size, bytesMax: filesBytesMax }),
      )
      // What stays is waited for by nothing, and goes with the next look.
      await store.discard(id).catch(() => undefined)
      if (!made) {
        await unused.note(taken.files.map(({ cid }) => cid))
        throw await this.#refusalOf(upload, taken.size)
      }
      this.counts.taken++
      this.counts.takenBytes += taken.size
      return taken
    })
  }

  async #refusalOf({ id, ownerId }: OpenUpload, bytes: number): Promise<DomainError> {
    const { state, filesBytesMax } = this.#needs
    await this.open(id)
    const kept = await fileBytesOf(state, ownerId)
    if (kept + bytes > filesBytesMax) return full(filesBytesMax)
    return changedMeanwhile('the resource', 'GET /attachments/{attachmentId}')
  }

  async #counted<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      this.noteRefusal(error)
      throw error
    }
  }
}

/** Changes that find no row when whoever has brought an upload may do so no longer. */
function stillAllowed({ kind, subject }: OpenUpload): readonly Compilable[] {
  const { resourceId, holderId } = subject
  if (holderId === undefined || !kind.byHolders) return []
  return [kind.byHolders.stillMayUpload(resourceId, holderId)]
}

/**
 * Gives the memory of a piece back at once. Left to the collector, which sees only that a few small objects are
 * left, it is 60 MB before that is done.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  // A piece that shares its memory with others leaves it to them.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Reasons for which uploads are refused, for those who count. */
const refusals = [
  'body_too_large',
  'broken_off',
  'conflict',
  'disk_full',
  'file_rejected',
  'files_full',
  'overloaded',
  'rate_limited',
  'upload_refused',
] as const

/** Failures that the same bytes would meet again. */
const finalCodes: ReadonlySet<string> = new Set(['body_too_large', 'file_rejected', 'files_full'])

function isFinal(error: unknown): boolean {
  return error instanceof DomainError && finalCodes.has(error.code)
}

function tooLarge(bytesMax: number): DomainError {
  return new DomainError('body_too_large', `the file may have ${bytesMax} bytes`)
}

function full(bytesMax: number): DomainError {
  return new DomainError('files_full', `the files of a user may have ${bytesMax} bytes together`)
}

function superseded(): DomainError {
  return conflict(
    'the same upload has begun once more',
    'Wait for the newer upload to the same address; GET /attachments/{attachmentId} says whether its file has arrived.',
  )
}
