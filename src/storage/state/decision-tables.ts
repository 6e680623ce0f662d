import type { Defaulted } from './column.ts'

export interface ConsumerPositionTable {
  readonly consumer: string
  readonly next_offset: number
}

/** What the decider has counted of a stream, up to its position. */
export interface StreamCounterTable {
  readonly stream_id: string
  readonly received: number
  readonly accepted: number
  readonly filtered: number
  /** Entries that the quarantine holds now, and the bytes of their payloads. */
  readonly quarantined: number
  readonly quarantine_bytes: number
  /** Refused readings that found no room there, or that a person has deleted. */
  readonly discarded: number
  /** 1 from the first reading that found no room until there is room again. */
  readonly is_discarding: number
  readonly last_received_at: number
  /** Days since the epoch (UTC) of the newest receipt, and how many were received on it. */
  readonly day: number
  readonly received_on_day: number
  /** The time of the newest reading that rules have seen, and when it was received. */
  readonly alert_time: Defaulted<number>
  readonly alert_received_at: Defaulted<number>
  /** Readings that rules have not seen, as newer ones had come before. */
  readonly late_for_alerts: Defaulted<number>
}

export interface QuarantineTable {
  readonly stream_id: string
  /** Where the reading's entry stands: what the quarantine entry is known by. */
  readonly journal_offset: number
  /** The version that judged it last. */
  readonly stream_version: number
  readonly reason: string
  readonly message: string
  /** JSON array of {path, message}. */
  readonly details: string
  readonly source: string
  readonly timestamp: number | null
  readonly received_at: number
  /** 1 for one reading of a batch, 0 for a message as it came. */
  readonly is_element: number
  readonly payload_bytes: number
  readonly payload: Uint8Array
  /** How the payload is to be read: json, ndjson, cbor or msgpack. */
  readonly format: Defaulted<string>
  /** Who sent it, where the stream has several senders. */
  readonly sender: Defaulted<string | null>
  /** JSON of what is known of the message beside its bytes: its topic, and what a mapping needs. */
  readonly context: Defaulted<string | null>
  /** Whose stream it is; empty for one that was gone when the entry came. */
  readonly owner_id: Defaulted<string>
}

/** How many entries the quarantine of a stream has with a reason: a row where there are some. */
export interface QuarantineCountTable {
  readonly stream_id: string
  readonly reason: string
  readonly owner_id: string
  readonly entries: number
}

/** What the decider has counted of the streams that have left, together: one row. */
export interface DepartedCounterTable {
  readonly received: number
  readonly accepted: number
  readonly filtered: number
  /** What their quarantines held when they left is among it. */
  readonly discarded: number
}
