import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timeSeriesExpiryContract } from '../../contracts/time-series-expiry-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import {
  allPoints,
  expire,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../../support/stored-readings.ts'
import { Written } from '../../support/written-to-questdb.ts'

const dayUs = 24 * hourUs

describe.skipIf(isQuestDbMissing)('readings of streams that keep them for some time', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  /** Rows that lie on the disk, removed or not, by the ending of their tables. */
  async function rowsOf(written: Written): Promise<Record<string, number>> {
    await written.settled()
    const connection = questDb.connection()
    const { rows: tables } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${written.table}')`,
    )
    const found: Record<string, number> = {}
    for (const [table] of tables) {
      const { rows } = await connection.run(`SELECT count() FROM "${String(table)}"`)
      found[String(table).slice(written.table.length)] = Number(rows[0]?.[0])
    }
    connection.close()
    return found
  }

  // Readings of both kinds come in the contract: as they are, and too old for their class.
  timeSeriesExpiryContract(async (clock) => {
    const opened = await openQuestDbStore(questDb, clock)
    await opened.store.arrange(new Map([['boiler', 20 * dayUs]]))
    return opened
  })

  test('stay when what goes lies in the same day', async () => {
    await using written = new Written(questDb)
    const { writer } = written
    await writer.arrange(new Map([['boiler', 20 * dayUs]]))
    const hours = [18, 20, 30]
    await written.ship(hours.map((hour) => storedReading({ timestampUs: marchUs + hour * hourUs })))
    const expireBefore = async (hour: number) => {
      const expiries = [{ streamId: 'boiler', beforeUs: marchUs + hour * hourUs }]
      await writer.expire(expiries, new AbortController().signal)
    }
    await expireBefore(19)
    expect(await written.identities()).toHaveLength(2)
    await expireBefore(21)
    expect(await written.identities()).toHaveLength(1)
    expect(writer.counts('boiler')).toMatchObject({ stored: 3, expired: 2 })
  })

  test('free the disk when they go, whatever others keep', async () => {
    await using written = new Written(questDb)
    const { writer } = written
    await writer.arrange(
      new Map([
        ['boiler', hourUs],
        ['pump', 3 * dayUs],
        ['valve', 9_000 * dayUs],
      ]),
    )
    for (let hour = 0; hour < 96; hour++) {
      const timestampUs = marchUs + hour * hourUs
      const notes = { timestampUs, receivedAtUs: timestampUs }
      await written.ship(
        ['boiler', 'pump', 'valve', 'fan'].map((streamId) => storedReading({ ...notes, streamId })),
      )
    }
    expect(await rowsOf(written)).toEqual({ '': 192, _12h: 96, _8d: 96 })
    await writer.expire(
      [
        { streamId: 'boiler', beforeUs: marchUs + 95 * hourUs },
        { streamId: 'pump', beforeUs: marchUs + 24 * hourUs },
      ],
      new AbortController().signal,
    )
    expect(await rowsOf(written)).toEqual({ '': 192, _12h: 1, _8d: 72 })
    expect(writer.counts('boiler')).toMatchObject({ stored: 96, expired: 95 })
    expect(await written.identities('boiler')).toHaveLength(1)
    expect(await written.identities('pump')).toHaveLength(72)
  })

  test('stand in nobody’s way: what nothing lives in goes, also behind what is kept for longer', async () => {
    await using written = new Written(questDb)
    await written.writer.arrange(new Map(['boiler', 'pump'].map((id) => [id, 10 * hourUs])))
    const hours = Array.from({ length: 8 }, (_, hour) => marchUs - hour * hourUs)
    await written.ship(hours.map((timestampUs) => storedReading({ timestampUs })))
    await written.ship([storedReading({ streamId: 'pump', timestampUs: marchUs - 5 * hourUs })])

    const expiries = [{ streamId: 'boiler', beforeUs: marchUs }]
    await written.writer.expire(expiries, new AbortController().signal)

    expect(await rowsOf(written)).toEqual({ _12h: 3 })
    expect(await written.identities('pump')).toHaveLength(1)
  })

  test('are the same readings when the time changes: none is stored twice, each is found and removed', async () => {
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    const times = [0, 1, 2].map((hour) => marchUs - hour * hourUs)
    const readings = times.map((timestampUs) => storedReading({ timestampUs }))
    for (const [index, keptUs] of [undefined, 5 * hourUs, 100 * dayUs, undefined].entries()) {
      await store.arrange(new Map(keptUs === undefined ? [] : [['boiler', keptUs]]))
      await ship(store, readings.slice(0, index))
    }
    expect(store.counts('boiler')).toMatchObject({ stored: 3, duplicates: 3 })
    const points = await allPoints(store)
    expect(points.map(({ timestampUs }) => timestampUs)).toEqual(times.toReversed())
    await opened.reopen()
    await ship(opened.store, readings)
    expect(opened.store.counts('boiler')).toMatchObject({ stored: 3, duplicates: 6 })

    await remove(opened.store, { startUs: marchUs - hourUs, endUs: marchUs + 1 })
    expect(opened.store.counts('boiler').deleted).toBe(2)
    await expire(opened.store, { boiler: marchUs + 1 })
    expect(await allPoints(opened.store)).toEqual([])
  })

  test('are stored once when what was sent before a crash gets to another table after it', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading({ timestampUs: marchUs - hourUs })])
    const readings = [storedReading(), storedReading()]
    await written.losing(async () => await written.ship(readings), 'applied')

    await written.writer.arrange(new Map([['boiler', hourUs]]))
    await written.ship(readings)

    expect(await written.identities()).toHaveLength(3)
    expect(written.writer.counts('boiler')).toMatchObject({ stored: 3, duplicates: 0 })
  })

  test('are sent again to the table that they were in', async () => {
    await using written = new Written(questDb)
    for (const keptUs of [hourUs, 40 * hourUs, 9_000 * dayUs]) {
      await written.writer.arrange(new Map([['boiler', keptUs]]))
      await written.ship([storedReading()])
    }
    const before = await rowsOf(written)
    await questDb.kill()
    await questDb.start()

    expect(await written.repeat()).toBe(3)
    expect(await rowsOf(written)).toEqual({ '': 1, _12h: 1, _2d: 1 })
    expect(before).toEqual({ '': 1, _12h: 1, _2d: 1 })
    expect(await written.identities()).toHaveLength(3)
  })

  test('come to the tables that there are, whatever a device says about its time', async () => {
    await using written = new Written(questDb)
    await written.writer.arrange(new Map([['boiler', hourUs]]))
    const years = Array.from({ length: 50 }, (_, year) => Date.UTC(1975 + year, 0) * 1_000)
    await written.ship(years.map((timestampUs) => storedReading({ timestampUs })))
    await written.ship([storedReading({ timestampUs: marchUs + 2 * dayUs })])

    expect(await rowsOf(written)).toEqual({ '': 51 })
  })
})
