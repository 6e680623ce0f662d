import type { Defaulted } from './column.ts'

/** Fleets, and the devices that have been seen in them. */
export interface FleetTables {
  fleets: FleetTable
  fleet_devices: FleetDeviceTable
}

/** One definition for the data streams of many devices. */
interface FleetTable {
  readonly id: string
  readonly owner_id: string
  readonly vault_id: string
  readonly name: string
  /** The name in lower case: unique among the fleets of a user. */
  readonly name_folded: string
  /** The filter of its topic at our own broker, with `{device}` in place of the level that names the device. */
  readonly topic: string | null
  /** The member of a reading that names the device: a name, or a path. */
  readonly device_field: string | null
  /** JSON of the definition that the streams of its devices get: of `StreamDefinition` without names and tags. */
  readonly definition: string
  /** JSON of the tags that each of its streams has besides its own. */
  readonly tags: string
  /** Grows with each change of the definition or of the tags. */
  readonly version: number
  /** The version that all of its streams have which can have it. */
  readonly settled_version: number
  readonly streams_max: number
  readonly created_at: number
  readonly created_by: string
  readonly changed_at: number
  /** The key of who made the present version: its streams are changed in the name of that key. */
  readonly changed_by: string
  /** It is deleted since then; the row stays until its devices are gone. */
  readonly ended_at: Defaulted<number | null>
  /** The key of the user who has deleted it. */
  readonly ended_by: Defaulted<string | null>
  /** What happens to its streams: `keep`, `delete`; `forget` where the owner is deleted. */
  readonly ending: Defaulted<string | null>
}

/** A device of a fleet, by the name that its messages have. */
interface FleetDeviceTable {
  readonly fleet_id: string
  readonly name: string
  /** Null while a device is denied that has no stream. */
  readonly stream_id: string | null
  /** The version of the fleet that its stream was made or changed by last. */
  readonly version: number
  /** The version of the fleet that its stream cannot have: it has as many versions as a stream can have. */
  readonly failed_version: Defaulted<number | null>
  readonly created_at: number
  /** Its messages are refused since. */
  readonly denied_at: number | null
}
