import type { DataStream } from '../data-streams/data-stream-store.ts'
import type { VersionedDefinition } from '../data-streams/definition.ts'
import type { FieldType } from '../pipeline/stream-schema.ts'
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
  async fieldsOf({ id, version, schema }: DataStream): Promise<KnownFields> {
    const fields = new Map<string, FieldType>()
    addFields(fields, schema)
    if (version === 1) return fields
    const rows = await this.#state
      .selectFrom('data_stream_versions')
      .select('definition')
      .where('stream_id', '=', id)
      .orderBy('version', 'desc')
      .limit(versionsMax)
      .execute()
    for (const { definition } of rows) {
      addFields(fields, (JSON.parse(definition) as VersionedDefinition).schema)
    }
    return fields
  }
}

function addFields(fields: Map<string, FieldType>, schema: VersionedDefinition['schema']): void {
  for (const [name, { type }] of Object.entries(schema)) {
    if (!fields.has(name)) fields.set(name, type)
  }
}
