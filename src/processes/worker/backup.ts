import type { RemovalGate } from '../../operating/backup/removal-gate.ts'
import type { StoreCopy } from '../../storage/time-series/store-copy.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import {
  type RemovedStream,
  removeStreams,
  type StreamRemovalNeeds,
} from '../../streams/data-streams/stream-removal.ts'

/** What the worker does for backups, and what it must not do meanwhile. */
export interface BackupPartProcedures extends Record<string, (argument: never) => unknown> {
  /** Removes the data of deleted streams; resolves with of how many: a consumer may have entries of the next one ahead. */
  removeStreams(streams: readonly RemovedStream[]): Promise<number>
  /** Resolves when no deleted stream is being removed; none is until `releaseRemovals`. */
  holdRemovals(): Promise<void>
  releaseRemovals(): Promise<void>
  /** Copies the time series into a folder; nothing is stored meanwhile, and nothing lost. */
  copyStore(folder: string): Promise<StoreCopy>
  /** Ends what the store does for a copy; resolves with why that is of no use, if so. */
  endCopy(): Promise<string | undefined>
  /** Ends the copy that is being made; it fails. */
  stopCopy(): void
}

interface Parts extends Omit<StreamRemovalNeeds, 'store'> {
  readonly store: TimeSeriesStore
  readonly removalGate: RemovalGate
}

export function backupProcedures(composed: Promise<Parts>): BackupPartProcedures {
  let copying = new AbortController()
  return {
    async removeStreams(streams) {
      const parts = await composed
      return (await parts.removalGate.pass(() => removeStreams(parts, streams))) ?? 0
    },
    async holdRemovals() {
      await (await composed).removalGate.close()
    },
    async releaseRemovals() {
      ;(await composed).removalGate.open()
    },
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
