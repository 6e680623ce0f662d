import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSeries, type SeriesPage, valueAt } from '../../src/storage/time-series/series.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

const shapes = {
  numbers: shapeOf({ level: { type: 'integer' }, heat: { type: 'number' } }),
  flags: shapeOf({ door: { type: 'boolean' }, heat: { type: 'number' } }),
  texts: shapeOf({ heat: { type: 'string' } }),
} as const

/** Readings that differ in everything that a page has to keep apart. */
const numbers = fc.record(
  { level: fc.integer({ min: -9, max: 9 }), heat: fc.constant(0.5) },
  { requiredKeys: [] },
)
const flags = fc.record({ door: fc.boolean(), heat: fc.constant(-1) }, { requiredKeys: [] })
const reading = fc.record({
  hour: fc.integer({ min: -2, max: 800 }),
  noted: fc.oneof(
    fc.record({ shape: fc.constant('numbers' as const), values: numbers }),
    fc.record({ shape: fc.constant('flags' as const), values: flags }),
  ),
})

/** What every store promises to who goes over very many readings. */
export function timeSeriesSeriesContract(open: OpenNewStore): void {
  const range = { startUs: marchUs, endUs: marchUs + 700 * hourUs }
  const fields = ['door', 'heat', 'level', 'unheard']

  test('column by column it is the same as reading by reading, in pages of any size', async () => {
    const history = fc.array(reading, { maxLength: 20 })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(history, fc.integer({ min: 1, max: 30 }), async (notes, limit) => {
          const streamId = newStream()
          const readings = notes.map(({ hour, noted: { shape, values } }) =>
            storedReading({
              streamId,
              timestampUs: marchUs + hour * hourUs,
              shape: shapes[shape],
              values,
            }),
          )
          await ship(store, readings)
          const query = { streamId, ...range, fields }

          const { points } = await store.query({
            ...query,
            limit: 100,
            bytesMax: 1e6,
            after: undefined,
          })

          expect(await allOf(store, { ...query, limit })).toEqual(
            points.map(({ timestampUs, values }) => ({ timestampUs, ...values })),
          )
        }),
        { numRuns: 30 },
      )
    })
  })

  test('texts are read all the same', async () => {
    await using opened = await open()
    const text = storedReading({
      timestampUs: marchUs,
      shape: shapes.texts,
      values: { heat: 'hot' },
    })
    await ship(opened.store, [text])
    const query = { streamId: text.streamId, ...range, fields: ['heat'], limit: 10 }

    expect(await allOf(opened.store, query)).toEqual([{ timestampUs: marchUs, heat: 'hot' }])
  })

  test('a field that was a text at one time is read all the same', async () => {
    await using opened = await open()
    const texts = storedReading({
      timestampUs: marchUs,
      shape: shapes.texts,
      values: { heat: 'hot' },
    })
    const warm = { timestampUs: marchUs + 1, shape: shapes.numbers, values: { heat: 1.5 } }
    await ship(opened.store, [texts, storedReading(warm)])
    const query = { streamId: texts.streamId, ...range, fields: ['heat'], limit: 10 }

    expect(await allOf(opened.store, query)).toEqual([
      { timestampUs: marchUs, heat: 'hot' },
      { timestampUs: marchUs + 1, heat: 1.5 },
    ])
  })
}

type Asked = Omit<Parameters<typeof readSeries>[1], 'after'>

async function allOf(store: TimeSeriesStore, query: Asked) {
  const found: Record<string, unknown>[] = []
  let page: SeriesPage | undefined
  do {
    page = await readSeries(store, { ...query, after: page?.next })
    const { timesUs, columns } = page
    for (const [row, timestampUs] of timesUs.entries()) {
      const values = query.fields.map((name, index) => {
        const column = columns[index]
        return [name, column && valueAt(column, row)] as const
      })
      const present = values.filter(([, value]) => value !== undefined)
      found.push({ timestampUs, ...Object.fromEntries(present) })
    }
  } while (page.next !== undefined)
  return found
}
