import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { type DataFiles, filesIn } from '../../config/data-folder.ts'
import { systemClock } from '../../core/clock.ts'
import type { StreamId } from '../../core/ids.ts'
import { surveyPlace } from '../../files/contents/content-survey.ts'
import { parseBackupAddress } from '../../operating/backup/backup-place.ts'
import { fileNames, hasFilesInBucket, type Manifest } from '../../operating/backup/manifest.ts'
import { openPlace } from '../../operating/backup/open-place.ts'
import { unpack } from '../../operating/backup/packing.ts'
import { streamCountsOf } from '../../operating/backup/received-counts.ts'
import {
  type OnProgress,
  type ReadBackup,
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
  /** Compares every file with the manifest, and hashes the files of users. @throws DamagedBackup */
  verify(onProgress: OnProgress): Promise<ReadBackup>
  /** Makes the data folder that the settings name. @throws DamagedBackup; Error when the folder is not empty */
  restore(settings: RestoreSettings, onProgress: OnProgress): Promise<ReadBackup>
  /**
   * Compares the files of users with what the state knows, processes what is in the journal of a
   * restored folder, and compares the counts of all streams.
   */
  compare(config: Config, read: ReadBackup): Promise<Comparison>
}

export interface RestoreSettings extends Pick<Config, 'dataDir' | 'timeSeries' | 'filesAddress'> {
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
    restore: async (settings, onProgress) => {
      const { dataDir, timeSeries, filesAddress, discardsCutOff = false } = settings
      const target = { dataDir, rows: undefined, hasBucket: filesAddress.kind === 's3' }
      if (timeSeries.kind === 'duckdb') return await restoreBackup(restoring(onProgress), target)
      const { RowRestorer } = await import('../../storage/time-series/questdb/copy/restore-rows.ts')
      const receiver = new RowRestorer(timeSeries, { discardsCutOff })
      return await restoreBackup(restoring(onProgress), { ...target, rows: receiver }).finally(() =>
        receiver.close(),
      )
    },
    async compare(config, { manifest, contents }) {
      const file = manifest.files.find(({ name }) => name === fileNames.counts)
      if (file === undefined) throw new Error(`the backup has no ${fileNames.counts}`)
      // As they were copied: what was still ahead in the journal comes later.
      const differences = new Differences()
      await compareRows(differences, config, manifest)
      await compareContents(differences, config, { manifest, contents })
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

/** Tables that have not the rows that were copied. */
async function compareRows(
  differences: Differences,
  config: Config,
  { counts }: Manifest,
): Promise<void> {
  const files = filesIn(config.dataDir)
  const state = new SqliteSnapshot(files.state)
  const stateRows = state.counts()
  state.close()
  const storedRows = await timeSeriesRows(config, files, Object.keys(counts.timeSeriesRows))
  differences.addAll(differencesOf('the state', counts.stateRows, stateRows))
  differences.addAll(differencesOf('the time series', counts.timeSeriesRows, storedRows))
}

/** Files of users that the state knows, and that are not where the settings say, if they do. */
async function compareContents(
  differences: Differences,
  { dataDir, filesAddress: address }: Config,
  { manifest, contents }: ReadBackup,
): Promise<void> {
  if (hasFilesInBucket(manifest) && address.kind === 'folder') return
  const { state, files: folder } = filesIn(dataDir)
  const { lost, lostCount } = await surveyPlace(state, { address, folder })
  const reasons = new Map(contents.lost.map(({ cid, reason }) => [cid, reason]))
  const sentences = lost.map(({ cid, size, found }) => {
    if (found !== undefined) return `content ${cid} has ${found} bytes, not ${size}`
    return reasons.get(cid) ?? `content ${cid} is missing`
  })
  differences.addAll(sentences, lostCount)
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
  differences: Differences,
): Promise<Comparison> {
  const store = new DataStreamStore(state, systemClock)
  let streams = 0
  let all = 0
  for await (const { streamId, received } of counts) {
    const decided = await store.counts(streamId as StreamId)
    const found = countersOf(decided, (await worker.progress(streamId)).counts)
    streams++
    all += found.received
    if (found.received !== received) {
      const sentence = `stream ${streamId} has received ${found.received} instead of ${received}`
      differences.addAll([sentence])
    } else if (found.pending > 0) {
      const sentence = `${found.pending} readings of stream ${streamId} are accounted for nowhere`
      differences.addAll([sentence])
    }
  }
  return {
    streams,
    received: all,
    differences: differences.listed,
    differenceCount: differences.count,
  }
}

/** What was found to be different: a sentence each, as far as there is room for them. */
class Differences {
  readonly #listed: string[] = []
  #count = 0

  get listed(): readonly string[] {
    return this.#listed
  }

  get count(): number {
    return this.#count
  }

  /** @param count how many there are, where these are only the first of them */
  addAll(sentences: readonly string[], count = sentences.length): void {
    this.#count += count
    this.#listed.push(...sentences.slice(0, listedMax - this.#listed.length))
  }
}
