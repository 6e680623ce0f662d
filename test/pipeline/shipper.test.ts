import { describe, expect, test } from 'vitest'
import type { FieldDefinition } from '../../src/contracts/stream-schema.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { Shipper } from '../../src/ingest/pipeline/shipper.ts'
import type { JournalBatch } from '../../src/storage/journal/journal.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { Shipment } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { journalled, written } from '../support/journalled-readings.ts'

const shape = shapeOf({ temperature: { type: 'number' } })

/** A journal of batches with so many readings each, as its reader hands it out from an offset. */
function journalOf(streamId: StreamId, counts: readonly number[]) {
  let firstOffset = 0
  const batches = counts.map((count): JournalBatch => {
    const readings = Array.from({ length: count }, (_, index) =>
      journalled({ streamId, timestampUs: firstOffset + index }),
    )
    const batch = { firstOffset, count, bytes: written(readings).bytes }
    firstOffset += count
    return batch
  })
  return (from: number) => batches.filter((batch) => batch.firstOffset + batch.count > from)
}

/** A real store that refuses shipments of more entries than it is told to take. */
async function started(counts: readonly number[]) {
  const opened = await openDuckDbStore()
  const streamId = newId<StreamId>()
  const shipped: [from: number, entries: number][] = []
  let entriesMax = Number.POSITIVE_INFINITY
  const { store } = opened
  const limited: Pick<TimeSeriesStore, 'position' | 'write'> = {
    position: () => store.position(),
    async write(shipment: Shipment) {
      const entries = shipment.nextOffset - shipment.from
      shipped.push([shipment.from, entries])
      if (entries > entriesMax) throw new Error('that is too much at once')
      await store.write(shipment)
    },
  }
  const shipper = new Shipper({
    store: limited as TimeSeriesStore,
    loadVersion: async () => ({ shape }),
  })
  const journal = journalOf(streamId, counts)
  return {
    opened,
    shipped,
    limit: (entries: number) => {
      entriesMax = entries
    },
    handle: async () => await shipper.handle(journal(shipper.position())),
    counts: () => store.counts(streamId),
  }
}

describe('a shipment that fails', () => {
  test('is halved until it is small enough, and grows again once that went well', async () => {
    const { opened, shipped, limit, handle, counts } = await started([300, 700, 200])
    await using _ = opened
    limit(160)
    for (let attempt = 0; attempt < 3; attempt++) await expect(handle()).rejects.toThrow('too much')
    await handle()
    limit(Number.POSITIVE_INFINITY)
    while (opened.store.position() < 1_200) await handle()

    expect(shipped).toEqual([
      [0, 1_200],
      [0, 600],
      [0, 300],
      [0, 150],
      [150, 300],
      [450, 600],
      [1_050, 150],
    ])
    expect(counts()).toMatchObject({ received: 1_200, stored: 1_200, duplicates: 0 })
  })

  test('is tried with a single entry at last, however often that fails', async () => {
    const { opened, shipped, limit, handle } = await started([5])
    await using _ = opened
    limit(0)
    for (let attempt = 0; attempt < 5; attempt++) await expect(handle()).rejects.toThrow('too much')

    expect(shipped.map(([, entries]) => entries)).toEqual([5, 2, 1, 1, 1])
  })
})

test('no shipment into one table has more than 10,000 entries, and what is left is shipped next', async () => {
  const { opened, shipped, handle, counts } = await started([6_000, 6_000, 1])
  await using _ = opened
  await handle()
  await handle()

  expect(shipped).toEqual([
    [0, 10_000],
    [10_000, 2_001],
  ])
  expect(counts()).toMatchObject({ received: 12_001, stored: 12_001, duplicates: 0 })
})

test('streams of many shapes that take turns are shipped together, and more of them at once', async () => {
  const opened = await openDuckDbStore()
  await using _ = opened
  const { store } = opened
  const [shapes, entries] = [30, 12_000]
  const streamIds = Array.from({ length: shapes }, () => newId<StreamId>())
  const shapeOfStream = new Map(
    streamIds.map((id, index) => [id, shapeOf({ [`field${index}`]: { type: 'number' } })]),
  )
  const shipper = new Shipper({
    store,
    loadVersion: async (id) => ({ shape: shapeOfStream.get(id as StreamId) ?? shape }),
  })
  const readings = Array.from({ length: entries }, (_reading, index) =>
    journalled({ streamId: streamIds[index % shapes] as StreamId, timestampUs: index }),
  )
  await shipper.handle([{ firstOffset: 0, count: entries, bytes: written(readings).bytes }])

  expect(store.position()).toBe(entries)
  expect(store.totals().stored).toBe(entries)
  expect(shipper.entriesWanted).toBe(shapes * (400 + 5))
})

test('of thousands of streams more entries are shipped at once', async () => {
  const opened = await openDuckDbStore()
  await using _ = opened
  const entries = 3_000
  const shipper = new Shipper({ store: opened.store, loadVersion: async () => ({ shape }) })
  const readings = Array.from({ length: entries }, (_reading, index) =>
    journalled({ streamId: newId<StreamId>(), timestampUs: index }),
  )
  await shipper.handle([{ firstOffset: 0, count: entries, bytes: written(readings).bytes }])

  expect(shipper.entriesWanted).toBe(400 + entries * 5)
})

test('tells by when what came in is stored, whatever older readings are entered once more', async () => {
  const opened = await openDuckDbStore()
  await using _ = opened
  const shipper = new Shipper({ store: opened.store, loadVersion: async () => ({ shape }) })
  const [streamId, dayUs, nowUs] = [newId<StreamId>(), 86_400_000_000, 9 * 86_400_000_000]
  const batches = [5, 6, 3].map((day, firstOffset): JournalBatch => {
    const reading = journalled({ streamId, timestampUs: firstOffset, receivedAtUs: day * dayUs })
    return { firstOffset, count: 1, bytes: written([reading]).bytes }
  })
  const head = batches.length + 1
  const told: number[] = [shipper.storedUntilUs(head, nowUs)]
  for (const batch of batches) {
    await shipper.handle([batch])
    told.push(shipper.storedUntilUs(head, nowUs) / dayUs)
  }

  expect(told).toEqual([0, 5, 6, 6])
  expect(shipper.storedUntilUs(head, 2 * dayUs)).toBe(2 * dayUs)
  expect(shipper.storedUntilUs(batches.length, nowUs)).toBe(nowUs)
})

test('each reading is stored as its own version says, however versions take turns', async () => {
  const opened = await openDuckDbStore()
  await using _ = opened
  const { store } = opened
  const shapes = ['number', 'string', 'boolean'].map((type) =>
    shapeOf({ temperature: { type } as FieldDefinition }),
  )
  const stored: (string | undefined)[] = []
  const shipper = new Shipper({
    store: {
      position: () => store.position(),
      async write(shipment: Shipment) {
        stored.push(...shipment.readings.map((reading) => reading.shape.id))
        await store.write(shipment)
      },
    } as TimeSeriesStore,
    loadVersion: async (_id, version) => ({ shape: shapes[version] ?? shape }),
  })
  const versions = [0, 1, 0, 2, 2, 1, 1, 0]
  const streamId = newId<StreamId>()
  const readings = versions.map((version, index) =>
    journalled({ streamId, version, timestampUs: index }),
  )
  await shipper.handle([{ firstOffset: 0, count: readings.length, bytes: written(readings).bytes }])

  expect(stored).toEqual(versions.map((version) => shapes[version]?.id))
  expect(store.counts(streamId)).toMatchObject({ received: readings.length })
})
