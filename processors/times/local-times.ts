import type { TimeProblem } from '../../src/core/time.ts'
import { offsetOf, type WallTime } from './wall-time.ts'

/** ISO 8601, as most that keeps no zone is written: a T or a space, seconds and decimals where there are some. */
const pattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$/

const notLocal = {
  problem: 'must be a time such as 2026-01-31T23:59:59 or 2026-01-31 23:59',
} satisfies TimeProblem

/** Reads a time that may say no zone. */
export function readLocal(text: string): WallTime | TimeProblem {
  const [, ...parts] = pattern.exec(text) ?? []
  const [year, month, day, hour, minute, second = '0', fraction = '', zone] = parts
  if (year === undefined) return notLocal
  const offset = zone === undefined ? undefined : offsetOf(zone)
  if (typeof offset === 'object') return offset
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    fraction,
    offset,
  }
}
