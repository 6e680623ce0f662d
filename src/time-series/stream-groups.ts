import type { StreamState } from './stream-state.ts'
import type { Shipment, StoredCounts, StoredReading } from './time-series-store.ts'
import { withoutUnchanged } from './unchanged.ts'

/** One stream's part of a shipment. */
export interface StreamGroup<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  /** Readings received, quarantined ones included. */
  readonly received: number
  readonly readings: StoredReading[]
  /** The same with those that were dropped. */
  readonly arrived: readonly StoredReading[]
  /** The redriven ones of the whole shipment. */
  readonly redriven: ReadonlySet<StoredReading>
  /** Readings that were dropped, as they said nothing new. */
  readonly unchanged: number
  /** What the newest stored reading will say, if the stream drops others like it. */
  readonly newestContent: bigint | undefined
}

const none: ReadonlySet<StoredReading> = new Set()

/** A shipment by stream, so that what concerns a stream is looked up once and not per reading. */
export function groupByStream<Record extends StreamState>(
  streams: { readonly stream: (id: string) => Record },
  shipment: Shipment,
): StreamGroup<Record>[] {
  const groups = new Map<string, StreamGroup<Record>>()
  const { redriven = none, deduplicated } = shipment
  for (const [id, received] of shipment.received) {
    const record = streams.stream(id)
    const { newestContent } = record
    const readings: StoredReading[] = []
    const sent = { received, readings, arrived: readings, redriven }
    groups.set(id, { id, record, ...sent, unchanged: 0, newestContent })
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

/** True when each reading is newer than all of its stream before it, stored or in the shipment. */
export function isRising({ record, readings }: StreamGroup): boolean {
  let newestUs = record.timestampMaxUs
  for (const { timestampUs } of readings) {
    if (timestampUs <= newestUs) return false
    newestUs = timestampUs
  }
  return true
}

/** What a shipment adds to a stream's record, and the record after it. */
export interface CountChange<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  readonly added: StoredCounts & { readonly timestampMaxUs: number }
  readonly after: {
    readonly counts: StoredCounts
    readonly timestampMaxUs: number
    readonly newestContent: bigint | undefined
  }
}

export function countChange<Record extends StreamState>(
  { id, record, received, readings, redriven, unchanged, newestContent }: StreamGroup<Record>,
  duplicates: ReadonlySet<StoredReading>,
  nowUs: number,
): CountChange<Record> {
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
    id,
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
