import { setTimeout as sleep } from 'node:timers/promises'
import type { FilesAddress } from '../../config/files.ts'
import { systemClock } from '../../core/clock.ts'
import type { FileStore } from '../../files/store/file-store.ts'
import { openFileStore } from '../../files/store/open-file-store.ts'
import type { Verifier } from '../../twins/verification/verifier.ts'

/** Wait after a failure of ours. */
const afterFailureMs = 1_000

/** Verifies vaults whenever some are to be. */
export class Verifying {
  readonly #verifier: Verifier
  readonly #onFailure: (error: unknown) => void
  #woken = Promise.withResolvers<void>()

  constructor(verifier: Verifier, onFailure: (error: unknown) => void) {
    this.#verifier = verifier
    this.#onFailure = onFailure
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken.resolve()
  }

  /** Goes on until the signal says to stop; who aborts it has to wake this as well. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      try {
        while (!signal.aborted && (await this.#verifier.runDue())) continue
      } catch (error) {
        this.#onFailure(error)
        await sleep(afterFailureMs, undefined, { signal }).catch(() => undefined)
        continue
      }
      await this.#woken.promise
    }
  }
}

/** The contents of users' files, opened when the first is read. */
export function contentsOf(
  address: FilesAddress,
  folder: string,
): Pick<FileStore, 'read'> & { close(): Promise<void> } {
  let opening: Promise<FileStore> | undefined
  const opened = () =>
    (opening ??= openFileStore({
      address,
      folder,
      clock: systemClock,
      spareBytes: 0,
      clearsLeftovers: false,
    }))
  return {
    async *read(cid, range) {
      yield* (await opened()).read(cid, range)
    },
    async close() {
      await (await opening)?.close()
    },
  }
}
