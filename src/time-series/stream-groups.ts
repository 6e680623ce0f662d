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
    const arrived = readings
    groups.set(id, {
      id,
      record,
      received,
      readings,
      arrived,
      redriven,
      unchanged: 0,
      newestContent,
    })
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

/** What a shipment adds to a stream's record. A shipment has thousands of them: each is one small object. */
export interface CountChange<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  readonly added: AddedCounts
  /** What the record has to say from now on. */
  readonly newestContent: bigint | undefined
}

export type AddedCounts = Pick<
  StoredCounts,
  'received' | 'stored' | 'duplicates' | 'unchanged' | 'latencyUs' | 'lastStoredAtUs'
> & {
  /** -1 where nothing was stored. */
  readonly timestampMaxUs: number
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
  const lastStoredAtUs = stored > 0 ? nowUs : record.counts.lastStoredAtUs
  const found = readings.length - stored
  const added = { received, stored, duplicates: found, unchanged, latencyUs, lastStoredAtUs }
  return { id, record, added: { ...added, timestampMaxUs }, newestContent }
}

/** What the record of a stream says after a change of it. */
export function stateAfter({
  record: { counts, timestampMaxUs },
  added,
  newestContent,
}: CountChange): Pick<StreamState, 'counts' | 'timestampMaxUs' | 'newestContent'> {
  return {
    counts: {
      ...counts,
      received: counts.received + added.received,
      stored: counts.stored + added.stored,
      duplicates: counts.duplicates + added.duplicates,
      unchanged: counts.unchanged + added.unchanged,
      latencyUs: counts.latencyUs + added.latencyUs,
      lastStoredAtUs: added.lastStoredAtUs,
    },
    timestampMaxUs: Math.max(timestampMaxUs, added.timestampMaxUs),
    newestContent,
  }
}
