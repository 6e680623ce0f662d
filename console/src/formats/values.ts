import { measured } from './numbers.ts'

/** A value of a reading as text: numbers with all their digits, what is absent as nothing. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return measured(value)
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}

/** A number that has been computed, in as many digits as it is good for: an average of whole numbers has no 17. */
export function computedText(value: unknown): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return valueText(value)
  return measured(Number(value.toPrecision(7)))
}
