import { afterAll, beforeAll, describe } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { timeSeriesContract } from '../../contracts/time-series-contract.ts'
import { timeSeriesExpiryContract } from '../../contracts/time-series-expiry-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  const open = (clock?: Clock) => openQuestDbStore(questDb, clock)

  timeSeriesContract(open)
  timeSeriesExpiryContract(open)
})
