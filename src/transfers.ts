import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import { filesIn } from './config/data-folder.ts'
import { systemClock } from './core/clock.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'
import { ExportStore } from './exports/export-store.ts'
import { Exports } from './exports/exports.ts'

export type Transfers = ReturnType<typeof openTransfers>

interface TransfersNeeds {
  readonly engine: Engine
  readonly domains: Domains
  readonly config: Config
  readonly logger: Logger
}

/** Composition of what brings readings into files: nothing runs before `start`. */
export function openTransfers({ engine, domains, config, logger }: TransfersNeeds) {
  const { state, worker } = engine
  const { streams, queried } = domains
  const exportStore = new ExportStore(state, worker)
  const exportJobs = new Exports({
    state,
    writer: worker,
    clock: systemClock,
    nowUs: () => systemClock.nowUs(),
    store: exportStore,
    queried,
    loadStream: (id) => streams.load(id),
    fieldsOf: (id) => worker.fieldsOf(id),
    readLines: (request) => worker.readLines(request),
    aggregate: (query) => worker.aggregate(query),
    newestUs: (id) => newestUs(engine, id),
    folder: filesIn(config.dataDir).exports,
    bytesOfUserMax: config.exportBytesMax,
    onFailure: (error) => logger.error({ err: error }, 'an export failed'),
  })
  return {
    exportStore,
    exportJobs,
    async start() {
      await exportJobs.start()
    },
    async stop() {
      await exportJobs.stop()
    },
  }
}

async function newestUs({ worker }: Engine, id: string): Promise<number | undefined> {
  const { readings } = await worker.latest({ streamIds: [id], bytesMax: 1 })
  return readings[0]?.point.timestampUs
}
