import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { countChange } from '../../storage/state/totals.ts'
import { alertStart, fleetRulesChange } from './alert-start.ts'
import { type DataStream, tagRows } from './data-stream-store.ts'
import { type StreamDefinition, type VersionedDefinition, versionedJson } from './definition.ts'
import { retentionColumns } from './retention.ts'
import { findDeletion, type StreamDeletion } from './stream-deletions.ts'
import { assertTopicRoom, changedTopic, isNewTopic, withoutTopic } from './stream-topics.ts'
import type { Tags } from './tags.ts'

/** Takes the device of a stream out of its fleet: its next message is that of a new device, unless it is denied. */
function withoutFleet(
  state: StateDatabase,
  { id, fleet }: Pick<DataStream, 'id' | 'fleet'>,
): readonly Compilable[] {
  if (fleet === undefined) return []
  const { fleetId, device } = fleet
  return [
    // Finds nothing to change when it is out of the fleet by now: then all else is looked at again.
    state
      .updateTable('fleet_devices')
      .set({ stream_id: null })
      .where('fleet_id', '=', fleetId)
      .where('name', '=', device)
      .where('stream_id', '=', id),
    optional(
      state
        .deleteFrom('fleet_devices')
        .where('fleet_id', '=', fleetId)
        .where('name', '=', device)
        .where('denied_at', 'is', null),
    ),
    countChange(state, 'streams_of_fleet', fleetId, -1),
  ]
}

/** Versions of one stream: each is kept as long as the stream is. */
export const versionsMax = 10_000

/** One version of a stream, as it was. */
export interface PastVersion extends VersionedDefinition {
  readonly version: number
  readonly name: string
  readonly tags: Tags
  readonly createdAtUs: number
  /** The id of the key of who made it, where that was written down. */
  readonly createdBy: string | undefined
}

export interface StreamChangesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** Changes of streams that are there. */
export class StreamChanges {
  readonly #needs: StreamChangesNeeds

  constructor(needs: StreamChangesNeeds) {
    this.#needs = needs
  }

  /**
   * Makes the version after this one, and what else belongs to it. False when another user has made it first, or the
   * stream is gone: nothing has happened then.
   *
   * @throws DomainError `conflict` when the stream has as many versions as it may have, or the owner
   *   as many topics
   */
  async change(
    stream: DataStream,
    changed: StreamDefinition,
    apiKeyId: string,
    ...also: readonly Compilable[]
  ): Promise<boolean> {
    const { state, writer } = this.#needs
    const changes = this.changing(stream, changed, apiKeyId)
    if (isNewTopic(stream, { ...stream, ...changed })) await assertTopicRoom(state, stream.ownerId)
    return await writer.attempt(...changes, ...also)
  }

  /**
   * The statements that make the version after this one. They find nothing to change when another user has made it, or
   * the stream is gone.
   *
   * @throws DomainError `conflict` when the stream has as many versions as it may have
   */
  changing(stream: DataStream, changed: StreamDefinition, apiKeyId: string): readonly Compilable[] {
    const { state, clock } = this.#needs
    const version = stream.version + 1
    if (version > versionsMax) {
      throw conflict(
        `a stream has at most ${versionsMax} versions`,
        'Make a new stream with POST /streams, and let the device publish there.',
      )
    }
    const { name, tags } = changed
    const tagsText = JSON.stringify(tags)
    const update = this.#present(stream, state.updateTable('data_streams')).set({
      version,
      name,
      name_folded: name.toLowerCase(),
      tags: tagsText,
      ...retentionColumns(changed.processing),
    })
    const insert = state.insertInto('data_stream_versions').values({
      stream_id: stream.id,
      version,
      name,
      tags: tagsText,
      definition: versionedJson(changed),
      created_at: clock.nowUs(),
      created_by: apiKeyId,
    })
    const replacedTags =
      tagsText === JSON.stringify(stream.tags)
        ? []
        : [...this.#withoutTags(stream), ...tagRows(state, { ...stream, tags })]
    const topic = changedTopic(state, stream, { ...stream, ...changed })
    const start = alertStart(state, { streamId: stream.id, version }, stream, changed)
    return [update, insert, ...replacedTags, ...topic, ...start, fleetRulesChange(state, stream)]
  }

  /** For the condition of a change: whether a stream is paused, or whether it is not. */
  isPausedAs({ id }: DataStream, isPaused: boolean): Expression<SqlBool> {
    const streams = this.#needs.state
      .selectFrom('data_streams')
      .select('id')
      .where('id', '=', id)
      .where('paused_at', isPaused ? 'is not' : 'is', null)
    return sql<SqlBool>`EXISTS ${streams}`
  }

  /** Statements that pause a stream, or let it go on. They can be run any number of times. */
  pausing({ id, ownerId }: DataStream, isPaused: boolean): readonly Compilable[] {
    const { state, clock } = this.#needs
    const since = sql<number>`coalesce(paused_at, ${clock.nowUs()})`
    return [
      state
        .updateTable('data_streams')
        .set({ paused_at: isPaused ? since : null })
        .where('id', '=', id)
        .where('owner_id', '=', ownerId),
    ]
  }

  /**
   * Takes a stream away: from now on nobody finds it. Its data is removed later. False when it was
   * changed meanwhile, or is gone: nothing has happened then.
   */
  async remove(stream: DataStream, ...also: readonly Compilable[]): Promise<boolean> {
    return await this.#needs.writer.attempt(...this.removing(stream), ...also)
  }

  /** The statements that take a stream away. They find nothing to change when it was changed meanwhile, or is gone. */
  removing(stream: DataStream): readonly Compilable[] {
    const { state, clock } = this.#needs
    const { id, ownerId, name } = stream
    return [
      this.#present(stream, state.deleteFrom('data_streams')),
      ...this.#withoutTags(stream),
      optional(state.deleteFrom('device_streams').where('stream_id', '=', id)),
      ...withoutFleet(state, stream),
      ...withoutTopic(state, stream),
      state.insertInto('data_stream_deletions').values({
        stream_id: id,
        owner_id: ownerId,
        name,
        deleted_at: clock.nowUs(),
        journal_offset: null,
        removed_at: null,
        removed_readings: 0,
        removed_quarantine: 0,
      }),
    ]
  }

  /** How far a stream of this owner is removed, once it was deleted. */
  async deletion(ownerId: UserId, id: StreamId): Promise<StreamDeletion | undefined> {
    return await findDeletion(this.#needs.state, ownerId, id)
  }

  /** Versions below one, newest first. */
  async versions(id: StreamId, below: number, limit: number): Promise<readonly PastVersion[]> {
    const rows = await this.#needs.state
      .selectFrom('data_stream_versions')
      .selectAll()
      .where('stream_id', '=', id)
      .where('version', '<', below)
      .orderBy('version', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      ...(JSON.parse(row.definition) as VersionedDefinition),
      version: row.version,
      name: row.name,
      tags: JSON.parse(row.tags) as Tags,
      createdAtUs: row.created_at,
      createdBy: row.created_by ?? undefined,
    }))
  }

  /** The rest of a change that holds only while the stream has the version that was looked at. */
  #present<Query extends { where(column: string, is: '=', value: unknown): Query }>(
    { id, ownerId, version }: DataStream,
    query: Query,
  ): Query {
    return query.where('id', '=', id).where('owner_id', '=', ownerId).where('version', '=', version)
  }

  /** A change that finds no row would undo all the others. */
  #withoutTags({ id, tags }: DataStream): readonly Compilable[] {
    if (Object.keys(tags).length === 0) return []
    return [this.#needs.state.deleteFrom('data_stream_tags').where('stream_id', '=', id)]
  }
}
