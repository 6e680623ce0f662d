import type { UserId, VaultId } from '../core/ids.ts'
import type { DataStream } from '../data-streams/data-stream-store.ts'
import type { VersionedDefinition } from '../data-streams/definition.ts'
import { storedFieldsOf } from '../data-streams/transform-definition.ts'
import type { FieldMap, FieldType } from '../pipeline/stream-schema.ts'
import type { StateDatabase } from '../state/database.ts'
import type { KnownFields } from './fields.ts'

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
    const { id, version } = stream
    const fields = new Map<string, FieldType>()
    addFields(fields, storedFieldsOf(stream))
    if (version === 1) return fields
    const rows = await this.#state
      .selectFrom('data_stream_versions')
      .select('definition')
      .where('stream_id', '=', id)
      .orderBy('version', 'desc')
      .limit(versionsMax)
      .execute()
    for (const { definition } of rows) {
      addFields(fields, storedFieldsOf(JSON.parse(definition) as VersionedDefinition))
    }
    return fields
  }

  /** Streams of an owner, at most `limit`, by their ids: named ones, those of a vault, or all. */
  async select(
    ownerId: UserId,
    { ids, vaultId }: { readonly ids?: readonly string[]; readonly vaultId?: VaultId | undefined },
    limit: number,
  ): Promise<readonly SelectedStream[]> {
    let query = this.#state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .select(['stream.id', 'stream.vault_id', 'version.definition'])
      .where('stream.owner_id', '=', ownerId)
      .orderBy('stream.created_at')
      .orderBy('stream.id')
      .limit(limit)
    if (ids) query = query.where('stream.id', 'in', ids)
    if (vaultId !== undefined) query = query.where('stream.vault_id', '=', vaultId)
    const rows = await query.execute()
    return rows.map((row) => {
      const fields = new Map<string, FieldType>()
      addFields(fields, (JSON.parse(row.definition) as VersionedDefinition).schema)
      return { id: row.id, vaultId: row.vault_id, fields }
    })
  }
}

export interface SelectedStream {
  readonly id: string
  readonly vaultId: string
  readonly fields: KnownFields
}

function addFields(fields: Map<string, FieldType>, stored: FieldMap): void {
  for (const [name, { type }] of Object.entries(stored)) {
    if (!fields.has(name)) fields.set(name, type)
  }
}
