import { createRequire } from 'node:module'
import type { CelFunc } from '@bufbuild/cel'
import type { Cel } from './expression.ts'

/** Integers of the language have 64 bits. */
const [integerMin, integerMax] = [-(2n ** 63n), 2n ** 63n - 1n]

/** What a text in a message is shown up to. */
const shownMax = 50

/**
 * Conversions of texts. The library takes what JavaScript takes: an empty text for 0, `0x10` for 16, and the 30th of
 * February for a day in March. Here a text that is not what it is converted to is an error.
 */
export function conversions({
  celFunc,
  objectType,
  CelScalar: { INT, DOUBLE, STRING },
}: Cel): CelFunc[] {
  const require = createRequire(import.meta.url)
  const { create, fromJson } = require('@bufbuild/protobuf') as typeof import('@bufbuild/protobuf')
  const { DurationSchema, TimestampSchema } =
    require('@bufbuild/protobuf/wkt') as typeof import('@bufbuild/protobuf/wkt')
  return [
    celFunc('double', [STRING], DOUBLE, doubleOf),
    celFunc('int', [STRING], INT, integerOf),
    celFunc('timestamp', [STRING], objectType(TimestampSchema), (text) =>
      fromJson(TimestampSchema, instantOf(text)),
    ),
    celFunc('duration', [STRING], objectType(DurationSchema), (text) => {
      const all = nanosecondsOf(text)
      // The remainder has the sign of the whole, as the message wants it.
      return create(DurationSchema, {
        seconds: all / nanosOfSecond,
        nanos: Number(all % nanosOfSecond),
      })
    }),
  ]
}

/** Decimal digits, with a point, a sign and an exponent if there are any. */
const decimalPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

function doubleOf(text: string): number {
  const value = decimalPattern.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(value)) return value
  throw new Error(`${shown(text)} is no number`)
}

function integerOf(text: string): bigint {
  // A longer one is out of range, and would take long to be read.
  const isInteger = /^[+-]?0*\d{1,19}$/.test(text)
  const value = isInteger ? BigInt(text.replace('+', '')) : integerMax + 1n
  if (value >= integerMin && value <= integerMax) return value
  throw new Error(`${shown(text)} is no integer of 64 bits`)
}

const instantPattern =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?\d*(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** RFC 3339 as the library reads it, which has days that there are, and large letters. */
function instantOf(text: string): string {
  const [, year = '', month = '', day = '', , fraction = '', zone = ''] =
    instantPattern.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const isDay = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
  if (!isDay || year === '0000') throw new Error(`${shown(text)} is no time in RFC 3339 format`)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction}${zone.toUpperCase()}`
}

const nanosOfSecond = 1_000_000_000n

const nanosOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: nanosOfSecond,
  m: 60n * nanosOfSecond,
  h: 3_600n * nanosOfSecond,
}

const durationPartPattern = /(\d*)\.?(\d*)(ns|us|µs|ms|s|m|h)/g
const durationPattern = /^[+-]?(?:0|(?:(?:\d{1,19}\.?\d{0,19}|\.\d{1,19})(?:ns|us|µs|ms|s|m|h))+)$/

function nanosecondsOf(text: string): bigint {
  if (!durationPattern.test(text)) throw new Error(`${shown(text)} is no duration such as 1h30m`)
  let sum = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(durationPartPattern)) {
    const nanos = nanosOf[unit] ?? 0n
    sum += BigInt(whole || '0') * nanos
    sum += (BigInt(fraction || '0') * nanos) / 10n ** BigInt(fraction.length)
  }
  const signed = text.startsWith('-') ? -sum : sum
  if (signed < integerMin || signed > integerMax) throw new Error(`${shown(text)} is too long`)
  return signed
}

function shown(text: string): string {
  return JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text)
}
