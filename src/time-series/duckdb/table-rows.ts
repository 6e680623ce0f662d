import type { StreamGroup } from '../stream-groups.ts'
import type { Shape, StoredReading } from '../time-series-store.ts'
import { type StreamRecord, tableName } from './catalog.ts'
import { monthOf } from './months.ts'

/** Readings of one stream for one table. */
export interface TableRows {
  readonly table: string
  readonly record: StreamRecord
  readonly readings: StoredReading[]
}

/**
 * Tells where readings belong. Neighbours mostly belong together, and so do streams of one shape: what was
 * found last for a shape is kept, because to write down the name of a table costs more than to look.
 */
export class TableFinder {
  readonly #found = new Map<Shape, FoundTable>()

  rowsOf(
    { record, readings }: StreamGroup<StreamRecord>,
    duplicates: ReadonlySet<StoredReading>,
  ): readonly TableRows[] {
    const only = this.#onlyTableOf(readings)
    if (only !== undefined && duplicates.size === 0) return [{ table: only, record, readings }]
    const parts = new Map<string, TableRows>()
    let part: TableRows | undefined
    for (const reading of readings) {
      if (duplicates.size > 0 && duplicates.has(reading)) continue
      const table = this.#tableOf(reading)
      if (part?.table !== table) {
        part = parts.get(table) ?? { table, record, readings: [] }
        parts.set(table, part)
      }
      part.readings.push(reading)
    }
    return [...parts.values()]
  }

  /** Nearly always there is one, and nothing has to be sorted out. */
  #onlyTableOf(readings: readonly StoredReading[]): string | undefined {
    const [first] = readings
    if (first === undefined) return undefined
    const table = this.#tableOf(first)
    for (const reading of readings) if (this.#tableOf(reading) !== table) return undefined
    return table
  }

  #tableOf({ shape, timestampUs }: StoredReading): string {
    const day = Math.floor(timestampUs / usPerDay)
    const found = this.#found.get(shape)
    if (found?.day === day) return found.table
    const table = tableName(shape.id, monthOf(timestampUs))
    this.#found.set(shape, { day, table })
    return table
  }
}

interface FoundTable {
  readonly day: number
  readonly table: string
}

const usPerDay = 86_400_000_000
