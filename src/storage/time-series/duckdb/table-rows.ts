import type { Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import type { StreamGroup } from '../stream-groups.ts'
import { type StreamRecord, tableName } from './catalog.ts'
import { monthOf } from './months.ts'

/** Readings of one stream for one table. */
export interface StreamRows {
  readonly record: StreamRecord
  readonly readings: readonly ShippedReading[]
}

/** Rows by the name of their table; none is empty. */
export type RowsByTable = ReadonlyMap<string, readonly StreamRows[]>

/** Tells where readings belong, without the duplicates among them. */
export function rowsByTable(
  groups: readonly StreamGroup<StreamRecord>[],
  duplicates: ReadonlySet<ShippedReading>,
): RowsByTable {
  const tables = new Map<string, StreamRows[]>()
  const finder = new TableFinder()
  const add = (table: string, rows: StreamRows) => {
    const known = tables.get(table)
    if (known) known.push(rows)
    else tables.set(table, [rows])
  }
  for (const group of groups) {
    const { record, readings } = group
    // Nearly always there is one, nothing has to be sorted out, and the group says all that there is to say.
    const only = duplicates.size === 0 ? finder.onlyTableOf(readings) : undefined
    if (only !== undefined) add(only, group)
    else
      for (const [table, some] of finder.parts(readings, duplicates))
        add(table, { record, readings: some })
  }
  return tables
}

/**
 * Finds the tables of readings. Neighbours mostly belong together, and so do streams of one shape: what was
 * found last for a shape is kept, because to write down the name of a table costs more than to look.
 */
class TableFinder {
  readonly #found = new Map<Shape, FoundTable>()

  /** The table that all of them belong to, if there is one. */
  onlyTableOf(readings: readonly ShippedReading[]): string | undefined {
    const [first] = readings
    if (first === undefined) return undefined
    const table = this.#tableOf(first)
    for (const reading of readings) if (this.#tableOf(reading) !== table) return undefined
    return table
  }

  parts(
    readings: readonly ShippedReading[],
    duplicates: ReadonlySet<ShippedReading>,
  ): ReadonlyMap<string, readonly ShippedReading[]> {
    const kept = readings.filter((reading) => !duplicates.has(reading))
    return Map.groupBy(kept, (reading) => this.#tableOf(reading))
  }

  #tableOf({ shape, timestampUs }: ShippedReading): string {
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
