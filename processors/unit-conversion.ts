import { createRequire } from 'node:module'
import { LruMap } from '../src/core/lru-map.ts'

/** Longest name of a unit, such as `kg m^2 / s^2`. */
const nameLengthMax = 64

/** Letters, digits and what units are multiplied and divided with. */
const namePattern = /^[A-Za-z][A-Za-z0-9 ^*/().-]*$/

/** Digits that are reckoned with: far more than a double holds, so that nothing is lost on the way. */
const precision = 64

/** Turns a number of one unit into one of another. */
export type Convert = (value: number) => number

const conversions = new LruMap<string, Convert | string>(1_000)

/** How to convert, or what is wrong with the units. All conversions are linear: x * factor + offset. */
export function conversionOf(from: string, to: string): Convert | string {
  for (const name of [from, to]) {
    if (name.length > nameLengthMax || !namePattern.test(name)) return `there is no unit '${name}'`
  }
  const key = `${from} > ${to}`
  const known = conversions.get(key)
  if (known !== undefined) return known
  const conversion = compile(from, to)
  conversions.set(key, conversion)
  return conversion
}

function compile(from: string, to: string): Convert | string {
  const { unit, bignumber } = units()
  for (const name of [from, to]) {
    try {
      unit(name)
    } catch {
      return `there is no unit '${name}'`
    }
  }
  const at = (value: number): Decimal => unit(bignumber(value), from).toNumeric(to)
  let zero: Decimal
  let factor: Decimal
  try {
    zero = at(0)
    factor = at(1).minus(zero)
  } catch {
    return `${from} cannot be converted to ${to}`
  }
  return linear(factor, zero)
}

/**
 * The same line in the form with the shortest numbers, which doubles hold best: 212 degF are exactly 100
 * degC as (212 - 32) / 1.8, and not as 212 * 0.5555555555555556 - 17.77777777777778.
 */
function linear(factor: Decimal, zero: Decimal): Convert {
  const inverse = factor.pow(-1)
  const isMultiplied =
    factor.isInteger() || (!inverse.isInteger() && factor.precision() <= inverse.precision())
  const by = (isMultiplied ? factor : inverse).toNumber()
  const scaled: Convert = isMultiplied ? (value) => value * by : (value) => value / by
  if (zero.isZero()) return scaled
  const start = zero.neg().div(factor)
  if (zero.precision() <= start.precision()) {
    const offset = zero.toNumber()
    return (value) => scaled(value) + offset
  }
  const before = start.toNumber()
  return (value) => scaled(value - before)
}

/** What is used of the library's numbers. */
interface Decimal {
  minus(other: Decimal): Decimal
  div(other: Decimal): Decimal
  neg(): Decimal
  pow(exponent: number): Decimal
  precision(): number
  isInteger(): boolean
  isZero(): boolean
  toNumber(): number
}

interface Units {
  readonly unit: {
    (name: string): unknown
    (value: Decimal, name: string): { toNumeric(name: string): Decimal }
  }
  readonly bignumber: (value: number) => Decimal
}

let loaded: Units | undefined

/** Loaded when the first conversion is compiled: it is large, and most services have none. */
function units(): Units {
  if (loaded === undefined) {
    const mathjs = createRequire(import.meta.url)('mathjs') as typeof import('mathjs')
    const { unitDependencies = {}, bignumberDependencies = {}, create } = mathjs
    const config = { number: 'BigNumber', precision } as const
    loaded = create({ unitDependencies, bignumberDependencies }, config) as unknown as Units
  }
  return loaded
}
