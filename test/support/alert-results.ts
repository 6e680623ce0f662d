import type { Scalar } from '../../processors/alert-rules.ts'

/** What a function says of values, computed from all of them. */
export function recomputed(name: string, values: readonly Scalar[]): Scalar | undefined {
  if (name === 'count') return values.length
  if (values.length === 0) return undefined
  if (name === 'first') return values[0]
  if (name === 'last') return values.at(-1)
  const numbers = values as readonly number[]
  const sum = numbers.reduce((total, each) => total + each, 0)
  const mean = sum / numbers.length
  const low = numbers.reduce((least, each) => (each < least ? each : least))
  const high = numbers.reduce((most, each) => (each > most ? each : most))
  if (name === 'sum') return sum
  if (name === 'avg') return mean
  if (name === 'min') return low
  if (name === 'max') return high
  if (name === 'range') return high - low
  if (numbers.length < 2) return undefined
  const squares = numbers.reduce((total, each) => total + (each - mean) ** 2, 0)
  return Math.sqrt(squares / (numbers.length - 1))
}
