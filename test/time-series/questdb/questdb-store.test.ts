import { afterAll, beforeAll, describe } from 'vitest'
import { timeSeriesContract } from '../../contracts/time-series-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  timeSeriesContract((clock) => openQuestDbStore(questDb, clock))
})
