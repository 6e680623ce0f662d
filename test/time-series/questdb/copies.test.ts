import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { readServedRows } from '../../../src/storage/time-series/questdb/copy/read-rows.ts'
import { RowRestorer } from '../../../src/storage/time-series/questdb/copy/restore-rows.ts'
import { QuestDbStore } from '../../../src/storage/time-series/questdb/questdb-store.ts'
import type { DataPoint } from '../../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import type { StoreCopy } from '../../../src/storage/time-series/store-copy.ts'
import { allRolledUp, minutes, rolledUp } from '../../contracts/time-series-rollups-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import { eagerRollups, longAfter } from '../../support/rollup-history.ts'
import {
  aggregateQuery,
  allPoints,
  expire,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../../support/stored-readings.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const never = new AbortController().signal

describe.skipIf(isQuestDbMissing)('a copy of rows on a server', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  /** What a store answers that was restored from a copy; it goes on where the copy was. */
  async function restored(
    copy: StoreCopy,
    look: (store: QuestDbStore) => Promise<void>,
  ): Promise<void> {
    const [path = ''] = copy.files
    const { served } = copy
    if (!served) throw new Error('there are rows on a server')
    const server = questDb.newServer()
    const restorer = new RowRestorer(server)
    await restorer.begin()
    await restorer.restore(path, bytesOf(readServedRows(served, never)))
    await restorer.finish()
    restorer.close()
    const logger = { warn: () => undefined, error: () => undefined }
    const options = { server, path, clock: systemClock, logger, heldBytesMax: 1024 ** 3 }
    const store = new QuestDbStore(options)
    await look(store)
    await store.close()
    // They are nothing that was left.
    const another = new RowRestorer(server, { discardsCutOff: true })
    await expect(another.begin()).rejects.toThrow('already')
    another.close()
    await questDb.dropTables(server)
  }

  test('has what was there, whatever is stored, removed and expires meanwhile', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    // Some of them are in a table of their class, and some are too old for it.
    await store.arrange(new Map([['boiler', 12 * hourUs]]))
    const hours = Array.from({ length: 40 }, (_, hour) => marchUs + (hour - 20) * hourUs)
    await ship(
      store,
      hours.map((timestampUs) => storedReading({ timestampUs })),
    )
    await remove(store, { startUs: marchUs, endUs: marchUs + 2 * hourUs })
    await expire(store, { boiler: marchUs - 15 * hourUs })
    const [points, counts] = [await allPoints(store), store.counts('boiler')]
    const copy = await store.copyTo(folder.path, never)

    await ship(store, [storedReading({ timestampUs: marchUs + hourUs + 1 })])
    await remove(store, { startUs: marchUs + 5 * hourUs, endUs: marchUs + 7 * hourUs })
    await expire(store, { boiler: marchUs - hourUs })
    expect(await allPoints(store)).not.toEqual(points)

    await restored(copy, async (again) => {
      expect(await allPoints(again)).toEqual(points)
      expect(again.counts('boiler')).toEqual(counts)
      expect(again.position()).toBe(copy.position)
      // A removal that is repeated is counted as what it would have been.
      await remove(again, { startUs: marchUs + 5 * hourUs, endUs: marchUs + 7 * hourUs })
      expect(again.counts('boiler').deleted).toBe(counts.deleted + 2)
    })
    expect(store.endCopy()).toBeUndefined()
  })

  test('answers what was rolled up when it was made, whatever has come since', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb, longAfter, { rollups: eagerRollups })
    const { store } = opened
    await ship(store, minutes(4, Number))
    await rolledUp(store)
    await remove(store, { startUs: marchUs, endUs: marchUs + hourUs })
    const answer = await store.aggregate(aggregateQuery(allRolledUp))
    const copy = await store.copyTo(folder.path, never)
    await ship(store, [storedReading({ timestampUs: marchUs + 3 * hourUs + 1 })])
    await remove(store, { startUs: marchUs + hourUs, endUs: marchUs + 2 * hourUs })
    await rolledUp(store)

    await restored(copy, async (again) => {
      expect(again.totals().rollups).toMatchObject({ streams: 1, marks: 1 })
      expect(await again.aggregate(aggregateQuery(allRolledUp))).toEqual(answer)
      expect(answer.points).toMatchObject([{ count: 180 }])
    })
    expect(store.endCopy()).toBeUndefined()
  })

  test('keeps the rows of a month that has expired for as long as it is made', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    const times = [marchUs - 24 * hourUs, marchUs, marchUs + 31 * 24 * hourUs]
    await ship(
      store,
      times.map((timestampUs) => storedReading({ timestampUs })),
    )
    const copy = await store.copyTo(folder.path, never)
    await expire(store, { boiler: marchUs + hourUs })

    await restored(copy, async (again) => {
      expect((await allPoints(again)).map(({ timestampUs }) => timestampUs)).toEqual(times)
    })
    expect(store.endCopy()).toBeUndefined()
  })

  test('is of no use when a reading was removed and sent again meanwhile', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    const [removed, expired] = [storedReading(), storedReading({ timestampUs: marchUs - hourUs })]
    for (const [reading, takeAway] of [
      [removed, () => remove(store, { startUs: marchUs, endUs: marchUs + 1 })],
      [expired, () => expire(store, { boiler: marchUs - 1 })],
    ] as const) {
      await ship(store, [reading])
      await store.copyTo(folder.path, never)
      await takeAway()
      await ship(store, [reading])
      expect(store.endCopy()).toContain('sent again')
    }
    await store.copyTo(folder.path, never)
    await ship(store, [storedReading()])
    expect(store.endCopy()).toBeUndefined()
  })

  test('has each of many rows of one moment, and rows that are larger than an answer may be', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    const shape = shapeOf({ text: { type: 'string' } })
    const moments = [marchUs, marchUs + 1, marchUs + 2]
    for (const [index, timestampUs] of moments.entries()) {
      const count = index === 1 ? 9_000 : 10
      const readings = Array.from({ length: count }, () => storedReading({ timestampUs }))
      await ship(store, readings)
    }
    const large = Array.from({ length: 36 }, (_, index) => {
      const values = { text: 'x'.repeat(2_000_000) + index }
      return storedReading({ streamId: 'pump', shape, timestampUs: marchUs + index, values })
    })
    await ship(store, large)
    const copy = await store.copyTo(folder.path, never)

    await restored(copy, async (again) => {
      const points = await allPoints(again)
      expect(points).toHaveLength(9_020)
      expect(again.counts('boiler').stored).toBe(9_020)
      const texts = (await allPoints(again, { streamId: 'pump', bytesMax: 8_000_000 })).map(endOf)
      expect(texts).toEqual(large.map((_, index) => `x${index}`))
    })
    store.endCopy()
  })

  test('has values of every type, and what came beside them', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    const { store } = opened
    const shape = shapeOf({
      at: { type: 'datetime' },
      isOpen: { type: 'boolean' },
      level: { type: 'integer' },
      temperature: { type: 'number' },
      text: { type: 'string' },
      where: { type: 'object' },
    })
    const all = [
      { isOpen: false, level: Number.MAX_SAFE_INTEGER, temperature: 5e-324, text: '' },
      { isOpen: true, level: 0, temperature: Number.MAX_VALUE, text: '"\\\n\u2028😀, null' },
      { at: '2026-01-31T10:00:00.000001Z', where: { b: [1, null, 'x'], '1': { '': 0.1 } } },
      { temperature: 0.1 + 0.2, text: 'null' },
      {},
    ].map((values, index) =>
      storedReading({
        shape,
        values,
        timestampUs: index,
        digest: [0n, 1n << 63n, (1n << 64n) - 1n, 7n, (1n << 63n) - 1n][index] ?? 1n,
        ...(index > 2 && { extra: { note: 'a "b"' }, flagged: ['temperature', 'text'] }),
      }),
    )
    await ship(store, all)
    const points = await allPoints(store)
    const copy = await store.copyTo(folder.path, never)

    await restored(copy, async (again) => {
      expect(await allPoints(again)).toEqual(points)
      await ship(again, all)
      expect(again.counts('boiler')).toMatchObject({ stored: all.length, duplicates: all.length })
    })
    store.endCopy()
  })

  test('whose restore was cut off is taken by no service', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    await ship(opened.store, [storedReading(), storedReading()])
    const copy = await opened.store.copyTo(folder.path, never)
    const server = questDb.newServer()
    const restorer = new RowRestorer(server)
    const cutOff = async function* () {
      yield* bytesOf(readServedRows(copy.served ?? expect.fail(), never))
      throw new Error('cut off')
    }
    await expect(restorer.restore(copy.files[0] ?? '', cutOff())).rejects.toThrow('cut off')
    restorer.close()
    opened.store.endCopy()

    const logger = { warn: () => undefined, error: () => undefined }
    const path = folder.file('other.db')
    const options = { server, path, clock: systemClock, logger, heldBytesMax: 1024 ** 3 }
    const store = new QuestDbStore(options)
    await expect(ship(store, [storedReading()])).rejects.toThrow('another data folder')
    await store.close()
    await questDb.dropTables(server)
  })

  test('is not made of what another process of the server has', async () => {
    using folder = new TemporaryFolder()
    await using opened = await openQuestDbStore(questDb)
    await ship(opened.store, [storedReading()])
    const { served } = await opened.store.copyTo(folder.path, never)
    if (!served) throw new Error('there are rows on a server')
    const begun = readServedRows(served, never)
    await begun.next()
    await questDb.kill()
    await questDb.start()

    await expect(bytesIn(begun)).rejects.toThrow('QuestDB')
    await expect(bytesIn(readServedRows(served, never))).rejects.toThrow('restarted')
  })
})

function endOf({ values }: DataPoint): string {
  return String(values['text']).slice(-3).replace(/^x+/, 'x')
}

async function bytesIn(chunks: AsyncIterable<{ readonly bytes: Uint8Array }>): Promise<number> {
  let bytes = 0
  for await (const chunk of bytesOf(chunks)) bytes += chunk.byteLength
  return bytes
}

async function* bytesOf(
  chunks: AsyncIterable<{ readonly bytes: Uint8Array }>,
): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of chunks) yield bytes
}
