import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { formatUs } from '../../core/time.ts'
import type { Sealer } from '../../evidence/seals/sealer.ts'
import {
  assertJournalReaches,
  type Consumer,
  ConsumerLoop,
} from '../../ingest/pipeline/consumer.ts'
import { deciderPace, shipperPace } from '../../ingest/pipeline/pace.ts'
import type { Shipper } from '../../ingest/pipeline/shipper.ts'
import { Materialiser } from '../../reading/windows/materialiser.ts'
import type { JournalHead } from '../../storage/journal/journal-head.ts'
import { SqliteJournalReader } from '../../storage/journal/sqlite-journal.ts'
import { giveBackSpace, type StateDatabase } from '../../storage/state/database.ts'
import { keepSteadyTimeUntil } from '../../storage/state/steady-time.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import type { WorkerAlerts } from './alerts.ts'
import type { Notifying } from './deliveries.ts'
import { openSealer, type SealingNeeds } from './sealing.ts'

interface LoopNeeds {
  readonly shipper: Shipper
  readonly decider: Consumer
  readonly head: JournalHead
  readonly state: StateDatabase
  readonly store: TimeSeriesStore
  readonly notifying: Notifying
  readonly alerts: WorkerAlerts
  readonly sealing: Pick<SealingNeeds, 'graceUs' | 'ledger' | 'marks' | 'sealed'>
  readonly logger: Logger
}

/** Loops of what the worker does by itself. */
export interface WorkerLoops {
  readonly shipper: ConsumerLoop
  readonly decider: ConsumerLoop
  readonly materialiser: Materialiser
  readonly sealer: Sealer
  /** Resolves when all of it has ended. */
  readonly done: Promise<unknown>
}

/** Begins to follow the journal, and to compute windows, until the signal says to stop. */
export function startLoops(
  { shipper, decider, head, state, store, notifying, alerts, sealing, logger }: LoopNeeds,
  journalPath: string,
  signal: AbortSignal,
): WorkerLoops {
  const journal = { reader: new SqliteJournalReader(journalPath), head }
  assertJournalReaches(journal.reader.nextOffset(), [shipper, decider])
  const loops = {
    shipper: new ConsumerLoop({ ...journal, consumer: shipper, pace: shipperPace }),
    decider: new ConsumerLoop({ ...journal, consumer: decider, pace: deciderPace }),
  }
  const consuming = Promise.all(
    Object.values(loops).map((loop) =>
      loop.run(signal, (error) => {
        logger.error({ err: error }, 'a consumer of the journal failed and tries again')
      }),
    ),
  ).finally(() => journal.reader.close())
  const progress = {
    storedUntilUs: (nowUs: number) => shipper.storedUntilUs(head.offset, nowUs),
    position: () => shipper.position(),
    get isBehind() {
      return head.offset - shipper.position() >= shipperPace.entriesMax
    },
  }
  const materialiser = new Materialiser({
    store,
    clock: systemClock,
    progress,
    onFailure: (error) => logger.error({ err: error }, 'windows wait: computing them failed'),
    onTooSlow: ({ streamId, timestampUs }) => {
      const window = { streamId, begins: formatUs(timestampUs) }
      logger.error(window, 'a window takes too long to be computed, and is tried again in an hour')
    },
  })
  const sealer = openSealer({ ...sealing, state, store, logger }, progress)
  const notified = notifying.run(signal, (error) => {
    logger.error({ err: error }, 'events wait: telling them failed')
  })
  const timing = alerts.timers.run(signal, (error) => {
    logger.error({ err: error }, 'timers of alerts wait: looking for them failed')
  })
  const givingBack = giveBackFreePages({ state, store }, signal, (error) => {
    logger.warn({ err: error }, 'free pages of a file could not be given back to the disk')
  })
  const keeping = keepSteadyTimeUntil(state, signal, (error) => {
    logger.error({ err: error }, 'steady time is not written down: it is tried again')
  })
  const computing = [materialiser.run(signal), sealer.run(signal)]
  const done = Promise.all([consuming, notified, timing, keeping, ...computing, givingBack])
  return { ...loops, materialiser, sealer, done }
}

/** How often free pages of the files go back to the disk, and how many at most: 1 MiB of usual ones. */
const giveBackMs = 1_000
const pagesPerStep = 256

/** What keeps a file from becoming smaller, such as a full disk, passes later or never. */
const giveBackRetryMs = 600_000

/** Gives free pages of the worker's files back to the disk by and by, so that nobody has to wait for it. */
async function giveBackFreePages(
  { state, store }: Pick<LoopNeeds, 'state' | 'store'>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let restMs = giveBackMs
  while (!signal.aborted) {
    await sleep(restMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    restMs = giveBackMs
    try {
      await giveBackSpace(state, pagesPerStep)
      store.giveBackSpace?.(pagesPerStep)
    } catch (error) {
      onFailure(error)
      restMs = giveBackRetryMs
    }
  }
}
