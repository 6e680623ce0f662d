import type { RemovalGate } from '../../operating/backup/removal-gate.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import {
  removeStreams,
  type StreamRemovalNeeds,
} from '../../streams/data-streams/stream-removal.ts'
import type { BackupPartProcedures } from './worker-contract.ts'

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
