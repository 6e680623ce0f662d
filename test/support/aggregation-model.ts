import { Temporal } from 'temporal-polyfill'
import type {
  AggregatedField,
  AggregateFunction,
  AggregatePoint,
  AggregateQuery,
  Buckets,
} from '../../src/storage/time-series/aggregate-query.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { splitKeyOf } from '../../src/storage/time-series/split-series.ts'

/**
 * What a store has to answer, computed in another way: reading by reading, with the calendar of
 * Temporal, and with the textbook's formulas.
 */
export function modelAggregates(
  readings: readonly ShippedReading[],
  query: AggregateQuery,
): AggregatePoint[] {
  const starts =
    query.fill === 'none' ? undefined : startsBetween(query.buckets, query.startUs, query.endUs)
  const lines = groupsOf(readings, query).map(({ key, isOwn }) => {
    const own = readings
      .filter((reading) => isWithin(reading, query) && isOwn(reading))
      .toSorted(inOrder)
    const buckets = Map.groupBy(own, (reading) => startOf(query.buckets, reading.timestampUs))
    const points = (starts ?? [...buckets.keys()]).map((timestampUs) => {
      const found = buckets.get(timestampUs) ?? []
      const averages = averagesByTime(readings, found, { ...query, isOwn })
      const values = { ...valuesOf(found, query), ...averages }
      return { timestampUs, series: key, count: found.length, values }
    })
    return query.fill === 'none' ? points : filled(points, query)
  })
  return lines
    .flat()
    .toSorted(
      (left, right) =>
        left.timestampUs - right.timestampUs || (left.series < right.series ? -1 : 1),
    )
}

/** Readings that make one series. */
interface Group {
  readonly key: string
  readonly isOwn: (reading: ShippedReading) => boolean
}

function groupsOf(
  readings: readonly ShippedReading[],
  query: Pick<AggregateQuery, 'series' | 'splitBy' | 'startUs' | 'endUs'>,
): readonly Group[] {
  const { series, splitBy } = query
  if (!splitBy) {
    return series.map(({ key, streamIds }) => ({
      key,
      isOwn: ({ streamId }) => streamIds.includes(streamId),
    }))
  }
  const ids = new Set(series.flatMap(({ streamIds }) => streamIds))
  const valueOf = (reading: ShippedReading) => valueAs(reading, splitBy.name, splitBy.type) ?? null
  const asked = readings.filter((reading) => ids.has(reading.streamId) && isWithin(reading, query))
  return [...new Set(asked.map(valueOf))].map((value) => ({
    key: splitKeyOf(value, splitBy.type),
    isOwn: (reading) => ids.has(reading.streamId) && valueOf(reading) === value,
  }))
}

function isWithin(
  { timestampUs }: ShippedReading,
  { startUs, endUs }: Pick<AggregateQuery, 'startUs' | 'endUs'>,
): boolean {
  return timestampUs >= startUs && timestampUs < endUs
}

/** The value of a reading that was stored as exactly this type. */
function valueAs({ values, shape }: ShippedReading, name: string, type: string): unknown {
  const stored = shape.columns.find((column) => column.name === name)?.type
  return stored === type
    ? (JSON.parse(values) as Readonly<Record<string, unknown>>)[name]
    : undefined
}

function inOrder(left: ShippedReading, right: ShippedReading): number {
  return left.timestampUs - right.timestampUs || (left.digest < right.digest ? -1 : 1)
}

/** The start of the bucket of an instant. */
function startOf(buckets: Buckets, instantUs: number): number {
  if (buckets.kind === 'fixed') return instantUs - mod(instantUs, buckets.widthUs)
  const { unit, units, zone } = buckets
  const local = zoned(instantUs, zone)
  if (unit === 'hour') {
    return local.round({ smallestUnit: 'hour', roundingMode: 'floor' }).epochMilliseconds * 1_000
  }
  return dateUs(firstDate(local.toPlainDate(), unit, units), zone)
}

function firstDate(
  date: Temporal.PlainDate,
  unit: 'day' | 'week' | 'month',
  units: number,
): Temporal.PlainDate {
  if (unit === 'month') return date.with({ day: 1 })
  if (unit === 'week') return date.subtract({ days: date.dayOfWeek - 1 })
  const days = Temporal.PlainDate.from('1970-01-01').until(date).days
  return date.subtract({ days: mod(days, units) })
}

function startsBetween(buckets: Buckets, startUs: number, endUs: number): number[] {
  if (endUs <= startUs) return []
  const starts = [startOf(buckets, startUs)]
  for (let at = starts[0] as number; ; starts.push(at)) {
    at = startAfter(buckets, at)
    if (at >= endUs) return starts
  }
}

/** The start of the next bucket: tried out in steps that no bucket is shorter than. */
function startAfter(buckets: Buckets, startUs: number): number {
  if (buckets.kind === 'fixed') return startUs + buckets.widthUs
  const { unit, units, zone } = buckets
  const minuteUs = 60_000_000
  if (unit === 'hour') {
    let at = startUs
    do at += 15 * minuteUs
    while (startOf(buckets, at) === startUs)
    return startOf(buckets, at)
  }
  const step = { day: { days: units }, week: { days: 7 }, month: { months: 1 } }[unit]
  const date = zoned(startUs, zone).toPlainDate()
  // A zone that skips a day shows the day after at the start of the one that is missing.
  let next = firstDate(date, unit, units).add(step)
  while (dateUs(next, zone) <= startUs) next = next.add(step)
  const after = dateUs(next, zone)
  return startOf(buckets, after)
}

function dateUs(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds * 1_000
}

function zoned(instantUs: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochNanoseconds(BigInt(instantUs) * 1_000n).toZonedDateTimeISO(zone)
}

function mod(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

function valuesOf(
  readings: readonly ShippedReading[],
  { fields, fill }: AggregateQuery,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    const present = readings
      .map((reading) => storedValue(reading, field))
      .filter((value) => value !== undefined)
    const value = resultOf(present, field.function)
    const isAbsent = readings.length === 0 && fill === 'none'
    if (value !== undefined && !isAbsent) values[field.key] = value
  }
  return values
}

/** Averages over the time of the bucket that some readings lie in, where they go by time. */
function averagesByTime(
  all: readonly ShippedReading[],
  found: readonly ShippedReading[],
  { fields, timeWeights, buckets, startUs, endUs, isOwn }: AggregateQuery & Omit<Group, 'key'>,
): Record<string, unknown> {
  const [any] = found
  if (any === undefined || timeWeights === undefined) return {}
  const bucketUs = startOf(buckets, any.timestampUs)
  const fromUs = Math.max(bucketUs, startUs)
  const toUs = Math.min(startAfter(buckets, bucketUs), endUs, timeWeights.untilUs)
  const streamIds = new Set(found.map(({ streamId }) => streamId))
  const parts = [...streamIds].flatMap((streamId) => {
    const holdUs = timeWeights.holdsUs.get(streamId)
    if (holdUs === undefined) {
      const own = found.filter((reading) => reading.streamId === streamId)
      return own.map((reading) => ({ reading, weight: 1 }))
    }
    const line = all.filter((reading) => reading.streamId === streamId).toSorted(inOrder)
    const first = line.findIndex(({ timestampUs }) => timestampUs >= fromUs)
    return line.flatMap((reading, index) => {
      // What was in force before counts for a series whose reading comes next.
      const isBefore = index < first
      if (!isOwn(reading) || (isBefore && !isOwn(line[first] as ShippedReading))) return []
      const nextUs = line[index + 1]?.timestampUs ?? Number.POSITIVE_INFINITY
      const goneUs = Math.min(nextUs, reading.timestampUs + holdUs, toUs)
      return [{ reading, weight: Math.max(0, goneUs - Math.max(reading.timestampUs, fromUs)) }]
    })
  })
  const averages: Record<string, unknown> = {}
  for (const field of fields.filter(({ function: name }) => name === 'avg')) {
    if (found.every((reading) => storedValue(reading, field) === undefined)) continue
    const counted = parts.flatMap(({ reading, weight }) => {
      const value = storedValue(reading, field)
      return value === undefined ? [] : [{ value: Number(value), weight }]
    })
    const time = counted.reduce((sum, { weight }) => sum + weight, 0)
    if (time === 0) continue
    averages[field.key] = counted.reduce(
      (sum, { value, weight }) => sum + value * (weight / time),
      0,
    )
  }
  return averages
}

/** What was stored as something that is no number is not there, when numbers are asked for. */
function storedValue({ values, shape }: ShippedReading, { name, type }: AggregatedField): unknown {
  const stored = shape.columns.find((column) => column.name === name)?.type
  if (stored !== type && !(isNumeric(stored) && isNumeric(type))) return undefined
  return (JSON.parse(values) as Readonly<Record<string, unknown>>)[name]
}

function isNumeric(type: string | undefined): boolean {
  return type === 'double' || type === 'bigint'
}

function resultOf(values: readonly unknown[], name: AggregateFunction): unknown {
  if (name === 'count') return values.length
  if (values.length === 0) return undefined
  if (name === 'first') return values[0]
  if (name === 'latest') return values.at(-1)
  if (typeof values[0] === 'string') {
    const texts = (values as readonly string[]).toSorted()
    return name === 'min' ? texts[0] : texts.at(-1)
  }
  return numberOf(values as readonly number[], name)
}

type NumberFunction = Exclude<AggregateFunction, 'count' | 'first' | 'latest'>

function numberOf(numbers: readonly number[], name: NumberFunction): number | undefined {
  const sorted = numbers.toSorted((left, right) => left - right)
  const sum = numbers.reduce((total, number) => total + number, 0)
  const mean = sum / numbers.length
  switch (name) {
    case 'avg':
      return mean
    case 'sum':
      return sum
    case 'min':
      return sorted[0]
    case 'max':
      return sorted.at(-1)
    case 'stddev': {
      if (numbers.length === 1) return undefined
      const squares = numbers.map((number) => (number - mean) ** 2)
      return Math.sqrt(squares.reduce((total, square) => total + square, 0) / (numbers.length - 1))
    }
    case 'p50':
    case 'p95':
    case 'p99': {
      const place = ((numbers.length - 1) * Number(name.slice(1))) / 100
      const below = sorted[Math.floor(place)] as number
      const above = sorted[Math.ceil(place)] as number
      return below + (above - below) * (place - Math.floor(place))
    }
    default:
      return name satisfies never
  }
}

function filled(points: readonly AggregatePoint[], query: AggregateQuery): AggregatePoint[] {
  return points.map((point, index) => {
    const values = Object.fromEntries(
      query.fields.map((field) => [field.key, filledValue(points, index, { field, query })]),
    )
    return { ...point, values }
  })
}

function filledValue(
  points: readonly AggregatePoint[],
  index: number,
  { field, query }: { readonly field: AggregatedField; readonly query: AggregateQuery },
): unknown {
  const valueAt = (at: number) => points[at]?.values[field.key]
  const own = valueAt(index)
  if (own !== undefined) return own
  if (field.function === 'count') return 0
  if (query.fill === 'null') return null
  const indices = points.map((_, at) => at).filter((at) => valueAt(at) !== undefined)
  const before = indices.findLast((at) => at < index)
  const after = indices.find((at) => at > index)
  const isLinear = query.fill === 'linear' && indices.some((at) => typeof valueAt(at) === 'number')
  if (!isLinear) return before === undefined ? null : valueAt(before)
  if (before === undefined || after === undefined) return null
  const [from, to, at] = [before, after, index].map((one) => points[one]?.timestampUs ?? 0)
  const share = (Number(at) - Number(from)) / (Number(to) - Number(from))
  return Number(valueAt(before)) + (Number(valueAt(after)) - Number(valueAt(before))) * share
}
