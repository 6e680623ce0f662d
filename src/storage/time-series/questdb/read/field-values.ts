import { toJson } from '../../point-values.ts'
import {
  bytesWithoutTexts,
  pointOf as makePoint,
  type OrderedPoint,
  textsOf,
} from '../../raw-page.ts'
import type { Column } from '../../shape.ts'
import { booleanBytes, digestOf, quoted } from '../layout.ts'
import { microseconds } from './statement.ts'

/** A row of an answer: values in the order of what was selected. */
export type Row = readonly unknown[]

/** SQL of a field, for `fieldValue`. */
export function selectedField({ name, type }: Column): string {
  return type === 'timestamp' ? microseconds(quoted(name)) : quoted(name)
}

/** SQL of whether a reading has the field. */
export function isThere({ name, type }: Column): string {
  return type === 'boolean' ? `${quoted(name)} != 0` : `${quoted(name)} != null`
}

/** A field as answers have it; undefined for what is not there. */
export function fieldValue(selected: unknown, type: Column['type']): unknown {
  if (selected === null || selected === undefined) return undefined
  if (type !== 'boolean') return toJson(selected, type)
  return selected === 0 ? undefined : selected === booleanBytes.true
}

/** What is selected of a reading beside its fields, for `pointOf`. */
const ownFields = [microseconds('"timestamp"'), '"$digest"', '"extra"', '"$flagged"']

/** SQL of what is to be selected of a reading, for `pointOf`. */
export function selectedReading(columns: readonly Column[]): string {
  return [...ownFields, ...columns.map(selectedField)].join(', ')
}

/** A reading out of its row. */
export function pointOf(row: Row, columns: readonly Column[], withExtra: boolean): OrderedPoint {
  const [time, digest, extra, flagged] = row
  const values: Record<string, unknown> = {}
  for (const [index, { name, type }] of columns.entries()) {
    const value = fieldValue(row[ownFields.length + index], type)
    if (value !== undefined) values[name] = value
  }
  const stored = {
    timestampUs: Number(time),
    digest: storedDigestOf(digest),
    values,
    extra,
    flagged,
  }
  return makePoint(stored, withExtra)
}

/** The digest of a row, as it was selected. */
export function storedDigestOf(selected: unknown): bigint {
  return digestOf(selected as string | null)
}

/** SQL for about how many bytes a reading has. */
export function readingSize(columns: readonly Column[]): string {
  const lengths = textsOf(columns).map((name) => `length_bytes(${quoted(name)})`)
  return [bytesWithoutTexts(columns), ...lengths].join(' + ')
}
