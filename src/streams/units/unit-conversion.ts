import * as mathjs from 'mathjs'
import type { Line } from '../../contracts/transform-step.ts'
import { meantUnit } from './unit-spellings.ts'

/** Longest name of a unit, such as `kg m^2 / s^2`. */
const nameLengthMax = 64

/** Letters, digits and what units are multiplied and divided with. */
const namePattern = /^[A-Za-z][A-Za-z0-9 ^*/().-]*$/

/** Digits that are reckoned with: far more than a double holds, so that nothing is lost on the way. */
const precision = 64

/** How to convert, or what is wrong with the units. */
export function lineOf(from: string, to: string): Line | string {
  for (const name of [from, to]) {
    if (name.length > nameLengthMax || !namePattern.test(name)) return unknown(name)
  }
  for (const name of [from, to]) {
    try {
      unit(name)
    } catch {
      return unknown(name)
    }
  }
  const at = (value: number): Decimal => unit(bignumber(value), from).toNumeric(to)
  let zero: Decimal
  let factor: Decimal
  try {
    zero = at(0)
    factor = at(1).minus(zero)
  } catch {
    const meant = [from, to].flatMap((name) => meantInstead(name) ?? [])
    const advice = meant.length === 0 ? '' : ` (${meant.join(', ')})`
    return `${from} cannot be converted to ${to}${advice}`
  }
  return linear(factor, zero)
}

function unknown(name: string): string {
  const meant = meantUnit(name, unitNames)
  return `there is no unit '${name}'${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
}

/** What a name may have been meant for that is a unit of something else: C is coulomb, for example. */
function meantInstead(name: string): string | undefined {
  const meant = meantUnit(name, [])
  return meant === undefined ? undefined : `${meant} for ${name}?`
}

/**
 * Writes a line in the form with the shortest numbers, which doubles hold best: 212 degF are
 * exactly 100 degC as (212 - 32) / 1.8, and not as 212 * 0.5555555555555556 - 17.77777777777778.
 */
function linear(factor: Decimal, zero: Decimal): Line {
  const inverse = shortened(factor.pow(-1))
  const isMultiplied =
    factor.isInteger() || (!inverse.isInteger() && factor.precision() <= inverse.precision())
  const start = shortened(zero.neg().div(factor))
  const isOffset = zero.precision() <= start.precision()
  return {
    start: isOffset ? 0 : start.toNumber(),
    factor: (isMultiplied ? factor : inverse).toNumber(),
    isDivided: !isMultiplied,
    offset: isOffset ? zero.toNumber() : 0,
  }
}

/** Without the last digits, which are those of rounding: 1.8, and not 1.8000...0001. */
function shortened(number: Decimal): Decimal {
  return number.toSignificantDigits(precision - 8)
}

/** The part of the library's numbers that is used. */
interface Decimal {
  minus(other: Decimal): Decimal
  div(other: Decimal): Decimal
  neg(): Decimal
  pow(exponent: number): Decimal
  precision(): number
  toSignificantDigits(digits: number): Decimal
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
  readonly Unit: { readonly UNITS: Readonly<Record<string, unknown>> }
}

const { unitDependencies = {}, bignumberDependencies = {} } = mathjs

const { unit, bignumber, Unit } = mathjs.create(
  { unitDependencies, bignumberDependencies },
  { number: 'BigNumber', precision },
) as unknown as Units

/** Without prefixes. */
const unitNames = Object.keys(Unit.UNITS)
