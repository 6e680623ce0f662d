import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shapeOf } from '../../../src/time-series/shape.ts'
import { timeSeriesDeparturesContract } from '../../contracts/time-series-departures-contract.ts'
import { namedInSqlite } from '../../support/files-naming.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import { hourUs, ship, storedReading } from '../../support/stored-readings.ts'
import { computeUntil, maxOfHours, shipHours } from '../../support/windowed-store.ts'
import { Written } from '../../support/written-to-questdb.ts'

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  timeSeriesDeparturesContract(() => openQuestDbStore(questDb))
})
