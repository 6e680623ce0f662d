import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { TakenUpload } from './content.ts'
import type { ContentProcedures, ContentThreadData, TakeRequest } from './content-contract.ts'

/**
 * The thread that looks at uploads, as others see it. It is started for the first of them: a service without
 * files has no memory to spare for its libraries. What was asked of one that ends is rejected, and the next
 * upload starts it anew.
 */
export class ThreadedContent {
  readonly #data: ContentThreadData
  readonly #onFailure: (error: unknown) => void
  #running: RemoteThread<ContentProcedures> | undefined

  /** @param onFailure hears of an error that has ended the thread */
  constructor(data: ContentThreadData, onFailure: (error: unknown) => void) {
    this.#data = data
    this.#onFailure = onFailure
  }

  /** As `ContentProcedures.take`. @throws RemoteError, too, when the thread has ended meanwhile */
  async take(request: TakeRequest): Promise<TakenUpload> {
    this.#running ??= this.#start()
    return await this.#running.calls.take(request)
  }

  /** Ends the thread, whatever it was doing: what is staged stays, and is looked at again. */
  async close(): Promise<void> {
    await this.#running?.terminate()
  }

  #start(): RemoteThread<ContentProcedures> {
    const thread = startThread(import.meta.url, '../../processes/content/content-thread', {
      workerData: this.#data,
    })
    const running = new RemoteThread<ContentProcedures>(thread)
    running.failed.catch(this.#onFailure)
    thread.once('exit', () => {
      if (this.#running === running) this.#running = undefined
    })
    return running
  }
}
