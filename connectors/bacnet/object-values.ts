import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { shortest } from '../../src/core/single-precision.ts'
import { scaledInteger, scaledReal } from '../scaled-value.ts'
import { described } from './device-failures.ts'
import type { ObjectItem } from './options.ts'

/** A value as the library has decoded it. */
export interface ApplicationValue {
  /** An application tag (ANSI/ASHRAE 135, clause 20.2.1.4). */
  readonly type: number
  readonly value: unknown
}

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
      return scaledInteger(Number(value), item)
    case enumerated:
      return isBinary ? String(value !== 0) : scaledInteger(Number(value), item)
    case real:
      return scaledReal(Number(shortest(Number(value))), item)
    case double:
      return scaledReal(Number(value), item)
    case characters:
      return JSON.stringify(String(value))
    default:
      throw unreadable(item, 'of a kind that no field can have')
  }
}

function unreadable(item: ObjectItem, problem: string): SourceRefused {
  return new SourceRefused(`${described([item])} is ${problem}`)
}
