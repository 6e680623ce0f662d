import { type Row, valuesOf } from '../point-values.ts'
import type { OrderedPoint } from '../raw-page.ts'
import type { Column } from '../time-series-store.ts'
import { quoted } from './catalog.ts'

/** Bytes of a reading beside its texts, about: its time, and each of its fields. */
const bytesOfReading = 48
const bytesOfField = 24

/** SQL for about how many bytes a reading has. */
export function readingSize(columns: readonly Column[]): string {
  const texts = columns.filter(({ type }) => type === 'varchar' || type === 'json')
  const lengths = ['extra', ...texts.map(({ name }) => name)].map(
    (name) => `coalesce(strlen(${quoted(name)}), 0)`,
  )
  return `${bytesOfReading + bytesOfField * columns.length} + ${lengths.join(' + ')}`
}

/** What is to be selected of a reading, for `pointOf`. */
export function readingList(columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) =>
    type === 'timestamp' ? `epoch_us(${quoted(name)})::DOUBLE AS ${quoted(name)}` : quoted(name),
  )
  const own = ['epoch_us("timestamp")::DOUBLE AS "$time"', '"$digest"', '"extra"', '"$flagged"']
  return [...own, ...fields].join(', ')
}

export function pointOf(row: Row, columns: readonly Column[], withExtra: boolean): OrderedPoint {
  const extra = row['extra']
  const flagged = row['$flagged']
  return {
    timestampUs: row['$time'] as number,
    digest: row['$digest'] as bigint,
    values: valuesOf(row, columns),
    ...(withExtra && typeof extra === 'string' && { extra: JSON.parse(extra) as Row }),
    ...(typeof flagged === 'string' && { flagged: flagged.split(',') }),
  }
}
