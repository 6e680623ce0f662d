import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QuestDbAway } from '../../../src/storage/time-series/questdb/connection.ts'
import { RepetitionPending } from '../../../src/storage/time-series/questdb/durability.ts'
import { quoted } from '../../../src/storage/time-series/questdb/layout.ts'
import { QuestDbSuspended } from '../../../src/storage/time-series/questdb/unapplied.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { hourUs, marchUs, shipmentOf, storedReading } from '../../support/stored-readings.ts'
import { Written } from '../../support/written-to-questdb.ts'

describe.skipIf(isQuestDbMissing)('the writer', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    // Lets a table be suspended.
    questDb = await QuestDb.start(['dev.mode.enabled=true'])
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  /** Resolves when a table is as it was changed: QuestDB answers before that. */
  async function isChanged(table: string): Promise<void> {
    const connection = questDb.connection()
    const notYet = async () => {
      const { rows } = await connection.run(
        `SELECT name FROM wal_tables() WHERE name = '${table}' AND writerTxn < sequencerTxn`,
      )
      return rows
    }
    await expect.poll(notYet).toEqual([])
    connection.close()
  }

  test('does not write over what another data folder has stored', async () => {
    const server = questDb.newServer()
    await using first = new Written(questDb, server)
    await first.writer.write(shipmentOf([storedReading()], 0))
    await using second = new Written(questDb, server)

    await expect(second.writer.write(shipmentOf([storedReading()], 0))).rejects.toThrow(
      'another data folder',
    )
  })

  test('does not go on with a server that has nothing of what it has stored', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.writer.durability.prove()
    await written.reopen({ server: questDb.newServer() })

    await expect(written.writer.write(shipmentOf([storedReading()], 1))).rejects.toThrow(
      'another server, or was emptied',
    )
  })

  test('refuses a table that somebody has changed', async () => {
    await using written = new Written(questDb)
    await written.writer.write(shipmentOf([storedReading()], 0))
    await written.run(`ALTER TABLE ${quoted(written.table)} ADD COLUMN mine INT`)
    await expect
      .poll(() =>
        written.run(`SELECT mine FROM ${quoted(written.table)}`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await written.reopen()

    await expect(written.writer.write(shipmentOf([storedReading()], 1))).rejects.toThrow(
      'other columns',
    )
  })

  test.each([
    ['keeps what comes twice', 'DEDUP DISABLE'],
    ['would take others for the same', 'DEDUP ENABLE UPSERT KEYS("timestamp", "streamId")'],
    ['drops what is old by itself', 'SET TTL 1 MONTH'],
  ])('refuses a table that %s', async (_, change) => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.settled()
    await written.run(`ALTER TABLE ${quoted(written.table)} ${change}`)
    await isChanged(written.table)
    await written.reopen()

    await expect(written.ship([storedReading()])).rejects.toThrow('ALTER TABLE')
    expect(written.writer.position()).toBe(1)
  })

  test('waits for a table that QuestDB has suspended, and goes on with it later', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading({ digest: 1n })])
    await written.settled()
    await written.run(`ALTER TABLE ${quoted(written.table)} SUSPEND WAL`)
    await written.ship([storedReading({ digest: 2n })])

    await expect(written.settled()).rejects.toThrow(QuestDbSuspended)
    const again = [storedReading({ digest: 2n }), storedReading({ digest: 3n })]
    await expect(written.ship(again)).rejects.toThrow(QuestDbSuspended)
    expect(written.writer.counts('boiler').stored).toBe(2)

    await written.run(`ALTER TABLE ${quoted(written.table)} RESUME WAL`)
    await written.ship(again)
    expect(written.writer.counts('boiler')).toMatchObject({ stored: 3, duplicates: 1 })
    expect(await written.identities()).toHaveLength(3)
  })

  test('counts once what a crash has left marked as too old, though the same comes again', async () => {
    await using written = new Written(questDb)
    const old = storedReading({ digest: 1n })
    await written.ship([old, storedReading({ timestampUs: marchUs + 2 * hourUs })])
    const expiry = { streamId: 'boiler', beforeUs: marchUs + hourUs }
    const expire = () => written.writer.expire([expiry], new AbortController().signal)
    await written.losing(expire, 'applied')

    await written.ship([old])
    await expire()

    const counts = { stored: 2, duplicates: 1, expired: 1 }
    expect(written.writer.counts('boiler')).toMatchObject(counts)
    expect(await written.identities()).toHaveLength(1)
  })

  test('goes on after QuestDB was stopped and started, and says meanwhile that it is away', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading({ digest: 1n })])
    await questDb.kill()
    const next = shipmentOf([storedReading({ digest: 1n }), storedReading({ digest: 2n })], 1)

    await expect(written.writer.write(next)).rejects.toThrow(QuestDbAway)
    await expect(written.writer.write(next)).rejects.toThrow(QuestDbAway)
    await questDb.start()
    await expect(written.writer.write(next)).rejects.toThrow(RepetitionPending)
    expect(await written.repeat()).toBe(1)
    await written.writer.write(next)

    expect(written.writer.counts('boiler')).toMatchObject({ stored: 2, duplicates: 1 })
    expect(await written.identities()).toHaveLength(2)
  })

  test('sets aside single readings that QuestDB does not take, and stores all others', async () => {
    await using written = new Written(questDb)
    const integers = shapeOf({ count: { type: 'integer' } })
    const unknownToServer = storedReading({ shape: integers, values: { count: 1e300 } })
    const unknownToProtocol = storedReading({ values: { temperature: 'hot' } })
    const good = Array.from({ length: 9 }, () => storedReading())
    const readings = [...good.slice(0, 4), unknownToServer, unknownToProtocol, ...good.slice(4)]

    await written.writer.write(shipmentOf(readings, 0))
    await written.reopen()

    const counts = { received: 11, stored: 9, duplicates: 0, refused: 2 }
    expect(written.writer.counts('boiler')).toMatchObject(counts)
    expect(written.writer.position()).toBe(11)
    expect(await written.identities()).toHaveLength(9)
    expect(written.log.filter((line) => line.includes('does not take'))).toHaveLength(2)
    const all = { streamId: 'boiler', after: -1, limit: 10, bytesMax: 1_000 }
    const fourth = expect.objectContaining({ entry: 4, values: '{"count":1e+300}' }) as unknown
    const fifth = expect.objectContaining({ entry: 5, values: '{"temperature":"hot"}' }) as unknown
    const { writer } = written
    expect(writer.refused(all)).toEqual({ readings: [fourth, fifth], hasMore: false })
    expect(writer.refused({ ...all, limit: 1 })).toEqual({ readings: [fourth], hasMore: true })
    expect(writer.refused({ ...all, bytesMax: 1 })).toEqual({ readings: [fourth], hasMore: true })
    expect(writer.refused({ ...all, after: 4 })).toEqual({ readings: [fifth], hasMore: false })
    expect(writer.refused({ ...all, streamId: 'pump' }).readings).toEqual([])
  })

  test('marks all readings of a stream that leaves as removed, and keeps only its counts', async () => {
    await using written = new Written(questDb)
    const readings = [storedReading(), storedReading(), storedReading({ streamId: 'pump' })]
    await written.writer.write(shipmentOf(readings, 0))

    await written.writer.removeStreams(['boiler'])
    await written.writer.removeStreams(['boiler'])

    expect(await written.identities()).toEqual([])
    expect(written.writer.streamIds()).toEqual(['pump'])
    expect(written.writer.totals()).toMatchObject({ streams: 1, received: 3, stored: 3 })
    expect(await written.identities('pump')).toHaveLength(1)
  })
})
