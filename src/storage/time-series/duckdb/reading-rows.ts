import { type Row, valuesOf } from '../point-values.ts'
import { bytesWithoutTexts, pointOf as makePoint, type OrderedPoint, textsOf } from '../raw-page.ts'
import type { Column } from '../shape.ts'
import { quoted } from './catalog.ts'

/** SQL for about how many bytes a reading has. */
export function readingSize(columns: readonly Column[]): string {
  const lengths = textsOf(columns).map((name) => `coalesce(strlen(${quoted(name)}), 0)`)
  return [bytesWithoutTexts(columns), ...lengths].join(' + ')
}

/** What is to be selected of a reading, for `pointOf`. */
export function readingList(columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) =>
    type === 'timestamp' ? `epoch_us(${quoted(name)}) AS ${quoted(name)}` : quoted(name),
  )
  const own = ['epoch_us("timestamp")::DOUBLE AS "$time"', '"$digest"', '"extra"', '"$flagged"']
  return [...own, ...fields].join(', ')
}

export function pointOf(row: Row, columns: readonly Column[], withExtra: boolean): OrderedPoint {
  const stored = {
    timestampUs: row['$time'] as number,
    digest: row['$digest'] as bigint,
    values: valuesOf(row, columns),
    extra: row['extra'],
    flagged: row['$flagged'],
  }
  return makePoint(stored, withExtra)
}
