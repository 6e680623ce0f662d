import { afterAll, beforeAll, describe } from 'vitest'
import { timeSeriesAggregationContract } from '../../contracts/time-series-aggregation-contract.ts'
import { timeSeriesSplitContract } from '../../contracts/time-series-split-contract.ts'
import { timeSeriesTimeWeightsContract } from '../../contracts/time-series-time-weights-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  describe('aggregation', () => timeSeriesAggregationContract(() => openQuestDbStore(questDb)))
  describe('series of values', () => timeSeriesSplitContract(() => openQuestDbStore(questDb)))
  describe('averages by time', () => timeSeriesTimeWeightsContract(() => openQuestDbStore(questDb)))
})
