import type { DataFiles } from '../../config/data-folder.ts'
import type { TimeSeriesConfig } from '../../config/time-series-url.ts'
import { systemClock } from '../../core/clock.ts'
import { DuckDbStore } from '../../storage/time-series/duckdb/duckdb-store.ts'
import type { ExpiringStore } from '../../storage/time-series/expiry.ts'
import type { StoreLogger } from '../../storage/time-series/questdb/questdb-writer.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'

/** Which store, and its file: one, or what is known here of the rows on a server. */
export interface TimeSeriesPlace {
  readonly config: TimeSeriesConfig
  readonly files: Pick<DataFiles, 'timeSeries' | 'questDbPositions'>
  /** Bytes of entries that the journal keeps because a server could lose them. */
  readonly heldBytesMax: number
}

export type OpenedTimeSeries = TimeSeriesStore & ExpiringStore

/** Opens the store that the settings name. A server may be away: then the store waits for it. */
export async function openTimeSeries(
  { config, files, heldBytesMax }: TimeSeriesPlace,
  logger: StoreLogger,
): Promise<OpenedTimeSeries> {
  if (config.kind === 'duckdb') {
    return await DuckDbStore.open(files.timeSeries, systemClock, {
      onLookUpFailure: (error) =>
        logger.error({ err: error }, 'late readings could not be looked up; trying again'),
      onRollupFailure: (error) =>
        logger.error({ err: error }, 'readings could not be rolled up; trying again'),
    })
  }
  // Its client library is only loaded by those who need it.
  const { QuestDbStore } = await import('../../storage/time-series/questdb/questdb-store.ts')
  return new QuestDbStore({
    server: config,
    path: files.questDbPositions,
    clock: systemClock,
    logger,
    heldBytesMax,
  })
}
