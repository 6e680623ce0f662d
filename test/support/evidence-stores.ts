import { isQuestDbMissing, QuestDb } from './questdb.ts'

/** A time-series store that a service can be started with. */
export interface EvidenceStore {
  readonly name: string
  readonly isLeftOut: boolean
  readonly start: () => Promise<StartedStore>
}

interface StartedStore {
  readonly settings: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** Both of them: what evidence shows does not depend on which. */
export const evidenceStores: readonly EvidenceStore[] = [
  {
    name: 'DuckDB',
    isLeftOut: false,
    start: async () => ({ settings: {}, stop: async () => undefined }),
  },
  {
    name: 'QuestDB',
    isLeftOut: isQuestDbMissing,
    async start() {
      const server = await QuestDb.start()
      const settings = { STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${server.port}` }
      return { settings, stop: async () => await server.stop() }
    },
  },
]
