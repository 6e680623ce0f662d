import { quoted } from './catalog.ts'

/** Whole numbers of a column, by row; nothing is NULL. */
export interface GivenColumn {
  readonly type: 'INTEGER' | 'BIGINT'
  readonly values: readonly (number | undefined)[]
}

/**
 * SQL of rows that a statement brings along, as a relation. Each column is one text: as literals of their own the
 * engine needs five times as long for them, which for the rows of thousands of streams is the longer part of a
 * statement.
 *
 * @param columns by name, all with as many values
 */
export function givenRows(columns: Readonly<Record<string, GivenColumn>>): string {
  const list = Object.entries(columns).map(
    ([name, column]) => `unnest(${givenList(column)}) AS ${quoted(name)}`,
  )
  return `(SELECT ${list.join(', ')})`
}

/** SQL of a list of whole numbers, for the same reason. */
export function givenList({ type, values }: GivenColumn): string {
  return `'[${values.map((value) => value ?? 'NULL').join(',')}]'::${type}[]`
}

/** SQL of the numbers of streams, for `IN`. */
export function givenKeys(keys: readonly number[]): string {
  return givenRows({ key: { type: 'INTEGER', values: keys } })
}
