import type { LinePrecision } from '../../src/contracts/stream-schema.ts'
import { type InstantUs, narrowed } from '../../src/core/time.ts'

const nanoseconds: Readonly<Record<LinePrecision, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** What requests call a precision: `u` and `n` are of InfluxDB 1, the long names of InfluxDB 3. */
const names: ReadonlyMap<string, LinePrecision> = new Map([
  ...Object.keys(nanoseconds).map((name) => [name, name as LinePrecision] as const),
  ['n', 'ns'],
  ['u', 'us'],
  ['µ', 'us'],
  ['nanosecond', 'ns'],
  ['microsecond', 'us'],
  ['millisecond', 'ms'],
  ['second', 's'],
])

/** The precision that a parameter of a request names; undefined: it names none. */
export function precisionNamed(text: string): LinePrecision | undefined {
  return names.get(text)
}

/** Microseconds of a number of units since the epoch. What is finer is cut off towards the past. */
export function instantOf(digits: string, precision: LinePrecision): InstantUs {
  const nanos = BigInt(digits) * nanoseconds[precision]
  const us = nanos / 1_000n
  return narrowed(nanos < 0n && nanos % 1_000n !== 0n ? us - 1n : us)
}

/** Units of a microsecond; 0 where a unit is shorter. */
export const microseconds: Readonly<Record<LinePrecision, number>> = {
  ns: 0,
  us: 1,
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
}

/** The digits of the same time in nanoseconds. */
export function inNanoseconds(digits: string, precision: LinePrecision): string {
  return precision === 'ns' ? digits : String(BigInt(digits) * nanoseconds[precision])
}
