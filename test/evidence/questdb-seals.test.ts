import { afterAll, beforeAll, describe } from 'vitest'
import { describeSeals } from '../contracts/seals-contract.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { openQuestDbStore } from '../support/questdb-store.ts'

describe.skipIf(isQuestDbMissing)('with a server of QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  describeSeals('readings in QuestDB', (clock) => openQuestDbStore(questDb, clock), 15)
})
