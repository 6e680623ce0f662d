import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { TakenUpload } from './content.ts'
import type { ContentProcedures, ContentThreadData, TakeRequest } from './content-contract.ts'

export interface ThreadedContentNeeds {
  readonly data: ContentThreadData
  /** Hears of an error that has ended the thread. */
  readonly onFailure: (error: unknown) => void
  /**
   * Hears, before the failure is told, of contents that were kept for an upload which was not taken; undefined when
   * nobody knows of which.
   */
  readonly onLeft: (cids: readonly string[] | undefined) => Promise<void>
}

/**
 * The thread that looks at uploads, as others see it. It is started for the first of them: a service without
 * files has no memory to spare for its libraries. What was asked of one that ends is rejected, and the next
 * upload starts it anew.
 */
export class ThreadedContent {
  readonly #needs: ThreadedContentNeeds
  #running: RemoteThread<ContentProcedures> | undefined

  constructor(needs: ThreadedContentNeeds) {
    this.#needs = needs
  }

  /** As `ContentProcedures.take`. @throws RemoteError, too, when the thread has ended meanwhile */
  async take(request: TakeRequest): Promise<TakenUpload> {
    this.#running ??= this.#start()
    const { calls } = this.#running
    try {
      return await calls.take(request)
    } catch (error) {
      await this.#needs.onLeft(await calls.left(request.upload).catch(() => undefined))
      throw error
    }
  }

  /** Ends the thread, whatever it was doing: what is staged stays, and is looked at again. */
  async close(): Promise<void> {
    await this.#running?.terminate()
  }

  #start(): RemoteThread<ContentProcedures> {
    const thread = startThread(import.meta.url, '../../processes/content/content-thread', {
      workerData: this.#needs.data,
    })
    const running = new RemoteThread<ContentProcedures>(thread)
    running.failed.catch(this.#needs.onFailure)
    thread.once('exit', () => {
      if (this.#running === running) this.#running = undefined
    })
    return running
  }
}
