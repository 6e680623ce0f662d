import type { Shipment, ShippedReading } from './shipment.ts'
import type { OwnCounts, StreamState } from './stream-state.ts'
import type { StoredCounts } from './time-series-store.ts'
import { withoutUnchanged } from './unchanged.ts'

/** One stream's part of a shipment. */
export interface StreamGroup<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  /** Readings received, quarantined ones included. */
  readonly received: number
  readonly readings: ShippedReading[]
  /** The readings together with those that were dropped. */
  readonly arrived: readonly ShippedReading[]
  /** The redriven ones of the whole shipment. */
  readonly redriven: ReadonlySet<ShippedReading>
  /** Readings that were dropped, as they said nothing new. */
  readonly unchanged: number
  /** What the newest stored reading will say, if the stream drops others like it. */
  readonly newestContent: bigint | undefined
}

const none: ReadonlySet<ShippedReading> = new Set()

/** A shipment by stream, so that what concerns a stream is looked up once and not per reading. */
export function groupByStream<Record extends StreamState>(
  streams: { readonly stream: (id: string) => Record },
  shipment: Shipment,
): StreamGroup<Record>[] {
  const { redriven = none, deduplicated } = shipment
  const parts = partsOf(shipment)
  const all = Array.from(shipment.received, ([id, received], at): StreamGroup<Record> => {
    const record = streams.stream(id)
    const readings = parts[at] as ShippedReading[]
    const { newestContent } = record
    const arrived = readings
    return { id, record, received, readings, arrived, redriven, unchanged: 0, newestContent }
  })
  const isPlain = deduplicated === undefined || deduplicated.size === 0
  return all.map((group) => {
    // A stream that dropped readings once, and does so no more, has to forget what its newest one says.
    const isAllKept = isPlain && group.newestContent === undefined
    return isAllKept ? group : { ...group, ...withoutUnchanged(group, deduplicated ?? noWindows) }
  })
}

/**
 * The readings of each stream, in the order of `received`. They are counted first: arrays that grow reserve
 * room for a dozen more, and thousands of streams have two or three readings each.
 */
function partsOf({ received, readings }: Shipment): readonly ShippedReading[][] {
  const places = new Map<string, number>()
  for (const id of received.keys()) places.set(id, places.size)
  const counts = new Int32Array(places.size)
  const placeOf = new Int32Array(readings.length)
  for (const [index, { streamId }] of readings.entries()) {
    const place = places.get(streamId)
    if (place === undefined) throw new Error(`stream ${streamId} has readings but was not received`)
    placeOf[index] = place
    counts[place] = (counts[place] as number) + 1
  }
  let end = 0
  const ends = counts.map((count) => (end += count))
  const sorted = readings.slice()
  const next = ends.map((streamEnd, place) => streamEnd - (counts[place] as number))
  for (const [index, reading] of readings.entries()) {
    const place = placeOf[index] as number
    const at = next[place] as number
    sorted[at] = reading
    next[place] = at + 1
  }
  return Array.from(ends, (streamEnd, place) =>
    sorted.slice(streamEnd - (counts[place] as number), streamEnd),
  )
}

const noWindows: ReadonlyMap<ShippedReading, number> = new Map()

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
export interface CountChange<Record extends StreamState = StreamState> extends AddedCounts {
  readonly id: string
  readonly record: Record
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
  duplicates: ReadonlySet<ShippedReading>,
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
  return {
    id,
    record,
    received,
    stored,
    duplicates: readings.length - stored,
    unchanged,
    latencyUs,
    lastStoredAtUs: stored > 0 ? nowUs : record.counts.lastStoredAtUs,
    timestampMaxUs,
    newestContent,
  }
}

type Changing = Pick<StreamState, 'timestampMaxUs' | 'newestContent'> & { counts: OwnCounts }

/** What the record of a stream says after a change of it. */
export function stateAfter(change: CountChange): Changing {
  const { counts, timestampMaxUs, newestContent } = change.record
  const after = { counts: { ...counts }, timestampMaxUs, newestContent }
  addTo(after, change)
  return after
}

/** Lets the record of a stream follow a change that was committed. */
export function adopt(change: CountChange<StreamState & Changing>): void {
  addTo(change.record, change)
}

function addTo(state: Changing, added: CountChange): void {
  const { counts } = state
  counts.received += added.received
  counts.stored += added.stored
  counts.duplicates += added.duplicates
  counts.unchanged += added.unchanged
  counts.latencyUs += added.latencyUs
  counts.lastStoredAtUs = added.lastStoredAtUs
  state.timestampMaxUs = Math.max(state.timestampMaxUs, added.timestampMaxUs)
  state.newestContent = added.newestContent
}
