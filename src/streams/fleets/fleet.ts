import type { FleetId, UserId, VaultId } from '../../core/ids.ts'
import type { StreamDefinition } from '../data-streams/definition.ts'
import type { Tags } from '../data-streams/tags.ts'

/** Streams that a fleet can have at most, and how many it may have where nothing is said. */
export const fleetStreamsMax = 100_000
export const fleetStreamsDefault = 10_000

/** Fleets of one user: each has its topic in the way of all messages. */
export const fleetsOfUserMax = 1_000

/** What the streams of all devices of a fleet have in common. */
export interface FleetDefinition extends Omit<StreamDefinition, 'name' | 'tags' | 'vaultId'> {
  /** The member of a reading that names the device, where no topic and no address does: a name, or a path. */
  readonly deviceField?: string | undefined
}

/** One definition for the data streams of many devices. */
export interface Fleet {
  readonly id: FleetId
  readonly ownerId: UserId
  readonly vaultId: VaultId
  /** Unique among the fleets of its owner, in any case. */
  readonly name: string
  /** Each of its streams has them, besides `device`. Null: was one of them, and is taken away from streams that have it. */
  readonly tags: Readonly<Record<string, string | null>>
  /** Grows with each change of the definition or of the tags. */
  readonly version: number
  /** The version that all of its streams have which can have it. */
  readonly settledVersion: number
  readonly streamsMax: number
  readonly definition: FleetDefinition
  readonly createdAtUs: number
  readonly createdBy: string
  readonly changedAtUs: number
  /** The key of who has made the present version. */
  readonly changedBy: string
}

/** What happens to the streams of a fleet that is deleted. */
export type FleetEnding = 'keep' | 'delete' | 'forget'

/** A fleet that is deleted, as long as it has devices. */
export interface EndedFleet {
  readonly fleet: Fleet
  readonly ending: FleetEnding
  readonly endedBy: string
}

/** How far the streams of a fleet have its present version. */
export interface FleetProgress {
  readonly streams: number
  /** Streams of an earlier version. */
  readonly behind: number
  /** Streams that cannot have the present one. */
  readonly failed: number
}

/** A device of a fleet. */
export interface FleetDevice {
  /** The name that its messages have. */
  readonly name: string
  /** Undefined while it is denied and has none. */
  readonly streamId: string | undefined
  /** The version of the fleet that its stream has. */
  readonly version: number
  readonly createdAtUs: number
  readonly deniedAtUs: number | undefined
}

/** The tag of a stream that names its device. */
export const deviceTag = 'device'

/** The tags of a device's stream: those of the fleet, and the name of the device, besides its own. */
export function tagsOfDevice({ tags }: Pick<Fleet, 'tags'>, device: string, own: Tags = {}): Tags {
  const all = Object.entries({ ...own, ...tags, [deviceTag]: device })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null))
}
