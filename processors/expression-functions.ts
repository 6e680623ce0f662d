import type { CelFunc, CelList, CelMap, CelValue } from '@bufbuild/cel'
import { type InstantUs, instantUsOf } from '../src/core/time.ts'
import type { Cel, Meter } from './expression.ts'
import { conversions } from './expression-conversions.ts'

/** Characters of a text that cost as much as one step. */
const charactersPerStep = 8

/** The library compiles a pattern anew each time. */
const stepsPerSearch = 100

/** Names of the functions that measure work. No expression can spell them. */
export const weigh = '@weigh'
export const goOn = '@goOn'
export const scan = '@scan'

/** What the library lacks: arithmetic of mixed numbers, mathematics, times in UTC, measured work. */
export function functionsOf(cel: Cel, meter: Meter): CelFunc[] {
  return [
    ...mixedArithmetic(cel),
    ...mathematics(cel),
    ...times(cel),
    ...conversions(cel),
    ...lists(cel),
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
    // Of the condition, because a step that fails would never get to its call.
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
