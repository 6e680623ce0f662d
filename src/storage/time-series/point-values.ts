import { parseJson } from '../../core/parse-json.ts'
import { formatUs, type InstantUs, narrowed } from '../../core/time.ts'
import type { Column } from './shape.ts'

export type Row = Readonly<Record<string, unknown>>

/** The values of a row under the names of its columns; what is absent is left out. */
export function valuesOf(row: Row, columns: readonly Column[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { name, type } of columns) {
    const value = row[name]
    if (value === null || value === undefined) continue
    values[name] = toJson(value, type)
  }
  return values
}

/** A value of a column as answers have it. Instants come out of SQL as microseconds. */
export function toJson(value: unknown, type: Column['type']): unknown {
  switch (type) {
    case 'timestamp':
      return formatUs(microsecondsOf(value))
    case 'bigint':
      return Number(value)
    case 'json':
      return parseJson(value as string)
    case 'double':
    case 'boolean':
    case 'varchar':
      return value
    default:
      return type satisfies never
  }
}

/** A text is one of whole digits: stores answer with it where JSON would round them. */
function microsecondsOf(value: unknown): InstantUs {
  return typeof value === 'number' ? value : narrowed(BigInt(value as string | bigint))
}
