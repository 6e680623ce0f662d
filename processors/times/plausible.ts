import type { TimestampFormat } from '../../src/contracts/stream-schema.ts'
import { comparableUs, formatUs, type InstantUs, type TimeProblem } from '../../src/core/time.ts'
import { epochFormats, epochPlaces, epochUs } from './epochs.ts'

/** Numbers below and from there on mean times by another unit, or come from a clock that was never set. */
const firstUs = Date.UTC(1970, 1, 1) * 1_000
const endUs = Date.UTC(2201, 0, 1) * 1_000

/** What is wrong with a time that its stream does not allow. */
export function tooEarly(us: InstantUs, minUs: number | undefined): TimeProblem | undefined {
  if (minUs === undefined || us >= minUs) return undefined
  return { problem: `is before ${formatUs(minUs)}, the timestampMin`, isImplausible: true }
}

/** A number of units that was read, and how it reads in another format. */
export interface ReadEpoch {
  readonly us: InstantUs
  readonly format: TimestampFormat
  readonly minUs: number | undefined
  readonly usIn: (format: TimestampFormat) => InstantUs
}

/** What is wrong with a number that means a time which nobody means. */
export function implausible(epoch: ReadEpoch): TimeProblem | undefined {
  const { us, format, minUs } = epoch
  if (isPlausible(us, minUs)) return undefined
  const when = us < firstUs ? 'falls into January 1970' : 'is behind the year 2200'
  const fit = fitting(epoch)
  const advice =
    fit === undefined
      ? 'it fits no other epoch format'
      : `${fit} would be ${formatUs(epoch.usIn(fit))}`
  return { problem: `${when} as ${format}; ${advice}`, isImplausible: true }
}

/** The first time that is plausible, and the first one behind all that are. */
export function plausibleUs(minUs: number | undefined) {
  return { firstUs: minUs ?? firstUs, endUs }
}

function isPlausible(us: InstantUs, minUs: number | undefined): boolean {
  return us >= (minUs ?? firstUs) && us < endUs
}

/** The epoch format that a number is likely to be in, where none was expected. */
export function likelyEpoch(count: number): TimestampFormat | undefined {
  const usIn = (format: TimestampFormat) => epochUs(count, epochPlaces(format) ?? 0)
  return fitting({ us: Number.NaN, format: 'rfc3339', minUs: undefined, usIn })
}

/** Units are so far apart that a number fits one of them, but for some that are far from today in both. */
function fitting({ format, minUs, usIn }: ReadEpoch): TimestampFormat | undefined {
  const others = epochFormats.filter((one) => one !== format && isPlausible(usIn(one), minUs))
  const isClose = (one: TimestampFormat) => {
    const year = new Date(comparableUs(usIn(one)) / 1_000).getUTCFullYear()
    return year >= 2_000 && year < 2_100
  }
  return others.find(isClose) ?? others[0]
}
