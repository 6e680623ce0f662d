import type { Readable } from 'node:stream'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import type { UserId } from '../../core/ids.ts'

/** Exports at once: a slow reader keeps its place for hours, and holds a chunk or two in memory. */
const exportsOfUserMax = 4
const exportsMax = 32

/** Chunks that are read from the store at once: whoever else reads or writes there has to get in. */
const chunksAtOnceMax = 2

/** Lines of an export from where the chunk before ended. */
export interface Chunk<Cursor> {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly rows: number
  /** Undefined at the end. */
  readonly next: Cursor | undefined
}

export interface ExportRequest<Cursor> {
  readonly userId: UserId
  /** The text before the first line. */
  readonly head: string
  /** Lines in all, at most. */
  readonly limit: number
  /** At most so many lines after the cursor. @throws DomainError `store_unavailable` */
  readonly read: (after: Cursor | undefined, limit: number) => Promise<Chunk<Cursor>>
}

/**
 * Long answers, read from the store only as fast as somebody reads them.
 *
 * Between two chunks nothing of the store is held, so the slowest of readers keeps no connection to it,
 * no snapshot and no memory of it. Each chunk shows what was stored when it was read.
 */
export class ReadingsExports {
  readonly #runningOf = new Map<UserId, number>()
  readonly #turns = new Turns(chunksAtOnceMax)
  #running = 0
  #refused = 0
  #chunks = 0

  get running(): number {
    return this.#running
  }

  /** Exports that there was no place for. */
  get refused(): number {
    return this.#refused
  }

  /** Chunks that were read from the store. */
  get chunks(): number {
    return this.#chunks
  }

  /**
   * Begins an export; its place is free again once the stream is closed. A failure after the first
   * chunk destroys the stream, so that nobody takes a part for the whole.
   *
   * @throws DomainError `rate_limited`, `overloaded`, `store_unavailable`
   */
  async open<Cursor>(request: ExportRequest<Cursor>): Promise<Readable> {
    const { userId, limit } = request
    this.#enter(userId)
    try {
      const first = await this.#read(request, undefined, limit)
      const stream = streamOf(this.#rest(request, first), { objectMode: false })
      stream.once('close', () => this.#leave(userId))
      return stream
    } catch (error) {
      this.#leave(userId)
      throw error
    }
  }

  async *#rest<Cursor>(
    request: ExportRequest<Cursor>,
    first: Chunk<Cursor>,
  ): AsyncGenerator<Uint8Array> {
    if (request.head !== '') yield Buffer.from(request.head)
    let left = request.limit
    for (let chunk = first; ; chunk = await this.#read(request, chunk.next, left)) {
      left -= chunk.rows
      if (chunk.rows > 0) yield chunk.bytes
      if (chunk.next === undefined || left <= 0) return
    }
  }

  async #read<Cursor>(
    { read }: ExportRequest<Cursor>,
    after: Cursor | undefined,
    limit: number,
  ): Promise<Chunk<Cursor>> {
    return await this.#turns.take(async () => {
      this.#chunks++
      return await read(after, limit)
    })
  }

  #enter(userId: UserId): void {
    const ofUser = this.#runningOf.get(userId) ?? 0
    if (ofUser >= exportsOfUserMax || this.#running >= exportsMax) {
      this.#refused++
      const isOwnFault = ofUser >= exportsOfUserMax
      throw new DomainError(
        isOwnFault ? 'rate_limited' : 'overloaded',
        isOwnFault
          ? `${exportsOfUserMax} exports at once are enough for one user: read those first`
          : 'too many exports are running',
        { retryAfter: 5 },
      )
    }
    this.#runningOf.set(userId, ofUser + 1)
    this.#running++
  }

  #leave(userId: UserId): void {
    const ofUser = (this.#runningOf.get(userId) ?? 0) - 1
    if (ofUser > 0) this.#runningOf.set(userId, ofUser)
    else this.#runningOf.delete(userId)
    this.#running--
  }
}

/** Lets a few at a time work, in the order in which they came. There are no more than exports. */
class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
