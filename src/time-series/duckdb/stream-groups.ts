import type { Shipment, StoredCounts, StoredReading } from '../time-series-store.ts'
import { type Catalog, monthOf, type StreamRecord, tableName } from './catalog.ts'
import { withoutUnchanged } from './unchanged.ts'

/** One stream's part of a shipment. */
export interface StreamGroup {
  readonly id: string
  readonly record: StreamRecord
  /** Readings received, quarantined ones included. */
  readonly received: number
  readonly readings: StoredReading[]
  /** The redriven ones of the whole shipment. */
  readonly redriven: ReadonlySet<StoredReading>
  /** Readings that were dropped, as they said nothing new. */
  readonly unchanged: number
  /** What the newest stored reading will say, if the stream drops others like it. */
  readonly newestContent: bigint | undefined
}

const none: ReadonlySet<StoredReading> = new Set()

/** A shipment by stream, so that what concerns a stream is looked up once and not per reading. */
export function groupByStream(catalog: Catalog, shipment: Shipment): StreamGroup[] {
  const groups = new Map<string, StreamGroup>()
  const { redriven = none, deduplicated } = shipment
  for (const [id, received] of shipment.received) {
    const record = catalog.stream(id)
    const { newestContent } = record
    groups.set(id, { id, record, received, readings: [], redriven, unchanged: 0, newestContent })
  }
  for (const reading of shipment.readings) {
    const group = groups.get(reading.streamId)
    if (!group) throw new Error(`stream ${reading.streamId} has readings but was not received`)
    group.readings.push(reading)
  }
  const all = [...groups.values()]
  const isPlain = deduplicated === undefined || deduplicated.size === 0
  return all.map((group) => {
    // A stream that dropped readings once, and does so no more, has to forget what its newest one says.
    const isAllKept = isPlain && group.newestContent === undefined
    return isAllKept ? group : { ...group, ...withoutUnchanged(group, deduplicated ?? noWindows) }
  })
}

const noWindows: ReadonlyMap<StoredReading, number> = new Map()

/** Readings of one stream for one table. */
export interface TableRows {
  readonly table: string
  readonly month: number
  readonly record: StreamRecord
  readonly readings: StoredReading[]
}

/** Where the readings of a group belong. Neighbours mostly belong together, which costs little. */
export function rowsByTable(
  { record, readings }: StreamGroup,
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
      const month = monthOf(reading.timestampUs)
      const table = tableName(shape, month)
      rows = tables.get(table) ?? { table, month, record, readings: [] }
      tables.set(table, rows)
    }
    rows.readings.push(reading)
  }
  return [...tables.values()]
}

const usPerDay = 86_400_000_000

/** What a shipment adds to a stream's record, and the record after it. */
export interface CountChange {
  readonly record: StreamRecord
  readonly added: StoredCounts & { readonly timestampMaxUs: number }
  readonly after: {
    readonly counts: StoredCounts
    readonly timestampMaxUs: number
    readonly newestContent: bigint | undefined
  }
}

export function countChange(
  { record, received, readings, redriven, unchanged, newestContent }: StreamGroup,
  duplicates: ReadonlySet<StoredReading>,
  nowUs: number,
): CountChange {
  let stored = 0
  let latencyUs = 0
  let timestampMaxUs = -1
  for (const reading of readings) {
    if (duplicates.size > 0 && duplicates.has(reading)) continue
    stored++
    if (redriven.size === 0 || !redriven.has(reading)) {
      latencyUs += Math.max(0, nowUs - reading.receivedAtUs)
    }
    timestampMaxUs = Math.max(timestampMaxUs, reading.timestampUs)
  }
  const { counts } = record
  const lastStoredAtUs = stored > 0 ? nowUs : counts.lastStoredAtUs
  const found = readings.length - stored
  return {
    record,
    added: {
      received,
      stored,
      duplicates: found,
      deleted: 0,
      expired: 0,
      keptFromUs: 0,
      unchanged,
      latencyUs,
      lastStoredAtUs,
      timestampMaxUs,
    },
    after: {
      counts: {
        ...counts,
        received: counts.received + received,
        stored: counts.stored + stored,
        duplicates: counts.duplicates + found,
        unchanged: counts.unchanged + unchanged,
        latencyUs: counts.latencyUs + latencyUs,
        lastStoredAtUs,
      },
      timestampMaxUs: Math.max(record.timestampMaxUs, timestampMaxUs),
      newestContent,
    },
  }
}
