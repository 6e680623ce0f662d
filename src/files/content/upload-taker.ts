import { rm } from 'node:fs/promises'
import type { FileStore } from '../store/file-store.ts'
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
  readonly procedures: ContentProcedures = {
    take: async (request) => {
      const store = await this.#opening
      return await this.#inTurn(() => take(store, request))
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
}

async function take(store: FileStore, { upload, ...wanted }: TakeRequest): Promise<TakenUpload> {
  // Only the end of the thread ends it, and what it has fetched by then goes at the next start.
  const path = await store.fetch(upload, new AbortController().signal)
  try {
    return await takeUpload({ path, ...wanted }, store)
  } finally {
    // A further attempt fetches another copy.
    await rm(path, { force: true })
  }
}
