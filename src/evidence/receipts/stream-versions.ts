import type { StateDatabase } from '../../storage/state/database.ts'
import type { VersionedDefinition } from '../../streams/data-streams/definition.ts'

/** Versions whose definitions are looked through for windows: the newest ones. */
const versionsMax = 100

/** A version of a stream, as far as a receipt shows it. */
export interface StreamVersionFacts {
  readonly version: number
  readonly createdAtUs: number
  readonly definition: VersionedDefinition
}

/** Versions of one stream, each read once. */
export class StreamVersions {
  readonly #state: StateDatabase
  readonly #streamId: string
  readonly #byNumber = new Map<number, StreamVersionFacts>()

  constructor(state: StateDatabase, streamId: string) {
    this.#state = state
    this.#streamId = streamId
  }

  async numbered(version: number): Promise<StreamVersionFacts | undefined> {
    const known = this.#byNumber.get(version)
    if (known) return known
    const row = await this.#all().where('version', '=', version).executeTakeFirst()
    return row && this.#note(row)
  }

  /** The version that was the newest one at a time. */
  async newestAt(timeUs: number): Promise<StreamVersionFacts | undefined> {
    const row = await this.#all()
      .where('created_at', '<=', timeUs)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row && this.#note(row)
  }

  async newest(): Promise<readonly StreamVersionFacts[]> {
    const rows = await this.#all().orderBy('version', 'desc').limit(versionsMax).execute()
    return rows.map((row) => this.#note(row))
  }

  #all() {
    return this.#state
      .selectFrom('data_stream_versions')
      .select(['version', 'created_at as createdAtUs', 'definition'])
      .where('stream_id', '=', this.#streamId)
  }

  #note(row: {
    readonly version: number
    readonly createdAtUs: number
    readonly definition: string
  }): StreamVersionFacts {
    const facts = { ...row, definition: JSON.parse(row.definition) as VersionedDefinition }
    this.#byNumber.set(row.version, facts)
    return facts
  }
}
