import type { FieldMap, FieldType } from '../../contracts/stream-schema.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
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

  /** Streams of an owner that meet a filter, of all or of the given ids: at most `limit`. */
  async select(
    ownerId: UserId,
    {
      ids,
      filter,
    }: { readonly ids: readonly StreamId[] | undefined; readonly filter: StreamFilter },
    limit: number,
  ): Promise<readonly QueriedStream[]> {
    let query = this.#state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .select(['stream.id', 'stream.tags', 'version.definition'])
      .where('stream.id', 'in', idsThatMeet(this.#state, ownerId, filter))
      .limit(limit)
    if (ids) query = query.where('stream.id', 'in', ids)
    const rows = await query.execute()
    return rows.map(({ id, tags, definition }) => {
      const fields = new Map<string, FieldType>()
      const parsed = JSON.parse(definition) as VersionedDefinition
      addFields(fields, storedFieldsOf(parsed))
      return { id, tags: JSON.parse(tags) as Tags, fields, processing: parsed.processing }
    })
  }
}

/** A stream that is asked about, with its fields as they are now. */
export interface QueriedStream extends AveragedStream {
  readonly tags: Tags
  readonly fields: KnownFields
}

function addFields(fields: Map<string, FieldType>, stored: FieldMap): void {
  for (const [name, { type }] of Object.entries(stored)) {
    if (!fields.has(name)) fields.set(name, type)
  }
}
