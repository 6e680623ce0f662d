import type { AggregatedField, AggregateFunction } from '../aggregate-query.ts'
import type { Column, ColumnType } from '../shape.ts'

/** The fields of a query with the types that their values have in all that is stored together. */
export function unitedFields(
  fields: readonly AggregatedField[],
  stored: readonly Column[],
): readonly AggregatedField[] {
  return fields.map((field) => ({ ...field, type: unitedType(field, stored) }))
}

/** The names among the fields, each once. */
export function columnsOf(fields: readonly AggregatedField[]): readonly Column[] {
  return [...new Map(fields.map(({ name, type }) => [name, { name, type }])).values()]
}

/** Whole numbers are numbers; where a field has been both, all of it is doubles. */
function unitedType({ name, type }: AggregatedField, stored: readonly Column[]): ColumnType {
  if (type !== 'bigint') return type
  return stored.some((column) => column.name === name && column.type === 'double')
    ? 'double'
    : 'bigint'
}

/** Whether values that were stored as one type can be read as the other. */
export function isReadableAs(stored: ColumnType, asked: ColumnType): boolean {
  return stored === asked || (stored === 'bigint' && asked === 'double')
}

/** Whether a function looks at the order of readings. */
export function isOrdered(name: AggregateFunction): boolean {
  return name === 'first' || name === 'latest'
}

/** Whether what a function makes of values is as long as they are. */
export function isText({ function: name, type }: AggregatedField): boolean {
  return isOrdered(name) && (type === 'varchar' || type === 'json')
}

/** What a function makes of values of a type. */
export function resultType({ function: name, type }: AggregatedField): ColumnType {
  if (name === 'count') return 'bigint'
  const keepsType = name === 'min' || name === 'max' || isOrdered(name)
  return keepsType ? type : 'double'
}
