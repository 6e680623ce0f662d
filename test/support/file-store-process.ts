import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { UploadId } from '../../src/files/uploads/upload-id.ts'

/** What can be asked of a store of files. */
export type FileStoreDeed =
  | { readonly what: 'stage'; readonly upload: UploadId; readonly bytes: number }
  | {
      readonly what: 'keep'
      readonly upload: UploadId
      readonly cid: string
      /** A file that becomes the content; without it, it is what is staged. */
      readonly from?: string
    }
  | { readonly what: 'read'; readonly cid: string; readonly bytes: number }
  | { readonly what: 'check' }

export interface FileStoreOutcome {
  /** The code of a DomainError, or the text of another one. */
  readonly failure: string | undefined
  /** The most memory that the process has had so far. */
  readonly rssKiBMax: number
}

/** A store of files in a process of its own: its disk can fail, and its memory be measured. */
export class FileStoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  /** @param url as STREAMVAULT_FILES_URL has it */
  static async start(
    folder: string,
    environment: Readonly<Record<string, string>> = {},
    url = 'folder',
  ): Promise<FileStoreProcess> {
    const path = new URL('file-store-child.ts', import.meta.url).pathname
    const child = fork(path, [folder, url], { env: { ...process.env, ...environment } })
    const started = new FileStoreProcess(child)
    await once(child, 'message')
    return started
  }

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  async perform(deed: FileStoreDeed): Promise<FileStoreOutcome> {
    const answered = once(this.#child, 'message')
    this.#child.send(deed)
    const [outcome] = (await answered) as [FileStoreOutcome]
    return outcome
  }

  async failureOf(deed: FileStoreDeed): Promise<string | undefined> {
    return (await this.perform(deed)).failure
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    if (this.#child.kill('SIGKILL')) await ended
  }
}
