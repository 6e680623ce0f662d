import { problem } from './decode-binary.ts'
import { attributesOf } from './otlp-attributes.ts'
import type { DataKind } from './otlp-plan.ts'
import type { Around, Point } from './otlp-points.ts'
import { defineMember, type Members } from './protobuf-message.ts'
import type { SampleRecord } from './records.ts'

/** The last microsecond that a double counts: it is in the year 2255. */
const timeUsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** Bit of the flags of a point which says that there is no value (DataPointFlags of the proto). */
const noRecordedValue = 1

/**
 * The record of a point: its metric, its values, and the attributes around it. Undefined: it says that it has no value.
 *
 * @throws UnreadableItem
 */
export function recordOf(point: Point): SampleRecord | undefined {
  const read = point.read()
  const { flags = 0, timeUnixNano = 0n } = read
  if ((Number(flags) & noRecordedValue) === noRecordedValue) return undefined
  const around = point.around()
  const members = valuesOf(point.kind, read, around)
  for (const [name, value] of attributesOf(read)) {
    if (Object.hasOwn(members, name)) {
      throw problem(`an attribute of the data point is named ${name}, as one of its values is`)
    }
    defineMember(members, name, value)
  }
  for (const [name, value] of around.attributes) {
    if (!Object.hasOwn(members, name)) defineMember(members, name, value)
  }
  return { members, timeUs: timeUsOf(timeUnixNano as bigint) }
}

function timeUsOf(timeUnixNano: bigint): number | undefined {
  if (timeUnixNano === 0n) return undefined
  const timeUs = timeUnixNano / 1_000n
  if (timeUs > timeUsMax) throw problem('timeUnixNano is beyond the year 2255')
  return Number(timeUs)
}

function valuesOf(kind: DataKind, point: Members, { metric, data }: Around): Members {
  const { name = '', unit = '' } = metric
  if (name === '') throw problem('the metric has no name')
  const { aggregationTemporality: temporality } = data
  return {
    metric: name,
    ...pointValues(kind, point),
    ...(unit !== '' && { unit }),
    ...(temporality !== undefined && temporality !== 'unspecified' && { temporality }),
  }
}

function pointValues(kind: DataKind, point: Members): Members {
  switch (kind) {
    case 'gauge':
    case 'sum':
      return { value: numberOf(point) }
    case 'histogram': {
      const { bucketCounts, explicitBounds } = point
      return given({ ...statistics(point), bucketCounts, explicitBounds })
    }
    case 'exponentialHistogram': {
      const { scale = 0, zeroCount = 0, zeroThreshold, positive, negative } = point
      return given({
        ...statistics(point),
        scale,
        zeroCount,
        zeroThreshold,
        ...bucketsOf('positive', positive),
        ...bucketsOf('negative', negative),
      })
    }
    case 'summary': {
      const { count = 0, sum = 0, quantileValues = [] } = point
      return { count, sum, quantiles: (quantileValues as readonly Members[]).map(quantileOf) }
    }
    default:
      return kind satisfies never
  }
}

function numberOf({ asDouble, asInt }: Members): unknown {
  const value = asDouble ?? asInt
  if (value === undefined) throw problem('the data point has no value')
  return value
}

function statistics({ count = 0, sum, min, max }: Members): Members {
  return { count, sum, min, max }
}

/** Buckets of one side: an offset without counts says nothing. */
function bucketsOf(side: 'positive' | 'negative', buckets: unknown): Members {
  const { offset = 0, bucketCounts } = (buckets ?? {}) as Members
  if (!isGiven(bucketCounts)) return {}
  return { [`${side}Offset`]: offset, [`${side}BucketCounts`]: bucketCounts }
}

function quantileOf({ quantile = 0, value = 0 }: Members): Members {
  return { quantile, value }
}

function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isGiven(value)))
}

/** In Protobuf a list without elements is one that was not set. */
function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}
