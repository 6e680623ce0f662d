import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { type DataFiles, filesIn } from '../../config/data-folder.ts'
import { systemClock } from '../../core/clock.ts'
import type { StreamId } from '../../core/ids.ts'
import { parseBackupAddress } from '../../operating/backup/backup-place.ts'
import { fileNames, type Manifest } from '../../operating/backup/manifest.ts'
import { openPlace } from '../../operating/backup/open-place.ts'
import { unpack } from '../../operating/backup/packing.ts'
import { streamCountsOf } from '../../operating/backup/received-counts.ts'
import {
  type OnProgress,
  type Restoring,
  restoreBackup,
  verifyBackup,
} from '../../operating/backup/restore.ts'
import { SqliteSnapshot } from '../../operating/backup/sqlite-snapshot.ts'
import { countStoreRows } from '../../storage/time-series/duckdb/store-copy.ts'
import { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { countersOf } from '../../streams/data-streams/stream-status.ts'
import { type Engine, startEngine } from '../network/engine.ts'

/** Differences that are listed; the others are only counted. */
const listedMax = 20

const pollMs = 100

/** What commands do with a backup, without a service. */
export interface Restorer {
  /** Compares every file with the manifest. @throws DamagedBackup */
  verify(onProgress: OnProgress): Promise<Manifest>
  /** Makes the data folder that the settings name. @throws DamagedBackup; Error when the folder is not empty */
  restore(settings: RestoreSettings, onProgress: OnProgress): Promise<Manifest>
  /** Processes what is in the journal of a restored folder, and compares the counts of all streams. */
  compare(config: Config, manifest: Manifest): Promise<Comparison>
}

export interface RestoreSettings extends Pick<Config, 'dataDir' | 'timeSeries'> {
  /** Whether tables go that a restore into the same server has left when it was cut off. */
  readonly discardsCutOff?: boolean
}

export interface Comparison {
  readonly streams: number
  readonly received: number
  /** A sentence for each table and stream whose counts are not those of the backup: the first of them. */
  readonly differences: readonly string[]
  readonly differenceCount: number
}

/** @param from as `streamvault backup --to` takes it. @throws DomainError `invalid_request` */
export async function openRestorer(from: string, signal: AbortSignal): Promise<Restorer> {
  const address = parseBackupAddress(from, '--from')
  const place = await openPlace(address, { egressAllowed: undefined })
  const restoring = (onProgress: OnProgress): Restoring => ({ place, signal, onProgress })
  return {
    verify: (onProgress) => verifyBackup(restoring(onProgress)),
    restore: async ({ dataDir, timeSeries, discardsCutOff = false }, onProgress) => {
      if (timeSeries.kind === 'duckdb') {
        return await restoreBackup(restoring(onProgress), dataDir, undefined)
      }
      const { RowRestorer } = await import('../../storage/time-series/questdb/copy/restore-rows.ts')
      const receiver = new RowRestorer(timeSeries, { discardsCutOff })
      return await restoreBackup(restoring(onProgress), dataDir, receiver).finally(() =>
        receiver.close(),
      )
    },
    async compare(config, manifest) {
      const file = manifest.files.find(({ name }) => name === fileNames.counts)
      if (file === undefined) throw new Error(`the backup has no ${fileNames.counts}`)
      // As they were copied: what was still ahead in the journal comes later.
      const differences = await compareRows(config, manifest)
      const engine = await startEngine(config)
      try {
        await caughtUp(engine, manifest, signal)
        const counts = streamCountsOf(unpack(place.read(file.name, signal), file))
        return await compareCounts(engine, counts, differences)
      } finally {
        await engine.close()
      }
    },
  }
}

/** @throws Error when a consumer of the journal cannot go on */
async function caughtUp(
  { worker }: Engine,
  { positions }: Manifest,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { shipper, decider } = await worker.status()
    if (Math.min(shipper.position, decider.position) >= positions.journalTo) break
    const problem = shipper.problem ?? decider.problem
    if (problem !== undefined) throw new Error(problem)
    await sleep(pollMs, undefined, { signal })
  }
  // Late readings are accounted for once they were looked up.
  while (!(await worker.latePlaced(undefined))) signal.throwIfAborted()
}

/** A sentence for each table that has not the rows that were copied. */
async function compareRows(config: Config, { counts }: Manifest): Promise<string[]> {
  const files = filesIn(config.dataDir)
  const state = new SqliteSnapshot(files.state)
  const stateRows = state.counts()
  state.close()
  return [
    ...differencesOf('the state', counts.stateRows, stateRows),
    ...differencesOf(
      'the time series',
      counts.timeSeriesRows,
      await timeSeriesRows(config, files, Object.keys(counts.timeSeriesRows)),
    ),
  ]
}

type Rows = Readonly<Record<string, number>>

async function timeSeriesRows(
  { timeSeries }: Config,
  files: DataFiles,
  tables: readonly string[],
): Promise<Rows> {
  if (timeSeries.kind === 'duckdb') {
    return existsSync(files.timeSeries) ? await countStoreRows(files.timeSeries) : {}
  }
  const { countServedRows } = await import('../../storage/time-series/questdb/copy/restore-rows.ts')
  return await countServedRows(timeSeries, tables)
}

function differencesOf(of: string, wanted: Rows, found: Rows): string[] {
  return Object.entries(wanted)
    .filter(([table, rows]) => found[table] !== rows)
    .map(([table, rows]) => `table ${table} of ${of} has ${found[table] ?? 'no'} rows, not ${rows}`)
}

async function compareCounts(
  { state, worker }: Engine,
  counts: ReturnType<typeof streamCountsOf>,
  ofRows: readonly string[],
): Promise<Comparison> {
  const store = new DataStreamStore(state, systemClock)
  const differences: string[] = ofRows.slice(0, listedMax)
  let differenceCount = ofRows.length
  let streams = 0
  let all = 0
  const differs = (sentence: string) => {
    if (differenceCount++ < listedMax) differences.push(sentence)
  }
  for await (const { streamId, received } of counts) {
    const decided = await store.counts(streamId as StreamId)
    const found = countersOf(decided, (await worker.progress(streamId)).counts)
    streams++
    all += found.received
    if (found.received !== received) {
      differs(`stream ${streamId} has received ${found.received} instead of ${received}`)
    } else if (found.pending > 0) {
      differs(`${found.pending} readings of stream ${streamId} are accounted for nowhere`)
    }
  }
  return { streams, received: all, differences, differenceCount }
}
