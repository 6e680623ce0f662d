import { shortest } from '../../src/core/single-precision.ts'
import { SourceRefused } from '../../src/pipeline/fetch-connector.ts'
import { described } from './device-failures.ts'
import type { ObjectItem } from './options.ts'

/** A value as the library has decoded it. */
export interface ApplicationValue {
  /** An application tag (ANSI/ASHRAE 135, clause 20.2.1.4). */
  readonly type: number
  readonly value: unknown
}

/** What `toFixed` takes at most. */
const digitsMax = 100

/** Application tags. */
const none = 0
const boolean = 1
const unsigned = 2
const signed = 3
const real = 4
const double = 5
const characters = 7
const enumerated = 9

/**
 * A value as JSON; undefined where there is none: null, or a floating-point number that is none.
 *
 * @param isBinary whether an enumeration is that of inactive and active
 * @throws SourceRefused when the property is no single value, or one of a kind that no field can have
 */
export function valueText(
  values: readonly ApplicationValue[],
  item: ObjectItem,
  isBinary: boolean,
): string | undefined {
  const [only] = values
  if (only === undefined || values.length > 1) throw unreadable(item, 'not one value')
  const { type, value } = only
  switch (type) {
    case none:
      return undefined
    case boolean:
      return String(value === true)
    case unsigned:
    case signed:
      return whole(Number(value), item)
    case enumerated:
      return isBinary ? String(value !== 0) : whole(Number(value), item)
    case real:
      return floating(Number(shortest(Number(value))), item)
    case double:
      return floating(Number(value), item)
    case characters:
      return JSON.stringify(String(value))
    default:
      throw unreadable(item, 'of a kind that no field can have')
  }
}

function unreadable(item: ObjectItem, problem: string): SourceRefused {
  return new SourceRefused(`${described([item])} is ${problem}`)
}

/** Scaled it has the digits of a decimal: 3 by 0.1 is 0.3, which doubles would miss. */
function whole(value: number, { scale, offset }: ObjectItem): string | undefined {
  const digits = Math.min(digitsMax, Math.max(decimals(scale), decimals(offset)))
  return numberText(Number((value * scale + offset).toFixed(digits)))
}

function floating(value: number, { scale, offset }: ObjectItem): string | undefined {
  return numberText(value * scale + offset)
}

function numberText(value: number): string | undefined {
  return Number.isFinite(value) ? String(value) : undefined
}

/** Digits behind the point of a number, as it is written. */
function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const behind = mantissa.split('.')[1] ?? ''
  return Math.max(0, behind.length - Number(exponent))
}
