import { api } from '../../../api/client.ts'
import { type Failure, failureOf, isAborted } from '../../../api/failure.ts'
import { upload, uploadPlace } from '../../../api/upload.ts'
import { bytes } from '../../../formats/numbers.ts'
import type { ShownVault } from '../shown-vault.ts'
import { cutTo } from './file-names.ts'

/** A file on its way to an asset stream. */
export interface QueuedFile {
  readonly id: number
  readonly file: File
  readonly isArchive: boolean
  readonly state: 'waiting' | 'sending' | 'done' | 'failed'
  readonly sentBytes: number
  readonly failure: Failure | undefined
}

export interface UploadTarget {
  readonly streamId: string
  readonly ledger: ShownVault['ledger']
}

export interface UploadQueueOptions {
  readonly onChange: (files: readonly QueuedFile[]) => void
  /** A file has arrived, or its attachment was given up. */
  readonly onAttachments: () => void
}

/** Files that are kept in the queue at once: more are to be an archive. */
export const queuedMax = 100

interface Entry {
  shown: QueuedFile
  readonly target: UploadTarget
  readonly abort: AbortController
}

/** Sends files one after the other: a browser has six connections, and the page wants some of them. */
export class UploadQueue {
  readonly #options: UploadQueueOptions
  #entries: readonly Entry[] = []
  #nextId = 0
  #isRunning = false

  constructor(options: UploadQueueOptions) {
    this.#options = options
  }

  add(files: readonly File[], target: UploadTarget, unpacks: boolean): void {
    const room = queuedMax - this.#entries.length
    const entries = files.slice(0, Math.max(0, room)).map((file): Entry => {
      const isArchive = unpacks && /\.zip$/i.test(file.name)
      const state = { state: 'waiting', sentBytes: 0, failure: undefined } as const
      return {
        shown: { id: this.#nextId++, file, isArchive, ...state },
        target,
        abort: new AbortController(),
      }
    })
    this.#entries = [...this.#entries, ...entries]
    this.#tell()
    void this.#run()
  }

  /** Gives up a file, or takes one that is over out of sight. */
  remove(id: number): void {
    this.#entries.find(({ shown }) => shown.id === id)?.abort.abort()
    this.#entries = this.#entries.filter(({ shown }) => shown.id !== id)
    this.#tell()
  }

  retry(id: number): void {
    const entry = this.#entries.find(({ shown }) => shown.id === id)
    if (entry?.shown.state !== 'failed') return
    this.#set(entry, { state: 'waiting', sentBytes: 0, failure: undefined })
    void this.#run()
  }

  /** Gives up all of them. */
  close(): void {
    for (const { abort } of this.#entries) abort.abort()
    this.#entries = []
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (;;) {
      const next = this.#entries.find(({ shown }) => shown.state === 'waiting')
      if (!next) break
      await this.#send(next)
    }
    this.#isRunning = false
  }

  async #send(entry: Entry): Promise<void> {
    this.#set(entry, { state: 'sending' })
    let attachmentId: string | undefined
    try {
      const made = await newAttachment(entry)
      attachmentId = made.id
      const place = uploadPlace(made.presigned_url)
      const { file } = entry.shown
      if (!place) throw new Error('Files go to an object store here: send it with another program')
      if (place.bytesMax !== undefined && file.size > place.bytesMax) {
        const [has, max] = [bytes(file.size), bytes(place.bytesMax)]
        throw new Error(`It has ${has}, and the service takes ${max} at most`)
      }
      await upload({
        path: place.path,
        file,
        signal: entry.abort.signal,
        onProgress: (sentBytes) => this.#set(entry, { sentBytes }),
      })
      this.#set(entry, { state: 'done', sentBytes: file.size })
    } catch (error) {
      if (attachmentId !== undefined) await dropAttachment(attachmentId)
      if (!isAborted(error)) this.#set(entry, { state: 'failed', failure: asShown(error) })
    }
    this.#options.onAttachments()
  }

  #set(entry: Entry, change: Partial<QueuedFile>): void {
    entry.shown = { ...entry.shown, ...change }
    this.#tell()
  }

  #tell(): void {
    this.#options.onChange(this.#entries.map(({ shown }) => shown))
  }
}

async function newAttachment({ shown: { file, isArchive }, target, abort }: Entry) {
  const name = cutTo(file.name, 200)
  return await api.call('createAttachment', {
    body: {
      name,
      stream_id: target.streamId,
      ledger: target.ledger,
      ...(isArchive ? { upload_as_zip: true } : { filename: cutTo(file.name, 80) }),
    },
    signal: abort.signal,
  })
}

/** Without its file an attachment is nothing: it goes with the upload. */
async function dropAttachment(attachmentId: string): Promise<void> {
  try {
    await api.call('deleteAttachment', { path: { attachmentId } })
  } catch {
    // It is in the list, waits for its file, and can be deleted there.
  }
}

/** What the page itself found is no mistake of it. */
function asShown(error: unknown): Failure {
  const failure = failureOf(error)
  return failure.code === 'page_error' ? { ...failure, code: 'file_rejected' } : failure
}
