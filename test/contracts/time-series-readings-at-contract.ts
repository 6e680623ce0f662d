import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { hourUs, marchUs, remove, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

const bytesMax = 1_000_000

/** What every store promises of the readings of one time. */
export function timeSeriesReadingsAtContract(open: OpenNewStore): void {
  const sent = fc.record({
    /** In different months, too. */
    hour: fc.constantFrom(0, 1, 31 * 24),
    digest: fc.bigInt({ min: 1n, max: 4n }),
  })

  test('each reading of the time once, with when it came first', async () => {
    const shipments = fc.array(fc.array(sent, { maxLength: 6 }), { maxLength: 4 })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(shipments, async (all) => {
          const streamId = newStream()
          const first = new Map<string, ShippedReading>()
          let lastUs = marchUs
          for (const shipment of all) {
            const readings = shipment.map(({ hour, digest }) => {
              const timestampUs = marchUs + hour * hourUs
              lastUs++
              const extra = { digest: `${digest}` }
              return storedReading({ streamId, timestampUs, receivedAtUs: lastUs, digest, extra })
            })
            await ship(store, readings)
            for (const reading of readings) {
              const key = `${reading.timestampUs} ${reading.digest}`
              if (!first.has(key)) first.set(key, reading)
            }
          }
          for (const hour of [0, 1, 31 * 24]) {
            const timestampUs = marchUs + hour * hourUs
            const query = { streamId, timestampUs, limit: 100, bytesMax }
            const { points, hasMore, position } = await store.readingsAt(query)
            const expected = [...first.values()]
              .filter((reading) => reading.timestampUs === timestampUs)
              .sort((left, right) => Number(left.digest - right.digest))
            expect(
              points.map(({ digest, receivedAtUs, extra }) => [digest, receivedAtUs, extra]),
            ).toEqual(
              expected.map(({ digest, receivedAtUs }) => {
                return [digest, receivedAtUs, { digest: `${digest}` }]
              }),
            )
            expect(hasMore).toBe(false)
            expect(position).toBe(store.position())
          }
        }),
        { numRuns: 30 },
      )
    })
  })

  test('those that are removed are not among them', async () => {
    await using opened = await open()
    const { store } = opened
    await ship(store, [storedReading(), storedReading({ timestampUs: marchUs + 1 })])
    await remove(store, { startUs: marchUs, endUs: marchUs + 1 })

    const at = async (timestampUs: number) =>
      (await store.readingsAt({ streamId: 'boiler', timestampUs, limit: 100, bytesMax })).points
    expect(await at(marchUs)).toEqual([])
    expect(await at(marchUs + 1)).toHaveLength(1)
  })

  test('ends at its limit, and says that there are more', async () => {
    await using opened = await open()
    const { store } = opened
    const readings = Array.from({ length: 5 }, () => storedReading())
    await ship(store, readings)

    const query = { streamId: 'boiler', timestampUs: marchUs, bytesMax }
    const some = await store.readingsAt({ ...query, limit: 3 })
    expect(some.points.map(({ digest }) => digest)).toEqual(
      readings.slice(0, 3).map(({ digest }) => digest),
    )
    expect(some.hasMore).toBe(true)
    const few = await store.readingsAt({ ...query, limit: 100, bytesMax: 1 })
    expect(few.points).toHaveLength(1)
    expect(few.hasMore).toBe(true)
    const all = await store.readingsAt({ ...query, limit: 5 })
    expect(all.points).toHaveLength(5)
    expect(all.hasMore).toBe(false)
  })

  test('of a stream that has none there are none', async () => {
    await using opened = await open()
    const query = { streamId: 'boiler', timestampUs: marchUs, limit: 100, bytesMax }
    expect(await opened.store.readingsAt(query)).toEqual({
      points: [],
      hasMore: false,
      position: 0,
    })
  })
}
