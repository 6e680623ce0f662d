import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { allPoints, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/** What every store promises about its answers: a part of `timeSeriesContract`. */
export function timeSeriesQueryContract(open: OpenNewStore): void {
  describe('for raw readings', () => rawContract(open))
}

/** Few different times, so that many readings have the same; around the change of a month. */
const crowdedUs = fc
  .tuple(fc.constantFrom(-1, 0, 1), fc.nat(2))
  .map(([minutes, us]) => marchUs + minutes * 60_000_000 + us)

const digest = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

function rawContract(open: OpenNewStore): void {
  const withHumidity = shapeOf({ temperature: { type: 'number' }, humidity: { type: 'number' } })

  test('lose and repeat none, whatever the size of the pages', async () => {
    const notes = fc.record({
      timestampUs: crowdedUs,
      digest,
      // A stream whose definition was changed has readings of two shapes.
      isOfSecondShape: fc.boolean(),
    })
    const sizes = fc.record({
      notes: fc.uniqueArray(notes, { maxLength: 30, selector: (one) => one.digest }),
      limit: fc.integer({ min: 1, max: 12 }),
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(sizes, async ({ notes: all, limit }) => {
          const streamId = newStream()
          const readings = all.map(({ isOfSecondShape, ...rest }, index) =>
            storedReading({
              ...rest,
              streamId,
              values: { temperature: index },
              ...(isOfSecondShape && { shape: withHumidity }),
            }),
          )
          await ship(store, readings)

          const points = await allPoints(store, { streamId, limit })

          const inOrder = all
            .map(({ timestampUs, digest: own }, index) => ({ timestampUs, own, index }))
            .sort(
              (left, right) =>
                left.timestampUs - right.timestampUs || (left.own < right.own ? -1 : 1),
            )
          expect(points).toEqual(
            inOrder.map(({ timestampUs, index }) => ({
              timestampUs,
              values: { temperature: index },
            })),
          )
        }),
        { numRuns: 40 },
      )
    })
  })

  test('contain the start and not the end', async () => {
    const range = fc.record({
      times: fc.uniqueArray(crowdedUs, { maxLength: 9 }),
      startUs: crowdedUs,
      endUs: crowdedUs,
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(range, async ({ times, startUs, endUs }) => {
          const streamId = newStream()
          await ship(
            store,
            times.map((timestampUs) => storedReading({ streamId, timestampUs })),
          )

          const points = await allPoints(store, { streamId, startUs, endUs, limit: 3 })

          const within = times
            .filter((time) => time >= startUs && time < endUs)
            .sort((left, right) => left - right)
          expect(points.map(({ timestampUs }) => timestampUs)).toEqual(within)
        }),
        { numRuns: 40 },
      )
    })
  })

  test('have only the fields that are asked for', async () => {
    await using opened = await open()
    await ship(opened.store, [
      storedReading({
        shape: withHumidity,
        values: { temperature: 1, humidity: 2 },
        extra: { pressure: 3 },
      }),
    ])

    const valuesOf = async (fields: readonly string[]) =>
      (await allPoints(opened.store, { fields })).map(({ values, extra }) => ({ values, extra }))
    expect(await valuesOf(['humidity'])).toEqual([{ values: { humidity: 2 } }])
    expect(await valuesOf(['humidity', 'unknown'])).toEqual([{ values: { humidity: 2 } }])
    expect(await valuesOf([])).toEqual([
      { values: { temperature: 1, humidity: 2 }, extra: { pressure: 3 } },
    ])
  })

  test('are those of one stream only', async () => {
    await using opened = await open()
    await ship(opened.store, [
      storedReading({ streamId: 'boiler', values: { temperature: 1 } }),
      storedReading({ streamId: 'pump', values: { temperature: 2 } }),
    ])

    const points = await allPoints(opened.store, { streamId: 'pump' })
    expect(points.map(({ values }) => values)).toEqual([{ temperature: 2 }])
    expect(await allPoints(opened.store, { streamId: 'unknown' })).toEqual([])
  })
}
