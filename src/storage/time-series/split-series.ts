import { compareText } from '../../core/canonical-json.ts'
import { DomainError } from '../../core/errors.ts'
import type { ColumnType } from './shape.ts'

/** Values that split one query at most: a store looks each of its readings up among them. */
export const splitValuesMax = 1_000

/** Bytes of a text that is such a value: it is in each point of its series. */
export const splitTextBytesMax = 256

/** A field whose values divide readings into series. */
export interface SplitField {
  readonly name: string
  readonly type: SplitType
}

/** Types with values that are equal or not: of numbers and instants hardly any two are. */
export type SplitType = Extract<ColumnType, 'bigint' | 'boolean' | 'varchar'>

/** A value as answers have it; null for readings without the field. */
export type SplitValue = string | number | boolean | null

/** Below each whole number that a column can hold. */
const wholeBelow = 2n ** 63n
const wholeDigits = 20

/**
 * The key of the series of a value: whole numbers have their order as texts, too. Readings without the field come
 * first.
 *
 * @param value as a store has it: whole numbers may be digits, or a bigint
 */
export function splitKeyOf(value: unknown, type: SplitType): string {
  if (value === null || value === undefined) return ''
  if (type !== 'bigint') return `=${value as string | boolean}`
  const above = BigInt(value as string | number | bigint) + wholeBelow
  return `=${above.toString().padStart(wholeDigits, '0')}`
}

/** The value that a key stands for. */
export function splitValueOf(key: string, type: SplitType): SplitValue {
  if (key === '') return null
  const text = key.slice(1)
  if (type === 'varchar') return text
  return type === 'boolean' ? text === 'true' : Number(wholeOf(key))
}

/** The whole number that a key stands for, exactly. */
export function wholeOf(key: string): bigint {
  return BigInt(key.slice(1)) - wholeBelow
}

/** The values that were found so far, as the keys of their series. */
export class SplitKeys {
  readonly #field: SplitField
  readonly #keys = new Set<string>()

  constructor(field: SplitField) {
    this.#field = field
  }

  /** @throws DomainError `too_many_points` where there are too many */
  add(value: unknown): void {
    const { name, type } = this.#field
    this.#keys.add(splitKeyOf(value, type))
    if (this.#keys.size <= splitValuesMax) return
    const message = `'${name}' has more than ${splitValuesMax} values between start and end, and each would be a series`
    throw new DomainError('too_many_points', message, { details: [{ path: 'groupBy', message }] })
  }

  /** @throws DomainError `unsupported_query` */
  refuseLongText(): never {
    const message = `'${this.#field.name}' has a text of more than ${splitTextBytesMax} bytes between start and end, which cannot name a series`
    throw new DomainError('unsupported_query', message, { details: [{ path: 'groupBy', message }] })
  }

  /** In the order of series. */
  sorted(): readonly string[] {
    return [...this.#keys].sort(compareText)
  }
}
