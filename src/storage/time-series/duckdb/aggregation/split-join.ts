import { type SplitField, wholeOf } from '../../split-series.ts'
import type { SelectedSplit } from './selection.ts'

/** Adds `$series` to rows named r by their values. */
export function splitJoin({ field, keys }: SelectedSplit): string {
  const list = keys.map((key) => valueSql(key, field)).join(',')
  return `JOIN (SELECT unnest([${list}]) AS "$value", unnest(range(${keys.length})) AS "$series") v
    ON v."$value" IS NOT DISTINCT FROM r."$split"`
}

function valueSql(key: string, { type }: SplitField): string {
  if (key === '') return `NULL::${sqlTypes[type]}`
  if (type === 'bigint') return `${wholeOf(key)}::BIGINT`
  const text = key.slice(1)
  return type === 'boolean' ? text : `'${text.replaceAll("'", "''")}'`
}

const sqlTypes = { bigint: 'BIGINT', boolean: 'BOOLEAN', varchar: 'VARCHAR' } as const
