import { createRequire } from 'node:module'
import type { CelFunc, CelList, CelMap, CelValue } from '@bufbuild/cel'
import { cutText } from '../src/core/cut-text.ts'
import { type InstantUs, instantUsOf } from '../src/core/time.ts'
import { bitNames, bytes } from './expression-bytes.ts'
import { charactersPerStep, type Meter } from './expression-meter.ts'
import { texts } from './expression-texts.ts'

export type Cel = typeof import('@bufbuild/cel')

/** The library compiles a pattern anew each time. */
const stepsPerSearch = 100

/** Names of the functions that measure work. No expression can spell them. */
export const weigh = '@weigh'
export const goOn = '@goOn'
export const scan = '@scan'

/** What the library lacks: arithmetic of mixed numbers, mathematics, times in UTC, texts, bytes, measured work. */
export function functionsOf(cel: Cel, meter: Meter): CelFunc[] {
  return [
    ...mixedArithmetic(cel),
    ...mathematics(cel),
    ...times(cel),
    ...conversions(cel),
    ...lists(cel),
    ...texts(cel, meter),
    ...bytes(cel),
    ...measuring(cel, meter),
  ]
}

/** `temperature * 2`: in pure CEL a double and an integer have no product. */
function mixedArithmetic({ celFunc, CelScalar: { INT, DOUBLE } }: Cel): CelFunc[] {
  const operations: readonly [string, (left: number, right: number) => number][] = [
    ['_+_', (left, right) => left + right],
    ['_-_', (left, right) => left - right],
    ['_*_', (left, right) => left * right],
    ['_/_', (left, right) => left / right],
  ]
  return operations.flatMap(([name, operation]) => [
    celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => operation(Number(left), right)),
    celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => operation(left, Number(right))),
  ])
}

const ofOneNumber: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  exp: Math.exp,
  floor: Math.floor,
  log: Math.log,
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
  sqrt: Math.sqrt,
}

const ofTwoNumbers: Readonly<Record<string, (left: number, right: number) => number>> = {
  greatest: Math.max,
  least: Math.min,
  pow: Math.pow,
}

export const mathNames: readonly string[] = [
  ...Object.keys(ofOneNumber),
  ...Object.keys(ofTwoNumbers),
  ...bitNames,
]

/** All take integers, too, and result in doubles. */
function mathematics({ celFunc, CelScalar: { INT, DOUBLE } }: Cel): CelFunc[] {
  const either = [INT, DOUBLE] as const
  return [
    ...Object.entries(ofOneNumber).flatMap(([name, apply]) =>
      either.map((type) => celFunc(`math.${name}`, [type], DOUBLE, (of) => apply(Number(of)))),
    ),
    ...Object.entries(ofTwoNumbers).flatMap(([name, apply]) =>
      either.flatMap((left) =>
        either.map((right) =>
          celFunc(`math.${name}`, [left, right], DOUBLE, (a, b) => apply(Number(a), Number(b))),
        ),
      ),
    ),
  ]
}

const partsOfTime: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
}

export const timeNames: readonly string[] = Object.keys(partsOfTime)

/** The library reckons by way of the machine's zone, where some hours of UTC do not exist. */
function times({ celFunc, celMethod, objectType, CelScalar: { INT } }: Cel): CelFunc[] {
  const timestamp = objectType('google.protobuf.Timestamp')
  return [
    ...Object.entries(partsOfTime).map(([name, part]) =>
      celMethod(name, timestamp, [], INT, function () {
        return BigInt(part(new Date(millisecondsOf(this))))
      }),
    ),
    // The library takes them for milliseconds, the language for seconds.
    celFunc('timestamp', [INT], timestamp, () => {
      throw new Error('timestamp() takes a text')
    }),
  ]
}

/** Its nanoseconds go forward from its second, also before 1970. */
interface LibraryTimestamp {
  readonly message: { readonly seconds: bigint; readonly nanos: number }
}

/** Cut off towards the past. */
function millisecondsOf(timestamp: unknown): number {
  const { seconds, nanos } = (timestamp as LibraryTimestamp).message
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000)
}

/** Microseconds since the epoch of a timestamp of the library. */
export function microsecondsOf(timestamp: unknown): InstantUs {
  const { seconds, nanos } = (timestamp as LibraryTimestamp).message
  return instantUsOf(Number(seconds), Math.floor(nanos / 1000))
}

/** The library chains lists, and to walk along a long chain takes the square of its length. */
function lists({ celFunc, celList, listType, CelScalar: { DYN } }: Cel): CelFunc[] {
  const list = listType(DYN)
  return [celFunc('_+_', [list, list], list, (left, right) => celList([...left, ...right]))]
}

/**
 * Calls of these are woven into an expression: they count what it does, and stop it. Every round of a
 * loop is paid for, and everything that is compared, joined or searched, by its size.
 */
function measuring(cel: Cel, meter: Meter): CelFunc[] {
  const {
    celFunc,
    isCelList,
    isCelMap,
    CelScalar: { DYN, INT },
  } = cel
  const weight = (value: CelValue): number => {
    if (typeof value === 'string') return value.length / charactersPerStep
    if (value instanceof Uint8Array) return value.length / charactersPerStep
    if (isCelList(value)) return weightOfAll(value)
    return isCelMap(value) ? weightOfAll(value.values()) : 0
  }
  const weightOfAll = (values: CelList | ReturnType<CelMap['values']>): number => {
    let sum = 0
    for (const value of values) {
      sum += 1 + weight(value)
      if (sum > meter.left) break
    }
    return sum
  }
  return [
    celFunc(weigh, [DYN], DYN, (value) => {
      meter.take(weight(value))
      return value
    }),
    // Steps of a loop are taken with its condition, because a step that fails would never get to
    // its call.
    celFunc(goOn, [DYN, INT], DYN, (condition, steps) => {
      meter.take(Number(steps))
      return condition
    }),
    // What a search costs rises with the pattern, and with the text as many times.
    celFunc(scan, [DYN, INT], DYN, (text, patternSteps) => {
      const length = typeof text === 'string' ? text.length : 0
      meter.take(stepsPerSearch + Number(patternSteps) * (2 + length / charactersPerStep))
      return text
    }),
  ]
}

/** Integers of the language have 64 bits. */
const [integerMin, integerMax] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Characters up to which a text is shown in a message. */
const shownMax = 50

/**
 * Conversions of texts. The library takes what JavaScript takes: an empty text for 0, `0x10` for 16, and the 30th of
 * February for a day in March. Here a text that is not what it is converted to is an error.
 */
function conversions({ celFunc, objectType, CelScalar: { INT, DOUBLE, STRING } }: Cel): CelFunc[] {
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
  throw new Error(`${shown(text)} is not a number`)
}

function integerOf(text: string): bigint {
  // A longer one is out of range, and would take long to be read.
  const isInteger = /^[+-]?0*\d{1,19}$/.test(text)
  const value = isInteger ? BigInt(text.replace('+', '')) : integerMax + 1n
  if (value >= integerMin && value <= integerMax) return value
  throw new Error(`${shown(text)} is not an integer of 64 bits`)
}

const instantPattern =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?\d*(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** RFC 3339 as the library reads it, which has days that there are, and large letters. */
function instantOf(text: string): string {
  const [, year = '', month = '', day = '', , fraction = '', zone = ''] =
    instantPattern.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const isDay = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
  if (!isDay || year === '0000') throw new Error(`${shown(text)} is not a time in RFC 3339 format`)
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
  if (!durationPattern.test(text)) throw new Error(`${shown(text)} is not a duration such as 1h30m`)
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
  return JSON.stringify(text.length > shownMax ? `${cutText(text, shownMax)}…` : text)
}
