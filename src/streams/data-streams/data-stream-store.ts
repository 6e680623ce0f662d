import { type Compilable, sql } from 'kysely'
import type { StreamVersion } from '../../contracts/reading.ts'
import type { Clock } from '../../core/clock.ts'
import { type FleetId, newId, type StreamId, type UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { alertStart, fleetRulesChange } from './alert-start.ts'
import { runnableSteps } from './conversions.ts'
import {
  formatOf,
  type StreamDefinition,
  schemaOf,
  type VersionedDefinition,
  versionedJson,
} from './definition.ts'
import { type FiringAlerts, firingOf, noneFires } from './firing-alerts.ts'
import { formatOptionsOf } from './payload-format.ts'
import { type KeptTimes, retentionColumns, retentionOf } from './retention.ts'
import { takesSeveralTopics } from './source-kinds.ts'
import { type ListedStream, listStreams } from './stream-list.ts'
import { assertTopicRoom, topicRows } from './stream-topics.ts'
import type { StreamType } from './stream-type.ts'
import type { Tags } from './tags.ts'
import { transformOf } from './transform-definition.ts'

export interface DataStream extends StreamDefinition {
  readonly id: StreamId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly version: number
  readonly isPaused: boolean
  /** Set where the fleet of its device has its definition, and its topic. */
  readonly fleet?: FleetPlace | undefined
}

/** The device of a fleet that a stream has the readings of. */
export interface FleetPlace {
  readonly fleetId: FleetId
  /** The name that its messages have. */
  readonly device: string
}

/** Streams of the service's own events that a user can have: each change writes to all of them. */
export const serviceStreamsMax = 10

/** What the decider has counted of a stream. */
export interface DecidedCounts {
  readonly received: number
  readonly accepted: number
  readonly filtered: number
  readonly quarantined: number
  readonly discarded: number
  readonly lastReceivedAtUs: number
  readonly day: number
  readonly receivedOnDay: number
}

const nothingDecided: DecidedCounts = {
  received: 0,
  accepted: 0,
  filtered: 0,
  quarantined: 0,
  discarded: 0,
  lastReceivedAtUs: 0,
  day: 0,
  receivedOnDay: 0,
}

const newColumns = [
  'id',
  'owner_id',
  'vault_id',
  'name',
  'name_folded',
  'tags',
  'type',
  'created_at',
  'version',
  'kept_raw',
  'kept_aggregated',
] as const

export class DataStreamStore {
  readonly #state: StateDatabase
  readonly #clock: Clock

  constructor(state: StateDatabase, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /**
   * A new stream, and the changes that store it. They find nothing to change when the vault is no
   * longer there, or the owner has too many streams of the type `service`, or with topics.
   */
  plan(
    ownerId: UserId,
    definition: StreamDefinition,
    apiKeyId: string,
    fleet?: FleetPlace,
  ): { readonly stream: DataStream; readonly changes: readonly Compilable[] } {
    const { name, vaultId, type, tags } = definition
    const id = newId<StreamId>()
    const createdAtUs = this.#clock.nowUs()
    const version = 1
    const tagsText = JSON.stringify(tags)
    const { kept_raw, kept_aggregated } = retentionColumns(definition.processing)
    const insert = this.#state
      .insertInto('data_streams')
      .columns(newColumns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, id, ${name}, ${name.toLowerCase()}, ${tagsText}, ${type},
                ${createdAtUs}, ${version}, ${kept_raw}, ${kept_aggregated}
              FROM vaults WHERE id = ${vaultId} AND owner_id = ${ownerId}
                AND ${hasRoom(ownerId, type)}`,
      )
    const insertVersion = this.#state.insertInto('data_stream_versions').values({
      stream_id: id,
      version,
      name,
      tags: tagsText,
      definition: versionedJson(definition),
      created_at: createdAtUs,
      created_by: apiKeyId,
    })
    const stream = { ...definition, id, ownerId, createdAtUs, version, isPaused: false, fleet }
    const rows = [...tagRows(this.#state, stream), ...topicRows(this.#state, stream)]
    const start = alertStart(this.#state, { streamId: id, version }, definition)
    const rules = fleetRulesChange(this.#state, stream)
    return { stream, changes: [insert, insertVersion, ...rows, ...start, rules] }
  }

  /** A page of an owner's streams, in the order of their creation. */
  async list(
    ownerId: UserId,
    page: Parameters<typeof listStreams>[2],
  ): Promise<readonly ListedStream[]> {
    return await listStreams(this.#state, ownerId, page)
  }

  /** A stream of this owner: somebody else's is as good as none (decisions.md#what-is-unknown). */
  async find(ownerId: UserId, id: StreamId): Promise<DataStream | undefined> {
    const stream = await this.load(id)
    return stream?.ownerId === ownerId ? stream : undefined
  }

  /** Any stream, for parts of the service that have checked rights in another way. */
  async load(id: StreamId): Promise<DataStream | undefined> {
    const row = await this.#state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .leftJoin('fleet_devices as device', 'device.stream_id', 'stream.id')
      .select([
        'stream.id',
        'stream.owner_id',
        'stream.vault_id',
        'stream.name',
        'stream.type',
        'stream.created_at',
        'stream.version',
        'stream.tags',
        'stream.paused_at',
        'version.definition',
        'device.fleet_id',
        'device.name as device',
      ])
      .where('stream.id', '=', id)
      .executeTakeFirst()
    if (!row) return undefined
    return {
      ...(JSON.parse(row.definition) as VersionedDefinition),
      id,
      ownerId: row.owner_id as UserId,
      vaultId: row.vault_id as DataStream['vaultId'],
      name: row.name,
      type: row.type as StreamType,
      createdAtUs: row.created_at,
      version: row.version,
      tags: JSON.parse(row.tags) as Tags,
      isPaused: row.paused_at !== null,
      fleet: placeOf(row.fleet_id, row.device),
    }
  }

  /** @throws DomainError `conflict` when the owner has as many streams with topics as there may be */
  async assertTopicRoom(ownerId: UserId): Promise<void> {
    await assertTopicRoom(this.#state, ownerId)
  }

  /** How long its data is kept; null is for ever. */
  async retention(id: StreamId): Promise<KeptTimes> {
    return await retentionOf(this.#state, id)
  }

  async firing(id: StreamId): Promise<FiringAlerts> {
    return (await firingOf(this.#state, [id])).get(id) ?? noneFires
  }

  async counts(id: StreamId): Promise<DecidedCounts> {
    const row = await this.#state
      .selectFrom('stream_counters')
      .selectAll()
      .where('stream_id', '=', id)
      .executeTakeFirst()
    if (!row) return nothingDecided
    return {
      received: row.received,
      accepted: row.accepted,
      filtered: row.filtered,
      quarantined: row.quarantined,
      discarded: row.discarded,
      lastReceivedAtUs: row.last_received_at,
      day: row.day,
      receivedOnDay: row.received_on_day,
    }
  }
}

function placeOf(fleetId: string | null, device: string | null): FleetPlace | undefined {
  if (fleetId === null || device === null) return undefined
  return { fleetId: fleetId as FleetId, device }
}

function hasRoom(ownerId: UserId, type: StreamType) {
  if (type !== 'service') return sql<boolean>`1 = 1`
  return sql<boolean>`(SELECT count(*) FROM data_streams
    WHERE owner_id = ${ownerId} AND type = 'service') < ${serviceStreamsMax}`
}

/** The rows that a stream is found by its tags with, if it has any. */
export function tagRows(
  state: StateDatabase,
  { id, ownerId, tags }: Pick<DataStream, 'id' | 'ownerId' | 'tags'>,
): readonly Compilable[] {
  const rows = Object.entries(tags).map(([key, value]) => ({
    stream_id: id,
    owner_id: ownerId,
    key,
    value,
  }))
  return rows.length === 0 ? [] : [state.insertInto('data_stream_tags').values(rows)]
}

/** What intake needs of a stream. */
export function streamVersionOf(stream: DataStream): StreamVersion {
  const { id, ownerId, version, type, isPaused } = stream
  return {
    streamId: id,
    ownerId,
    version,
    schema: schemaOf(stream),
    format: formatOf(stream),
    formatOptions: formatOptionsOf(stream.source),
    transform: runnableSteps(transformOf(stream.processing), stream.conversions),
    ...(isPaused && { isPaused }),
    ...(type === 'service' && { isInternal: true }),
    ...(takesSeveralTopics(stream.source) && { distinguishesSenders: true }),
  }
}
