import { canonicalJson } from '../../src/core/canonical-json.ts'
import type {
  AggregatePoint,
  AggregateQuery,
} from '../../src/storage/time-series/aggregate-query.ts'
import type { ExpiringStore } from '../../src/storage/time-series/expiry.ts'
import type { DataPoint, ReadingsQuery } from '../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { Removal, Shipment, ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'

/** 2026-03-01T00:00:00Z: the first moment of a month. */
export const marchUs = Date.UTC(2026, 2, 1) * 1000

export const hourUs = 3_600_000_000

const temperatureShape = shapeOf({ temperature: { type: 'number' } })

/** What a test says of a reading; the rest is of no importance to it. */
export interface ReadingNotes extends Partial<Omit<ShippedReading, 'values' | 'extra'>> {
  readonly values?: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
}

let digests = 0n

/** A reading like no other, unless a test gives it the digest and timestamp of another. */
export function storedReading(notes: ReadingNotes = {}): ShippedReading {
  const { values = { temperature: 21.5 }, extra, ...rest } = notes
  return {
    streamId: 'boiler',
    shape: temperatureShape,
    offset: 0,
    timestampUs: marchUs,
    receivedAtUs: marchUs,
    digest: ++digests,
    flagged: [],
    ...rest,
    values: canonicalJson(values),
    extra: extra === undefined ? undefined : canonicalJson(extra),
  }
}

/** A shipment of these readings, as entries from an offset on, and of nothing else. */
export function shipmentOf(readings: readonly ShippedReading[], from: number): Shipment {
  const received = new Map<string, number>()
  for (const { streamId } of readings) received.set(streamId, (received.get(streamId) ?? 0) + 1)
  const entries = readings.map((reading, index) => ({ ...reading, offset: from + index }))
  return { readings: entries, received, from, nextOffset: from + readings.length }
}

/** Ships readings from where the store stands. */
export async function ship(
  store: TimeSeriesStore,
  readings: readonly ShippedReading[],
): Promise<void> {
  await store.write(shipmentOf(readings, store.position()))
}

/** Removes readings of a stream, from where the store stands. */
export async function remove(
  store: TimeSeriesStore,
  {
    streamId = 'boiler',
    startUs,
    endUs,
  }: Pick<Removal, 'startUs' | 'endUs'> & { streamId?: string },
): Promise<void> {
  const from = store.position()
  await store.remove({ streamId, startUs, endUs, from, nextOffset: from + 1 })
}

/** Removes what is older than these times, by stream. */
export async function expire(
  store: ExpiringStore,
  beforeUs: Readonly<Record<string, number | null>>,
): Promise<void> {
  const expiries = Object.entries(beforeUs).flatMap(([streamId, before]) =>
    before === null ? [] : [{ streamId, beforeUs: before }],
  )
  await store.expire(expiries, new AbortController().signal)
}

/** A question for all raw readings of the stream `boiler`, as far as a test does not narrow it. */
export function readingsQuery(notes: Partial<ReadingsQuery> = {}): ReadingsQuery {
  return {
    streamId: 'boiler',
    startUs: 0,
    endUs: Number.MAX_SAFE_INTEGER,
    fields: [],
    limit: 10_000,
    bytesMax: 1_000_000_000,
    after: undefined,
    ...notes,
  }
}

/** All points of a query, page by page. */
export async function allPoints(
  store: TimeSeriesStore,
  notes: Partial<ReadingsQuery> = {},
): Promise<DataPoint[]> {
  const points: DataPoint[] = []
  let after: ReadingsQuery['after']
  do {
    const page = await store.query(readingsQuery({ ...notes, after }))
    points.push(...page.points.map(promised))
    const { next } = page
    if (next && next.digest === after?.digest && next.timestampUs === after.timestampUs) {
      throw new Error(`the cursor stands still at ${next.timestampUs} ${next.digest}`)
    }
    after = next
  } while (after !== undefined)
  return points
}

/** What the port promises of a point, without what an adapter may add for its own use. */
function promised({ timestampUs, values, extra, flagged }: DataPoint): DataPoint {
  return {
    timestampUs,
    values,
    ...(extra && { extra }),
    ...(flagged && { flagged }),
  }
}

/** A question for daily averages of the stream `boiler`, as far as a test does not narrow it. */
export function aggregateQuery(notes: Partial<AggregateQuery> = {}): AggregateQuery {
  return {
    series: [{ key: 'boiler', streamIds: ['boiler'] }],
    startUs: 0,
    endUs: Number.MAX_SAFE_INTEGER,
    buckets: { kind: 'calendar', unit: 'day', units: 1, zone: 'UTC' },
    fields: [{ key: 'temperature', name: 'temperature', type: 'double', function: 'avg' }],
    fill: 'none',
    limit: 10_000,
    after: undefined,
    ...notes,
  }
}

/** All aggregated points of a query, page by page. */
export async function allAggregates(
  store: TimeSeriesStore,
  notes: Partial<AggregateQuery> = {},
): Promise<AggregatePoint[]> {
  const points: AggregatePoint[] = []
  let after: AggregateQuery['after']
  do {
    const query = aggregateQuery({ ...notes, after })
    const page = await store.aggregate(query)
    if (page.points.length > query.limit) throw new Error('a page exceeds its limit')
    points.push(...page.points)
    const { next } = page
    if (next && next.series === after?.series && next.timestampUs === after.timestampUs) {
      throw new Error(`the cursor stands still at ${next.timestampUs} ${next.series}`)
    }
    after = next
  } while (after !== undefined)
  return points
}
