import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { alertStart, fleetRulesChange } from './alert-start.ts'
import { type DataStream, tagRows } from './data-stream-store.ts'
import { type StreamDefinition, type VersionedDefinition, versionedJson } from './definition.ts'
import { retentionColumns } from './retention.ts'
import { findDeletion, type StreamDeletion } from './stream-deletions.ts'
import { assertTopicRoom, changedTopic, isNewTopic, withoutTopic } from './stream-topics.ts'
import type { Tags } from './tags.ts'

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

/** Changes of streams that are there. */
export class StreamChanges {
  readonly #state: StateDatabase
  readonly #writer: StateWriter
  readonly #clock: Clock

  constructor(state: StateDatabase, writer: StateWriter, clock: Clock) {
    this.#state = state
    this.#writer = writer
    this.#clock = clock
  }

  /**
   * Makes the version after this one, and what else belongs to it. False when somebody else has made it first, or the stream is
   * gone: nothing has happened then.
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
    const version = stream.version + 1
    if (version > versionsMax) {
      throw new DomainError('conflict', `a stream has at most ${versionsMax} versions`)
    }
    const { name, tags } = changed
    const tagsText = JSON.stringify(tags)
    const update = this.#present(stream, this.#state.updateTable('data_streams')).set({
      version,
      name,
      name_folded: name.toLowerCase(),
      tags: tagsText,
      ...retentionColumns(changed.processing),
    })
    const insert = this.#state.insertInto('data_stream_versions').values({
      stream_id: stream.id,
      version,
      name,
      tags: tagsText,
      definition: versionedJson(changed),
      created_at: this.#clock.nowUs(),
      created_by: apiKeyId,
    })
    const replacedTags =
      tagsText === JSON.stringify(stream.tags)
        ? []
        : [...this.#withoutTags(stream), ...tagRows(this.#state, { ...stream, tags })]
    const topic = changedTopic(this.#state, stream, { ...stream, ...changed })
    if (isNewTopic(stream, changed)) await assertTopicRoom(this.#state, stream.ownerId)
    const start = alertStart(this.#state, { streamId: stream.id, version }, stream, changed)
    const rows = [...replacedTags, ...topic, ...start, fleetRulesChange(this.#state, stream)]
    return await this.#writer.attempt(update, insert, ...rows, ...also)
  }

  /** For the condition of a change: whether a stream is paused, or whether it is not. */
  isPausedAs({ id }: DataStream, isPaused: boolean): Expression<SqlBool> {
    const streams = this.#state
      .selectFrom('data_streams')
      .select('id')
      .where('id', '=', id)
      .where('paused_at', isPaused ? 'is not' : 'is', null)
    return sql<SqlBool>`EXISTS ${streams}`
  }

  /** Statements that pause a stream, or let it go on. They can be run any number of times. */
  pausing({ id, ownerId }: DataStream, isPaused: boolean): readonly Compilable[] {
    const since = sql<number>`coalesce(paused_at, ${this.#clock.nowUs()})`
    return [
      this.#state
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
    const { id, ownerId, name } = stream
    return await this.#writer.attempt(
      this.#present(stream, this.#state.deleteFrom('data_streams')),
      ...this.#withoutTags(stream),
      optional(this.#state.deleteFrom('device_streams').where('stream_id', '=', id)),
      ...withoutTopic(this.#state, stream),
      this.#state.insertInto('data_stream_deletions').values({
        stream_id: id,
        owner_id: ownerId,
        name,
        deleted_at: this.#clock.nowUs(),
        journal_offset: null,
        removed_at: null,
        removed_readings: 0,
        removed_quarantine: 0,
      }),
      ...also,
    )
  }

  /** How far a stream of this owner is removed, once it was deleted. */
  async deletion(ownerId: UserId, id: StreamId): Promise<StreamDeletion | undefined> {
    return await findDeletion(this.#state, ownerId, id)
  }

  /** Versions below one, newest first. */
  async versions(id: StreamId, below: number, limit: number): Promise<readonly PastVersion[]> {
    const rows = await this.#state
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
    return [this.#state.deleteFrom('data_stream_tags').where('stream_id', '=', id)]
  }
}
