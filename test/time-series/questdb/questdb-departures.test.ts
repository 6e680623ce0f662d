import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timeSeriesDeparturesContract } from '../../contracts/time-series-departures-contract.ts'
import { namedInSqlite } from '../../support/files-naming.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import { marchUs, shipmentOf, storedReading } from '../../support/stored-readings.ts'
import { maxOfHours } from '../../support/windowed-store.ts'
import { Written } from '../../support/written-to-questdb.ts'

const dayUs = 86_400_000_000

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  timeSeriesDeparturesContract(() => openQuestDbStore(questDb))

  test('the ledger names a stream that has left in nothing but what QuestDB has still to prove', async () => {
    await using written = new Written(questDb)
    const { writer } = written
    // No reading has come of the valve, which has a class all the same.
    await writer.arrange(new Map(['boiler', 'valve'].map((id) => [id, dayUs])))
    const readings = [storedReading(), storedReading({ streamId: 'pump' })]
    const shipment = shipmentOf(readings, writer.position())
    const [first] = shipment.readings as [ReturnType<typeof storedReading>]
    const told = new Map([[first, { version: 1, definition: maxOfHours(1) }]])
    await writer.write({ ...shipment, windows: told })
    await writer.expire([{ streamId: 'boiler', beforeUs: marchUs }], new AbortController().signal)
    expect([...writer.streamIds()].toSorted()).toEqual(['boiler', 'pump', 'valve'])
    expect(placesNaming(written.path, ['boiler', 'valve']).length).toBeGreaterThan(3)

    await writer.removeStreams(['boiler', 'valve'])

    await written.reopen()
    expect(written.writer.streamIds()).toEqual(['pump'])
    const statements = `${basename(written.path)} unproven_statements.statement`
    const places = placesNaming(written.path, ['boiler', 'valve'])
    expect(places.filter((place) => place !== statements)).toEqual([])
    expect(await written.identities('boiler')).toEqual([])
    expect(await written.identities('pump')).toHaveLength(1)
  })
})

function placesNaming(path: string, ids: readonly string[]): readonly string[] {
  return namedInSqlite(dirname(path), basename(path), ids).map(({ place }) => place)
}
