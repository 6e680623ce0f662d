import { describe, expect, test } from 'vitest'
import type {
  AggregatePage,
  AggregateQuery,
  Fill,
} from '../../src/storage/time-series/aggregate-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import { aggregateQuery, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, type OpenStore } from './open-store.ts'

/** What every store promises about the size of aggregated pages: a part of `timeSeriesContract`. */
export function timeSeriesAggregatedPagesContract(open: OpenNewStore): void {
  describe('of large texts', () => largeTextsContract(open))

  test('ends a page of many fields at its bytes, too', async () => {
    await using opened = await open()
    await ship(
      opened.store,
      Array.from({ length: 40 }, (_, hour) => storedReading({ timestampUs: hourOf(hour) })),
    )
    const fields = Array.from({ length: 50 }, (_, index) => ({
      key: `temperature${index}`,
      name: 'temperature',
      type: 'double' as const,
      function: 'max' as const,
    }))

    for (const fill of ['none', 'null'] as const) {
      const range = { startUs: marchUs, endUs: hourOf(40) }
      const query = aggregateQuery({ ...range, buckets: hourly, fields, fill, bytesMax: 20_000 })
      const pages = await allPages(opened.store, query)

      expect(pages.map(({ points }) => points.length)).toEqual([16, 16, 8])
    }
  })
}

const shape = shapeOf({ note: { type: 'string' }, place: { type: 'object' } })

const hourly = { kind: 'calendar', unit: 'hour', units: 1, zone: 'UTC' } as const

const textBytes = 300_000
const hours = 30
const bytesMax = 1_000_000

/** Two of them in a bucket, in every second bucket of each stream. */
function readingsOf(streamId: string): ShippedReading[] {
  return Array.from({ length: hours }, (_, half) => {
    const timestampUs = hourOf(Math.floor(half / 2) * 2) + (half % 2)
    const note = `${half} `.padEnd(textBytes, streamId)
    return storedReading({ streamId, shape, timestampUs, values: { note, place: { note: half } } })
  })
}

const fields: AggregateQuery['fields'] = [
  { key: 'note', name: 'note', type: 'varchar', function: 'latest' },
  { key: 'place', name: 'place', type: 'json', function: 'first' },
]

function largeTextsContract(open: OpenNewStore): void {
  const series = ['a', 'b'].map((key) => ({ key, streamIds: [key] }))

  async function opened(): Promise<OpenStore> {
    const store = await open()
    await ship(store.store, [...readingsOf('a'), ...readingsOf('b')])
    return store
  }

  test.each<[Fill, number]>([
    ['none', hours],
    ['null', hours * 2],
    ['previous', hours * 2],
    ['linear', hours * 2],
  ])('has pages that end at their bytes, and all points: fill %s', async (fill, count) => {
    await using all = await opened()
    const range = { startUs: marchUs, endUs: hourOf(hours) }
    const query = aggregateQuery({ ...range, series, fields, fill, buckets: hourly, bytesMax })

    const pages = await allPages(all.store, query)

    const points = pages.flatMap((page) => page.points)
    expect(pages.filter((page) => bytesOf(page) > bytesMax)).toEqual([])
    expect(pages.length).toBeLessThan(count / 2)
    expect(points.map(({ timestampUs, series: key }) => [timestampUs, key])).toEqual(
      Array.from({ length: hours }, (_, hour) => hour)
        .filter((hour) => fill !== 'none' || hour % 2 === 0)
        .flatMap((hour) => [
          [hourOf(hour), 'a'],
          [hourOf(hour), 'b'],
        ]),
    )
    const found = points.map(({ values }) => [
      Number.parseInt(String(values['note']), 10),
      values['place'],
    ])
    expect(found).toEqual(
      points.map(({ timestampUs }) => {
        const hour = (timestampUs - marchUs) / hourUs
        const isEmpty = hour % 2 === 1
        if (isEmpty && fill === 'null') return [Number.NaN, null]
        const half = isEmpty ? hour - 1 : hour
        return [half + 1, { note: half }]
      }),
    )
  })

  test('has a point on each page that is larger than a page may be', async () => {
    await using all = await opened()
    const query = aggregateQuery({ series, fields, buckets: hourly, bytesMax: 1_000 })

    const pages = await allPages(all.store, query)

    expect(pages.map(({ points }) => points.length)).toEqual(Array(hours).fill(1))
  })

  test('has pages of 4 MiB where nothing is said', async () => {
    await using all = await opened()
    const query = aggregateQuery({ series, fields, buckets: hourly })

    const pages = await allPages(all.store, query)

    expect(pages.map(({ points }) => points.length)).toEqual([13, 13, 4])
  })
}

function hourOf(hour: number): number {
  return marchUs + hour * hourUs
}

async function allPages(store: TimeSeriesStore, query: AggregateQuery): Promise<AggregatePage[]> {
  const pages: AggregatePage[] = []
  let after: AggregateQuery['after']
  do {
    const page = await store.aggregate({ ...query, after })
    pages.push(page)
    after = page.next
  } while (after !== undefined)
  return pages
}

function bytesOf({ points }: AggregatePage): number {
  return Buffer.byteLength(JSON.stringify(points))
}
