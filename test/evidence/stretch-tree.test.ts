import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { treeOfStretch } from '../../src/evidence/seals/stretch-tree.ts'
import { crowdedTimesContract } from '../contracts/crowded-times-contract.ts'
import { stretchTreeContract } from '../contracts/stretch-tree-contract.ts'
import { textsOf } from '../contracts/time-series-texts-contract.ts'
import { anyNotes, anyReading } from '../support/any-readings.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { openQuestDbStore } from '../support/questdb-store.ts'
import { hourUs, marchUs, ship } from '../support/stored-readings.ts'

describe.each([
  ['at once', {}],
  ['later, and stored in portions', { lookUpRowsMax: 0, rowsPerLateTable: 2 }],
] as const)('DuckDB, with late readings looked up %s', (_, options) => {
  stretchTreeContract((clock: Clock = systemClock) => openDuckDbStore(clock, options))
  crowdedTimesContract((clock: Clock = systemClock) => openDuckDbStore(clock, options))
})

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  stretchTreeContract((clock) => openQuestDbStore(questDb, clock))
  crowdedTimesContract((clock) => openQuestDbStore(questDb, clock))

  test('and DuckDB have the same texts and the same tree of the same readings', async () => {
    await using quest = await openQuestDbStore(questDb)
    await using duck = await openDuckDbStore()
    let streams = 0
    await fc.assert(
      fc.asyncProperty(anyNotes, async (notes) => {
        const streamId = `stream-${++streams}`
        const readings = notes.map((one) => anyReading(streamId, one).reading)
        for (const { store } of [quest, duck]) await ship(store, readings)

        const found = await Promise.all(
          [quest, duck].map(async ({ store }) => ({
            texts: await textsOf(store, streamId),
            tree: await treeOfStretch(store, {
              streamId,
              startUs: marchUs,
              endUs: marchUs + hourUs,
            }),
          })),
        )
        expect(found[0]).toEqual(found[1])
      }),
      { numRuns: 30 },
    )
  })
})
