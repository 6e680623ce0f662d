import { RemovalGate } from './backup/removal-gate.ts'
import {
  type RemovedStream,
  removeStream,
  type StreamRemovalNeeds,
} from './data-streams/stream-removal.ts'
import type { StoreCopy } from './time-series/store-copy.ts'
import type { TimeSeriesStore } from './time-series/time-series-store.ts'

/** What the worker does for backups, and what it must not do meanwhile. */
export interface BackupPartProcedures extends Record<string, (argument: never) => unknown> {
  /** Removes the data of a deleted stream; false while a consumer has entries of it ahead. */
  removeStream(stream: RemovedStream): Promise<boolean>
  /** Resolves when no deleted stream is being removed; none is until `releaseRemovals`. */
  holdRemovals(): Promise<void>
  releaseRemovals(): void
  /** Copies the time series into a folder; nothing is stored meanwhile, and nothing lost. */
  copyStore(folder: string): Promise<StoreCopy>
  /** Ends what the store does for a copy; resolves with why that is of no use, if so. */
  endCopy(): Promise<string | undefined>
  /** Ends the copy that is being made; it fails. */
  stopCopy(): void
}

interface Parts extends Omit<StreamRemovalNeeds, 'store'> {
  readonly store: TimeSeriesStore
}

export function backupProcedures(composed: Promise<Parts>): BackupPartProcedures {
  const gate = new RemovalGate()
  let copying = new AbortController()
  return {
    async removeStream(stream) {
      const parts = await composed
      return await gate.pass(() => removeStream(parts, stream))
    },
    holdRemovals: () => gate.close(),
    releaseRemovals: () => gate.open(),
    async copyStore(folder) {
      copying = new AbortController()
      const { store } = await composed
      return await store.copyTo(folder, copying.signal)
    },
    async endCopy() {
      return (await composed).store.endCopy?.()
    },
    stopCopy: () => copying.abort(new Error('the backup was cancelled')),
  }
}
