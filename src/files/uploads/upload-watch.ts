import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'
import type { UploadUrls } from './upload-urls.ts'
import type { Uploads } from './uploads.ts'

/** How often it is looked what has not come in time, and what has come past us while an address may be used. */
const lookMs = 2_000

/** How often it is looked what was left, where nothing can have come. */
const restMs = 60_000

export interface UploadWatchNeeds {
  readonly uploads: Pick<Uploads, 'takeStaged'>
  readonly uploadUrls: Pick<UploadUrls, 'mayBeUsed'>
  /** Whether files come past us: an object store does not say when one is there. */
  readonly isRemote: boolean
  /** Whether somebody has waited long enough, and the end of some of these waits. Resolves with whether there are more. */
  readonly isOverdue: () => Promise<boolean>
  readonly endOverdue: () => Promise<boolean>
  readonly onFailure: (error: unknown) => void
}

/** Takes what has arrived without us, and what was left by a crash, and ends what is waited for in vain. */
export class UploadWatch {
  readonly #needs: UploadWatchNeeds
  #nextMs = 0

  constructor(needs: UploadWatchNeeds) {
    this.#needs = needs
  }

  /** Goes on until the signal says to stop. A failure is tried again with the next look. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(signal).catch(this.#needs.onFailure)
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { uploads, uploadUrls, isRemote, isOverdue, endOverdue, onFailure } = this.#needs
    const isEnd = await isOverdue()
    // What has come at the last moment has come in time.
    if (isEnd || (isRemote && uploadUrls.mayBeUsed) || monotonicMs() >= this.#nextMs) {
      await uploads.takeStaged(signal, onFailure)
      this.#nextMs = monotonicMs() + restMs
    }
    if (!isEnd) return
    while (!signal.aborted && (await endOverdue())) continue
  }
}
