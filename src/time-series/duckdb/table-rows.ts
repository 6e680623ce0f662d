import type { StreamGroup } from '../stream-groups.ts'
import type { StoredReading } from '../time-series-store.ts'
import { type StreamRecord, tableName } from './catalog.ts'
import { monthOf } from './months.ts'

/** Readings of one stream for one table. */
export interface TableRows {
  readonly table: string
  readonly record: StreamRecord
  readonly readings: StoredReading[]
}

/** Where the readings of a group belong. Neighbours mostly belong together, which costs little. */
export function rowsByTable(
  { record, readings }: StreamGroup<StreamRecord>,
  duplicates: ReadonlySet<StoredReading>,
): TableRows[] {
  const tables = new Map<string, TableRows>()
  let rows: TableRows | undefined
  let day = -1
  let shape = ''
  for (const reading of readings) {
    if (duplicates.size > 0 && duplicates.has(reading)) continue
    const readingDay = Math.floor(reading.timestampUs / usPerDay)
    if (!rows || readingDay !== day || reading.shape.id !== shape) {
      day = readingDay
      shape = reading.shape.id
      const table = tableName(shape, monthOf(reading.timestampUs))
      rows = tables.get(table) ?? { table, record, readings: [] }
      tables.set(table, rows)
    }
    rows.readings.push(reading)
  }
  return [...tables.values()]
}

const usPerDay = 86_400_000_000
