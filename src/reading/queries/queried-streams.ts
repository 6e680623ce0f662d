import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { FieldMap, FieldType } from '../../contracts/stream-schema.ts'
import { DomainError } from '../../core/errors.ts'
import type { FleetId, StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import type { VersionedDefinition } from '../../streams/data-streams/definition.ts'
import { idsThatMeet, type StreamFilter } from '../../streams/data-streams/stream-list.ts'
import type { Tags } from '../../streams/data-streams/tags.ts'
import { storedFieldsOf } from '../../streams/data-streams/transform-definition.ts'
import { hasWindows } from '../windows/defined-windows.ts'
import type { KnownFields } from './fields.ts'
import type { AveragedStream } from './time-weights.ts'

/** Versions whose fields can be asked for: the newest ones of a stream. */
const versionsMax = 100

/** Definitions of one query that are different: each may have 131,072 characters. */
const definitionsMax = 1_000

/** Streams whose definitions are read before others have their turn: some milliseconds. */
const streamsPerTurn = 256

/** What the state knows of the streams that are asked about. */
export class QueriedStreams {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /**
   * Every field that the stream has, or had in an earlier version: its readings are still there. What
   * was changed counts as what it is now.
   */
  async fieldsOf(stream: DataStream): Promise<KnownFields> {
    const fields = new Map<string, FieldType>()
    addFields(fields, storedFieldsOf(stream))
    for (const definition of await this.#versionsOf(stream)) {
      addFields(fields, storedFieldsOf(definition))
    }
    return fields
  }

  /** Whether the stream has windows, or had some in an earlier version: they are still there. */
  async hasWindows(stream: DataStream): Promise<boolean> {
    if (hasWindows(stream.processing)) return true
    return (await this.#versionsOf(stream)).some(({ processing }) => hasWindows(processing))
  }

  /** Whether any of some streams has windows, or had some in an earlier version. */
  async anyHasWindows(streams: readonly QueriedStream[]): Promise<boolean> {
    if (streams.some(({ processing }) => hasWindows(processing))) return true
    for (const { id } of streams) {
      const definitions = await this.#definitionsOf(id)
      if (definitions.some(({ processing }) => hasWindows(processing))) return true
    }
    return false
  }

  /** The newest versions of a stream; none of one that has no other. */
  async #versionsOf({ id, version }: DataStream): Promise<readonly VersionedDefinition[]> {
    return version === 1 ? [] : await this.#definitionsOf(id)
  }

  async #definitionsOf(id: string): Promise<readonly VersionedDefinition[]> {
    const rows = await this.#state
      .selectFrom('data_stream_versions')
      .select('definition')
      .where('stream_id', '=', id)
      .orderBy('version', 'desc')
      .limit(versionsMax)
      .execute()
    return rows.map(({ definition }) => JSON.parse(definition) as VersionedDefinition)
  }

  /** Picks the ids that are streams of the owner. */
  async known(ownerId: UserId, ids: readonly StreamId[]): Promise<ReadonlySet<string>> {
    const rows = await this.#state
      .selectFrom('data_streams')
      .select('id')
      .where('owner_id', '=', ownerId)
      .where('id', 'in', ids)
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  /** Whether an owner has such a fleet. */
  async hasFleet(ownerId: UserId, id: FleetId): Promise<boolean> {
    const row = await this.#state
      .selectFrom('fleets')
      .select('id')
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    return row !== undefined
  }

  /**
   * Streams of an owner that meet a filter, of all or of the given ids. Those of a fleet have one definition, so that
   * only the different ones are read and kept.
   *
   * @throws DomainError `too_many_points` for more than `max` streams, or too many definitions
   */
  async select(ownerId: UserId, { ids, filter }: Selected, max: number): Promise<QueriedStream[]> {
    const met = await this.#idsOf(ownerId, { ids, filter }, max + 1)
    if (met.length > max) {
      throw new DomainError('too_many_points', `a query takes at most ${max} streams`)
    }
    const definitions = new SeenDefinitions()
    const streams: QueriedStream[] = []
    for (let at = 0; at < met.length; at += streamsPerTurn) {
      for (const row of await this.#rowsOf(met.slice(at, at + streamsPerTurn))) {
        const { id, tags, device, definition } = row
        const own = { tags: JSON.parse(tags) as Tags, device: device ?? undefined }
        streams.push({ id, ...own, ...definitions.read(definition) })
      }
      await nextTurn()
    }
    return streams
  }

  /** As one value, which is made in a fraction of the time that so many rows take. */
  async #idsOf(
    ownerId: UserId,
    { ids, filter }: Selected,
    limit: number,
  ): Promise<readonly string[]> {
    let query = idsThatMeet(this.#state, ownerId, filter).limit(limit)
    if (ids) query = query.where('id', 'in', ids)
    const { all } = await this.#state
      .selectFrom(query.as('met'))
      .select(sql<string>`json_group_array(met.id)`.as('all'))
      .executeTakeFirstOrThrow()
    return JSON.parse(all) as readonly string[]
  }

  /** Streams by their ids, without those that were deleted meanwhile. */
  async #rowsOf(ids: readonly string[]) {
    return await this.#state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .leftJoin('fleet_devices as device', 'device.stream_id', 'stream.id')
      .select(['stream.id', 'stream.tags', 'device.name as device', 'version.definition'])
      .where(sql<boolean>`stream.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
      .execute()
  }
}

interface Selected {
  readonly ids: readonly StreamId[] | undefined
  readonly filter: StreamFilter
}

/** What queries ask of a definition. */
type ReadDefinition = Pick<QueriedStream, 'fields' | 'processing'>

/** Definitions of one query, each of which is read once. */
class SeenDefinitions {
  readonly #seen = new Map<string, ReadDefinition>()

  /** @throws DomainError `too_many_points` */
  read(text: string): ReadDefinition {
    const known = this.#seen.get(text)
    if (known) return known
    if (this.#seen.size === definitionsMax) {
      const message = `a query takes streams of at most ${definitionsMax} different definitions`
      throw new DomainError('too_many_points', message)
    }
    const definition = JSON.parse(text) as VersionedDefinition
    const fields = new Map<string, FieldType>()
    addFields(fields, storedFieldsOf(definition))
    const read = { fields, processing: definition.processing }
    this.#seen.set(text, read)
    return read
  }
}

/** A stream that is asked about, with its fields as they are now. */
export interface QueriedStream extends AveragedStream {
  readonly tags: Tags
  /** The name of the device in its fleet. */
  readonly device: string | undefined
  readonly fields: KnownFields
}

function addFields(fields: Map<string, FieldType>, stored: FieldMap): void {
  for (const [name, { type }] of Object.entries(stored)) {
    if (!fields.has(name)) fields.set(name, type)
  }
}
