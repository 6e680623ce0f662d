import { hash } from 'node:crypto'
import type { FieldMap, FieldType } from '../../contracts/stream-schema.ts'
import { canonicalJson, compareText } from '../../core/canonical-json.ts'

/** How a field is stored: the storage type of its column. */
export type ColumnType = 'double' | 'bigint' | 'boolean' | 'varchar' | 'timestamp' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** Field names and storage types of a schema, by name: streams of one shape share tables. */
export interface Shape {
  readonly id: string
  readonly columns: readonly Column[]
}

const columnTypes: Readonly<Record<FieldType, ColumnType>> = {
  number: 'double',
  integer: 'bigint',
  boolean: 'boolean',
  string: 'varchar',
  datetime: 'timestamp',
  object: 'json',
  array: 'json',
}

export function columnTypeOf(type: FieldType): ColumnType {
  return columnTypes[type]
}

/** The storage shape of a stream's fields. Ranges, units and the like leave it alone. */
export function shapeOf(fields: FieldMap): Shape {
  const columns = Object.entries(fields)
    .map(([name, field]) => ({ name, type: columnTypeOf(field.type) }))
    .sort((left, right) => compareText(left.name, right.name))
  return { id: hash('sha256', canonicalJson(columns), 'hex').slice(0, 16), columns }
}
