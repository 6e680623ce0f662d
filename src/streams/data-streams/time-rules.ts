import { timezone } from '../../../connectors/fields/time-zones.ts'
import { epochFormats } from '../../../processors/times/epochs.ts'
import { parseTimePattern, patternLengthMax } from '../../../processors/times/time-pattern.ts'
import { claimOf, timeReaderOf } from '../../../processors/timestamp.ts'
import {
  type Fields,
  flag,
  newField,
  oneOf,
  part,
  refined,
  text,
} from '../../contracts/definitions/fields.ts'
import type { Json, Problems, Rule } from '../../contracts/definitions/problems.ts'
import type { SourceKind } from '../../contracts/definitions/source-kind.ts'
import type { TimeUnit } from '../../contracts/mapping.ts'
import { type PathRoot, parsePath } from '../../contracts/path.ts'
import type { TimeRules, TimestampFormat } from '../../contracts/stream-schema.ts'
import { spellingHint } from '../../core/suggestions.ts'
import { parseRfc3339 } from '../../core/time.ts'
import { itemsOf } from './items.ts'
import { isWritten } from './timestamp-field.ts'

/** The rules that definitions are checked by, and kept with: those of before have none. */
export const currentRules = 1

const formats: readonly TimestampFormat[] = ['rfc3339', ...epochFormats, 'local']

const units = ['s', 'ms', 'us', 'ns'] as const satisfies readonly TimeUnit[]

const format: Rule = (value, key, problems) => {
  if (formats.some((known) => known === value)) return
  const pattern =
    typeof value === 'string' && value !== ''
      ? parseTimePattern(value)
      : { problem: 'is not a text' }
  if (!('problem' in pattern)) return
  const known = formats.join(', ')
  const message = `must be ${known}, or a pattern: as one it ${pattern.problem}`
  problems.add(key, message, () => spellingHint(value, formats) ?? formatHint)
}

const formatHint =
  'Write epoch_s or epoch_ms for a number, rfc3339 for a text such as 2026-01-31T10:00:00Z, or a pattern such as yyyy-MM-dd HH:mm:ss; docs/payload-formats.md has every format.'

const anyPath = refined(text, (value, key, problems) => {
  const path = parsePath(value)
  if ('problem' in path) problems.add(key, path.problem)
})

/** Roots of what is a part of the message itself. */
const ofMessage: readonly PathRoot[] = ['item', 'parent', 'message']

const innerPath = refined(anyPath, (value, key, problems) => {
  const path = parsePath(value)
  if ('root' in path && !ofMessage.includes(path.root)) {
    problems.add(key, 'must lead into the message')
  }
})

/** A time of the year 2200 is the last that is plausible. */
const endUs = Date.UTC(2201, 0, 1) * 1_000

const plausibleTime = refined(text, (value, key, problems) => {
  const us = parseRfc3339(value)
  if (typeof us === 'number' && us >= 0 && us < endUs) return
  problems.add(key, 'must be a time in RFC 3339 from 1970 to 2200, such as 2020-01-01T00:00:00Z')
})

/** Where a reading has its time, and how it is written (decisions.md#times-of-readings): every source may say it. */
const timeFields = {
  timestampField: {
    ...anyPath,
    default: 'timestamp',
    doc: '[where the time of a reading is](payload-formats.md#when-it-was): a field or a path. A reading without it is refused where this is said',
  },
  timestampFormat: {
    ...newField<TimestampFormat>(format, { type: 'string', maxLength: patternLengthMax }),
    default: 'rfc3339',
    doc: 'how that time is written: `rfc3339`, `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, `local`, or a pattern',
  },
} satisfies Fields

/** What can be said of times that messages bring along. */
const sentTimeFields = {
  timezone: { ...timezone, default: 'UTC', doc: 'of times that name no zone' },
  timestampOptional: {
    ...flag,
    default: false,
    doc: 'a reading without its time is taken, and has that of its receipt',
  },
  timestampMin: {
    ...plausibleTime,
    doc: 'times before it are refused as implausible. Undefined: numbers that mean January 1970 are',
  },
  timestampOffset: {
    ...part({
      path: { ...innerPath, isRequired: true, doc: 'Where the number is that is added.' },
      unit: { ...oneOf(...units), isRequired: true, doc: 'Its unit.' },
    }),
    doc: '`{path, unit}`: a number that is added to the time; the unit is `s`, `ms`, `us` or `ns`',
  },
} satisfies Fields

/** The keys about times that a kind of source takes besides its own. */
export function timeFieldsOf(kind: SourceKind | undefined): Fields {
  return kind?.writesTime === true ? timeFields : { ...timeFields, ...sentTimeFields }
}

/** Says what is wrong with the keys about times beside each other. */
export function checkTimes(source: Json, kind: SourceKind | undefined, problems: Problems): void {
  const { timestampField, timestampFormat = 'rfc3339', timezone: zone } = source
  for (const key of ['timestampOptional', 'timestampOffset']) {
    if (source[key] === undefined) continue
    if (timestampField === undefined) problems.add(key, 'needs timestampField')
    if (isWritten(source))
      problems.add(key, 'has no effect: messages say their times in another way')
  }
  const known = typeof timestampFormat === 'string' ? timestampFormat : 'rfc3339'
  const namesZone = kind?.isScheduled === true || kind?.fields['timezone'] !== undefined
  if (zone !== undefined && !hasWallTimes(known) && !namesZone) {
    problems.add('timezone', `has no effect with ${known}: its times name their zone`)
  }
  if (timestampField === '$time' && epochFormats.includes(known)) {
    problems.add('timestampFormat', 'must be rfc3339 with $time, which is written so')
  }
  if (source['timestampOffset'] !== undefined && hasOwnTimes(source)) {
    problems.add('timestampOffset', 'has no effect: items say the times of their readings')
  }
  const before = problems.found.some(({ path }) => path.startsWith(problems.pathOf('time')))
  if (!before && misreadsInstants(known, zone)) {
    problems.add('timestampFormat', 'reads times in RFC 3339 that are in UTC as other times')
  }
}

/** Whether readings have the times of samples, or of entries. */
function hasOwnTimes(source: Json): boolean {
  const { as, start, time } = itemsOf(source)?.at(-1) ?? {}
  return as === 'samples' ? start !== undefined : time !== undefined
}

/** Whether times in a format may name no zone. */
function hasWallTimes(given: TimestampFormat): boolean {
  return given === 'local' || !formats.includes(given)
}

/** Texts in RFC 3339 are taken beside those of a pattern: both must not mean different times. */
function misreadsInstants(timestampFormat: TimestampFormat, zone: unknown): boolean {
  if (formats.includes(timestampFormat)) return false
  const time = { isRequired: false, ...(typeof zone === 'string' && { zone }) }
  const read = timeReaderOf({ timestampFormat, time })
  return samplesUs.some((us) => read({ value: claimOf(us, timestampFormat) }) !== us)
}

/** In January and in July clocks differ from UTC by different hours, where they do. */
const samplesUs = [0, 6].map((month) => Date.UTC(2026, month, 25, 13, 14, 15, 678) * 1_000 + 901)

/** The rules for times of a definition; undefined for one of before there were any. */
export function timeRulesOf(source: Json, rules: number | undefined): TimeRules | undefined {
  if (rules === undefined) return undefined
  const { timestampField, timestampFormat, timestampOptional, timestampMin, timestampOffset } =
    source
  const { timezone: zone } = source
  const hasZone = hasWallTimes((timestampFormat as TimestampFormat | undefined) ?? 'rfc3339')
  const minUs = typeof timestampMin === 'string' ? parseRfc3339(timestampMin) : undefined
  return {
    isRequired: !isWritten(source) && timestampField !== undefined && timestampOptional !== true,
    ...(hasZone && typeof zone === 'string' && { zone }),
    ...(timestampOffset !== undefined && {
      offset: timestampOffset as NonNullable<TimeRules['offset']>,
    }),
    ...(typeof minUs === 'number' && { minUs }),
  }
}
