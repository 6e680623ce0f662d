import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../../src/storage/time-series/shipment.ts'
import { openDuckDbStore } from '../../support/duckdb-store.ts'
import {
  allPoints,
  expire,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../../support/stored-readings.ts'

const streams = ['boiler', 'pump'] as const
const shapes = [
  shapeOf({ temperature: { type: 'number' } }),
  shapeOf({ temperature: { type: 'number' }, humidity: { type: 'number' } }),
] as const

/** A time among few, over two months, so that much comes twice and much is removed. */
const timeUs = fc.nat(30).map((step) => marchUs + (step - 15) * hourUs)

const reading = fc.record({
  streamId: fc.constantFrom(...streams),
  shape: fc.constantFrom(0, 1),
  timestampUs: timeUs,
  digest: fc.nat(2),
})

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ship' as const),
      readings: fc.array(reading, { maxLength: 25 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      streamId: fc.constantFrom(...streams, 'unknown'),
      startUs: timeUs,
      endUs: timeUs,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('expire' as const),
      beforeUs: fc.record({ boiler: fc.option(timeUs), pump: fc.option(timeUs) }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
)

/** What has to be there, and to be counted, of one stream. */
class Model {
  readonly #there = new Map<string, number>()
  #expiredToUs = 0
  received = 0
  stored = 0
  duplicates = 0
  deleted = 0
  expired = 0
  keptFromUs = 0

  take({ timestampUs, digest }: ShippedReading): void {
    const identity = `${timestampUs} ${digest}`
    this.received++
    if (this.#there.has(identity)) this.duplicates++
    else this.stored++
    this.#there.set(identity, timestampUs)
  }

  remove(startUs: number, endUs: number): void {
    this.deleted += this.#forget(startUs, endUs)
  }

  /** What has come late waits until the time moves on, or the store is opened again. */
  expire(beforeUs: number): void {
    if (this.#there.size === 0 || this.#expiredToUs >= beforeUs) return
    this.expired += this.#forget(0, beforeUs)
    this.#expiredToUs = beforeUs
    this.keptFromUs = Math.max(this.keptFromUs, beforeUs)
  }

  reopen(): void {
    this.#expiredToUs = 0
  }

  #forget(startUs: number, endUs: number): number {
    const before = this.#there.size
    for (const [identity, timestampUs] of this.#there) {
      if (timestampUs >= startUs && timestampUs < endUs) this.#there.delete(identity)
    }
    return before - this.#there.size
  }

  /** Time and digest of the newest, of one time the one with the greatest digest. */
  get newest(): readonly number[] {
    const identities = [...this.#there.keys()].map((identity) => identity.split(' ').map(Number))
    return identities.sort(([t1 = 0, d1 = 0], [t2 = 0, d2 = 0]) => t2 - t1 || d2 - d1)[0] ?? []
  }

  get times(): readonly number[] {
    return [...this.#there.values()].sort((left, right) => left - right)
  }

  get counts() {
    const { received, stored, duplicates, deleted, expired, keptFromUs } = this
    return { received, stored, duplicates, deleted, expired, keptFromUs }
  }
}

const streamIds = ['nothing', ...streams]

/** Whether late readings are looked up with their shipment, or wait for each other. */
const lookUps = [
  ['at once', {}],
  ['later', { lookUpRowsMax: 0 }],
  ['later, in portions', { lookUpRowsMax: 0, rowsPerLateTable: 2 }],
] as const

test.each(lookUps)(
  'with late readings stored %s, what is removed is gone, counted, and not the newest',
  async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        await using opened = await openDuckDbStore(systemClock, options)
        const models = new Map<string, Model>(streams.map((id) => [id, new Model()]))
        const check = async () => {
          await opened.store.placeLate()
          for (const [id, model] of models) {
            const points = await allPoints(opened.store, { streamId: id })
            expect(points.map(({ timestampUs }) => timestampUs)).toEqual(model.times)
            expect(opened.store.counts(id)).toMatchObject(model.counts)
          }
          const { readings, covered } = await opened.store.latest({ streamIds, bytesMax: 1e9 })
          expect(covered).toBe(streamIds.length)
          const newest = streamIds.map((id) => {
            const point = readings.find(({ streamId }) => streamId === id)?.point
            return point ? [point.timestampUs, point.values['temperature']] : []
          })
          expect(newest).toEqual(streamIds.map((id) => models.get(id)?.newest ?? []))
        }

        for (const one of steps) {
          if (one.kind === 'reopen') {
            await opened.reopen()
            for (const model of models.values()) model.reopen()
          } else if (one.kind === 'expire') {
            await expire(opened.store, one.beforeUs)
            for (const id of streams) models.get(id)?.expire(one.beforeUs[id] ?? 0)
          } else if (one.kind === 'remove') {
            await remove(opened.store, one)
            models.get(one.streamId)?.remove(one.startUs, one.endUs)
          } else {
            const readings = one.readings.map(({ shape, digest, ...rest }) =>
              storedReading({
                ...rest,
                shape: shapes[shape],
                digest: BigInt(digest),
                values: { temperature: digest },
              }),
            )
            await ship(opened.store, readings)
            for (const each of readings) models.get(each.streamId)?.take(each)
          }
          await check()
        }
      }),
      { numRuns: 30 },
    )
  },
)

test('many readings go in portions, and all of them', async () => {
  await using opened = await openDuckDbStore()
  const rows = 30_000
  for (let part = 0; part < 8; part++) {
    const readings = Array.from({ length: rows }, (_, index) =>
      storedReading({ timestampUs: marchUs + part * rows + index }),
    )
    await ship(opened.store, [...readings, storedReading({ streamId: 'pump' })])
  }

  await remove(opened.store, { startUs: marchUs + 1, endUs: marchUs + 8 * rows - 1 })

  expect(opened.store.counts('boiler')).toMatchObject({ stored: 8 * rows, deleted: 8 * rows - 2 })
  expect(await allPoints(opened.store)).toHaveLength(2)
  expect(await allPoints(opened.store, { streamId: 'pump' })).toHaveLength(8)
})

test('newest readings end by their bytes, and say how many streams that answers', async () => {
  await using opened = await openDuckDbStore()
  const ids = ['boiler', 'fan', 'pump']
  const extra = { blob: 'x'.repeat(10_000) }
  await ship(
    opened.store,
    ids.map((streamId) => storedReading({ streamId, extra })),
  )
  const latest = async (bytesMax: number) => {
    const asked = ['nothing', ...ids, 'nothing either']
    const { readings, covered } = await opened.store.latest({ streamIds: asked, bytesMax })
    return [readings.map(({ streamId }) => streamId), covered]
  }

  expect(await latest(1)).toEqual([['boiler'], 2])
  expect(await latest(25_000)).toEqual([['boiler', 'fan'], 3])
  expect(await latest(100_000)).toEqual([ids, 5])
})

test('a removal from another place than where the store stands is refused', async () => {
  await using opened = await openDuckDbStore()
  await ship(opened.store, [storedReading()])
  const removal = { streamId: 'boiler', startUs: 0, endUs: marchUs * 2, from: 0, nextOffset: 1 }

  await expect(opened.store.remove(removal)).rejects.toThrow()
  expect(await allPoints(opened.store)).toHaveLength(1)
})
