import type { MessagePort } from 'node:worker_threads'
import type { Logger } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { formatUs } from '../../core/time.ts'
import { type SealedProgress, Sealer } from '../../evidence/seals/sealer.ts'
import type { SealMarks } from '../../ingest/pipeline/seal-marks.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import type { SealSettings } from './worker-contract.ts'

export interface SealingNeeds extends SealSettings {
  readonly state: StateDatabase
  readonly store: TimeSeriesStore
  readonly marks: SealMarks
  readonly logger: Logger
  /** Is told when seals are to be anchored. */
  readonly sealed: MessagePort
}

/** Composition of what seals stretches, where the state is written. */
export function openSealer(
  { sealed: port, logger, ...needs }: SealingNeeds,
  progress: SealedProgress,
): Sealer {
  return new Sealer({
    ...needs,
    progress,
    clock: systemClock,
    onAnchors: () => port.postMessage('sealed'),
    onFailure: (error) => logger.error({ err: error }, 'stretches wait: sealing them failed'),
    onPutOff: ({ streamId, startUs }, error) => {
      const stretch = { streamId, begins: formatUs(startUs), err: error }
      logger.error(stretch, 'a stretch could not be sealed, and is tried again')
    },
  })
}
