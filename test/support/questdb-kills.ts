import { QuestDb } from './questdb.ts'

/** Settings of a service, and what happens beside it in each round of a test that kills it. */
export interface Rounds {
  readonly environment: Readonly<Record<string, string>>
  readonly meanwhile: (round: number) => Promise<void>
}

/** The service alone, with its own store. */
export const undisturbed: Rounds = { environment: {}, meanwhile: async () => undefined }

/** A QuestDB that is killed in every third round, for the time of a test. */
export async function withKilledQuestDb(test: (rounds: Rounds) => Promise<void>): Promise<void> {
  await using questDb = await QuestDb.start()
  await test({
    environment: { STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDb.port}` },
    meanwhile: async (round) => {
      if (round % 3 !== 1) return
      await questDb.kill()
      await questDb.start()
    },
  })
}
