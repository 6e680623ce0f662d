import { setTimeout as sleep } from 'node:timers/promises'
import type { UploadUrls } from './upload-urls.ts'
import type { Uploads } from './uploads.ts'

/** How often an object store is asked what has arrived, while an address may be used, and else. */
const lookMs = 2_000
const restMs = 60_000

export interface UploadWatchNeeds {
  readonly uploads: Pick<Uploads, 'takeStaged'>
  readonly uploadUrls: Pick<UploadUrls, 'mayBeUsed'>
  /** Whether files come past us: an object store does not say when one is there. */
  readonly isRemote: boolean
  readonly onFailure: (error: unknown) => void
}

/** Takes what has arrived without us, and what was left by a crash. */
export class UploadWatch {
  readonly #needs: UploadWatchNeeds

  constructor(needs: UploadWatchNeeds) {
    this.#needs = needs
  }

  /** Goes on until the signal says to stop. A failure is tried again with the next look. */
  async run(signal: AbortSignal): Promise<void> {
    const { uploads, uploadUrls, isRemote, onFailure } = this.#needs
    while (!signal.aborted) {
      await uploads.takeStaged(signal, onFailure).catch(onFailure)
      const waitMs = isRemote && uploadUrls.mayBeUsed ? lookMs : restMs
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}
