import type { TimestampFormat } from '../../contracts/stream-schema.ts'
import { parseRfc3339 } from '../../core/time.ts'

/** Where readings have their time, as a source says it. */
export interface InferredTime {
  readonly timestampField?: string
  readonly timestampFormat?: TimestampFormat
}

/** Names that fields with the time of a reading have, the surest ones first; in any case, without `_`. */
const likelyNames = [
  'timestamp',
  'ts',
  'time',
  'datetime',
  'eventtime',
  'measuredat',
  'recordedat',
  'observedat',
  'sampledat',
  'at',
  'date',
]

/** A number that means a time between 2000 and 2100 does so in one unit only. */
const firstSecond = 946_684_800
const endSecond = 4_102_444_800

const units: readonly (readonly [TimestampFormat, number])[] = [
  ['epoch_s', 1],
  ['epoch_ms', 1_000],
  ['epoch_us', 1_000_000],
]

type Sample = Readonly<Record<string, unknown>>

/**
 * The field that has the time of every sample, and its format. Nothing when `timestamp` has it in RFC
 * 3339, which needs not be said, or when no field does. Pure.
 */
export function inferTime(samples: readonly object[], latestUs: number): InferredTime {
  const [first = {}, ...others] = samples as readonly Sample[]
  const names = Object.keys(first)
    .filter((name) => likelyNames.includes(folded(name)))
    .filter((name) => others.every((sample) => Object.hasOwn(sample, name)))
    .toSorted((left, right) => rank(left) - rank(right))
  for (const name of names) {
    const values = samples.map((sample) => (sample as Sample)[name])
    const format = formatOf(values, latestUs)
    if (format === undefined) continue
    return {
      ...(name !== 'timestamp' && { timestampField: name }),
      ...(format !== 'rfc3339' && { timestampFormat: format }),
    }
  }
  return {}
}

function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

function rank(name: string): number {
  return likelyNames.indexOf(folded(name))
}

function formatOf(values: readonly unknown[], latestUs: number): TimestampFormat | undefined {
  const isPast = (us: unknown) => typeof us === 'number' && us >= 0 && us <= latestUs
  const isText = (value: unknown) => typeof value === 'string' && isPast(parseRfc3339(value))
  if (values.every(isText)) return 'rfc3339'
  const unit = units.find(([, perSecond]) =>
    values.every((value) => {
      const seconds = typeof value === 'number' ? value / perSecond : Number.NaN
      return seconds >= firstSecond && seconds < endSecond && isPast(seconds * 1_000_000)
    }),
  )
  return unit?.[0]
}
