import { rm } from 'node:fs/promises'
import type { FileStore, LocalFile } from '../store/file-store.ts'
import type { UploadId } from '../store/upload-id.ts'
import type { TakenUpload } from './content.ts'
import type { ContentProcedures, TakeRequest } from './content-contract.ts'
import { takeUpload } from './take-upload.ts'

/** Uploads that are looked at side by side: one may come over the network while the other is hashed. */
const takenAtOnceMax = 2

/** Looks at uploads in their order, two at a time. How many wait is limited by whoever asks. */
export class UploadTaker {
  readonly #opening: Promise<FileStore>
  #free = takenAtOnceMax
  readonly #waiting: (() => void)[] = []
  /** What failed attempts have kept. Whoever asked for one asks for this next. */
  readonly #left = new Map<UploadId, readonly string[]>()
  readonly procedures: ContentProcedures = {
    take: async (request) => {
      const store = await this.#opening
      return await this.#inTurn(() => this.#take(store, request))
    },
    left: async (upload) => {
      const cids = this.#left.get(upload) ?? []
      this.#left.delete(upload)
      return cids
    },
  }

  constructor(opening: Promise<FileStore>) {
    this.#opening = opening
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
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

  async #take(store: FileStore, { upload, ...wanted }: TakeRequest): Promise<TakenUpload> {
    // Only the end of the thread ends it, and what it has fetched by then goes at the next start.
    const path = await store.fetch(upload, new AbortController().signal)
    const kept: string[] = []
    const keep = async (files: readonly LocalFile[]) => {
      // Some of those that fail may be there all the same.
      kept.push(...files.map(({ cid }) => cid))
      await store.keep(files)
    }
    try {
      return await takeUpload({ path, ...wanted }, { scratch: store.scratch, keep })
    } catch (error) {
      if (kept.length > 0) this.#left.set(upload, kept)
      throw error
    } finally {
      // A further attempt fetches another copy.
      await rm(path, { force: true })
    }
  }
}
