import { type Compilable, sql } from 'kysely'
import type { StreamId, UserId } from '../../core/ids.ts'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import type { SourceSecrets } from '../data-streams/source-secrets.ts'

/** Streams that fetch: each has a connection of its own. */
export const sourcesMax = { ofUser: 100, inAll: 1_000 } as const

/** Encryption at rest. */
export interface Cipher {
  encrypt(text: string): Uint8Array
  decrypt(bytes: Uint8Array): string
}

/** Secrets as they were read. */
export interface KeptSecrets {
  readonly secrets: SourceSecrets
  readonly encrypted: Uint8Array
}

interface Owned {
  readonly id: StreamId
  readonly ownerId: UserId
}

/** Which streams fetch, and the secrets that they need for it. */
export class SourceStore {
  readonly #state: StateDatabase
  readonly #cipher: Cipher

  constructor(state: StateDatabase, cipher: Cipher) {
    this.#state = state
    this.#cipher = cipher
  }

  /** Finds nothing to change when there are too many already. */
  insert({ id, ownerId }: Owned, secrets: SourceSecrets): Compilable {
    return this.#state
      .insertInto('stream_sources')
      .columns(['stream_id', 'owner_id', 'secrets_encrypted'])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${this.#encrypted(secrets)} WHERE
          (SELECT count(*) FROM stream_sources WHERE owner_id = ${ownerId}) < ${sourcesMax.ofUser}
          AND (SELECT count(*) FROM stream_sources) < ${sourcesMax.inAll}`,
      )
  }

  /** Finds nothing to change when they have been replaced since they were read. */
  replace({ id }: Pick<Owned, 'id'>, before: KeptSecrets, secrets: SourceSecrets): Compilable {
    return this.#state
      .updateTable('stream_sources')
      .set({ secrets_encrypted: this.#encrypted(secrets) })
      .where('stream_id', '=', id)
      .where('secrets_encrypted', '=', before.encrypted)
  }

  /** Makes sense for a stream that does not fetch, too. */
  remove(id: StreamId): Compilable {
    return optional(this.#state.deleteFrom('stream_sources').where('stream_id', '=', id))
  }

  /** Nothing for a stream that does not fetch, and where its owner is gone. */
  async secretsOf(id: StreamId): Promise<SourceSecrets | undefined> {
    return (await this.kept(id))?.secrets
  }

  /** Secrets of a stream's source, with what they are to be replaced by. */
  async kept(id: StreamId): Promise<KeptSecrets | undefined> {
    const row = await this.#state
      .selectFrom('stream_sources')
      .innerJoin('users', 'users.id', 'stream_sources.owner_id')
      .select('secrets_encrypted')
      .where('stream_id', '=', id)
      .where('users.deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row) return undefined
    const { secrets_encrypted: encrypted } = row
    return { encrypted, secrets: JSON.parse(this.#cipher.decrypt(encrypted)) as SourceSecrets }
  }

  /** How far the source of a stream has been read, as the journal has it. */
  async positionOf(id: StreamId): Promise<string | undefined> {
    const row = await this.#state
      .selectFrom('stream_sources')
      .select('position')
      .where('stream_id', '=', id)
      .executeTakeFirst()
    return row?.position ?? undefined
  }

  /** Streams of users that are still there. */
  async ids(): Promise<readonly StreamId[]> {
    const rows = await this.#state
      .selectFrom('stream_sources')
      .innerJoin('users', 'users.id', 'stream_sources.owner_id')
      .select('stream_id')
      .where('users.deleted_at', 'is', null)
      .execute()
    return rows.map((row) => row.stream_id as StreamId)
  }

  async idsOf(ownerId: UserId): Promise<readonly StreamId[]> {
    const rows = await this.#state
      .selectFrom('stream_sources')
      .select('stream_id')
      .where('owner_id', '=', ownerId)
      .execute()
    return rows.map((row) => row.stream_id as StreamId)
  }

  async count(ownerId: UserId): Promise<{ readonly ofUser: number; readonly inAll: number }> {
    const { rows } = await sql<{ of_user: number; in_all: number }>`SELECT
      (SELECT count(*) FROM stream_sources WHERE owner_id = ${ownerId}) AS of_user,
      (SELECT count(*) FROM stream_sources) AS in_all`.execute(this.#state)
    return { ofUser: rows[0]?.of_user ?? 0, inAll: rows[0]?.in_all ?? 0 }
  }

  #encrypted(secrets: SourceSecrets): Uint8Array {
    return this.#cipher.encrypt(JSON.stringify(secrets))
  }
}
