import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { filesIn } from '../../config/data-folder.ts'
import { systemClock } from '../../core/clock.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { assertSpace } from '../../reading/exports/export-run.ts'
import { ExportStore } from '../../reading/exports/export-store.ts'
import { openExports } from '../../reading/exports/exports.ts'
import type { ImportJob } from '../../reading/imports/import-job.ts'
import { ImportRun } from '../../reading/imports/import-run.ts'
import { ImportStore } from '../../reading/imports/import-store.ts'
import { Spool, spooledName } from '../../reading/imports/spool.ts'
import { BackgroundJobs } from '../../reading/jobs/background-jobs.ts'
import type { AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { LinesRequest } from '../worker/worker-contract.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'

export type Transfers = ReturnType<typeof openTransfers>

interface TransfersNeeds {
  readonly engine: Engine
  readonly domains: Domains
  readonly config: Config
  readonly logger: Logger
}

/** Composition of what brings readings into files, and files into streams: nothing runs before `start`. */
export function openTransfers({ engine, domains, config, logger }: TransfersNeeds) {
  const { state, worker } = engine
  const { streams, queried } = domains
  const exportStore = new ExportStore(state, worker)
  const exporting = {
    state,
    clock: systemClock,
    nowUs: () => systemClock.nowUs(),
    store: exportStore,
    queried,
    loadStream: (id: StreamId) => streams.load(id),
    fieldsOf: (id: string) => worker.fieldsOf(id),
    readLines: (request: LinesRequest) => worker.store.readLines(request),
    aggregate: (query: AggregateQuery) => worker.store.aggregate(query),
    windows: (query: StoredWindowsQuery) => worker.store.windows(query),
    newestUs: (id: string) => newestUs(engine, id),
    folder: filesIn(config.dataDir).exports,
    bytesOfUserMax: config.exportBytesMax,
    onFailure: (error: unknown) => logger.error({ err: error }, 'an export failed'),
  }
  const exportJobs = openExports(exporting)
  const imports = openImports({ engine, domains, config, logger })
  return {
    ...imports,
    exportStore,
    exportJobs,
    assertSpace: (ownerId: UserId) => assertSpace(exporting, ownerId),
    async start() {
      await exportJobs.start()
      await imports.importJobs.start()
    },
    async stop() {
      await Promise.all([exportJobs.stop(), imports.importJobs.stop()])
    },
  }
}

/** Imports that run at once: each has a process, and brings rows to the journal one slice after the other. */
const importsAtOnceMax = 2

function openImports({ engine, domains, config, logger }: TransfersNeeds) {
  const { state, worker, journal, entries, receipts, directory } = engine
  const folder = filesIn(config.dataDir).imports
  const importStore = new ImportStore(state, worker)
  const head = async () => (await journal.status()).head
  const importJobs: BackgroundJobs<ImportJob> = new BackgroundJobs<ImportJob>({
    store: importStore,
    folder,
    atOnceMax: importsAtOnceMax,
    clock: systemClock,
    onFailure: (error) => logger.error({ err: error }, 'an import failed'),
    open: (job, signal) => new ImportRun(needs, job, signal),
  })
  const needs = {
    store: importStore,
    commits: entries,
    receipts,
    findStream: (id: StreamId) => directory.find(id),
    lag: async () => (await head()) - (await worker.status()).shipper.position,
    decided: () => domains.processing.caughtUp(),
    stored: async (id: StreamId) =>
      (await worker.stored(await head())) && (await worker.latePlaced(id)),
    duplicatesOf: async (id: StreamId) => (await worker.progress(id)).counts.duplicates,
    pathOf: ({ id }: ImportJob) => importJobs.pathOf(id, spooledName),
  }
  const { importBytesMax } = config
  const spool = new Spool({ folder, bytesMax: importBytesMax })
  return { importStore, importJobs, spool }
}

async function newestUs({ worker }: Engine, id: string): Promise<number | undefined> {
  const { readings } = await worker.store.latest({ streamIds: [id], bytesMax: 1 })
  return readings[0]?.point.timestampUs
}
