import { afterAll, beforeAll, describe } from 'vitest'
import { timeSeriesWindowEndsContract } from '../../contracts/time-series-window-ends-contract.ts'
import { timeSeriesWindowsContract } from '../../contracts/time-series-windows-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  timeSeriesWindowsContract((clock) => openQuestDbStore(questDb, clock), 12)
  timeSeriesWindowEndsContract(() => openQuestDbStore(questDb))
})
