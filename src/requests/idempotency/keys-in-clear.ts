import { type Compilable, type RawBuilder, sql } from 'kysely'
import { keptBodyDigest, keptKey, type SecretDigests } from '../../core/idempotency-key.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/** Rows that one commit moves: some milliseconds. */
const movedMax = 500

interface HidingNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly digests: SecretDigests
}

interface ClearRow {
  readonly rowid: number
  readonly key: string
  readonly body_digest: string
}

/**
 * Moves what an earlier release has kept under Idempotency-Keys in clear to where their digests stand, and leaves nothing of
 * the keys in the file. To be called before anybody asks for an answer; a crash in between is made up for by the next start.
 */
export async function hideKeys(needs: HidingNeeds): Promise<void> {
  const { digests } = needs
  await moveAll(needs, 'idempotent_answers', {
    columns: {
      path: 'path',
      created_at: 'created_at',
      status_code: 'status_code',
      body_encrypted: 'body_encrypted',
    },
    digestOf: (bodyDigest) => keptBodyDigest(digests, bodyDigest),
  })
  await moveAll(needs, 'idempotency_keys', {
    columns: { stream_id: 'stream_id', received_at: 'received_at', remembered_at: 'received_at' },
    // Bodies of readings alone have no secret in them.
    digestOf: (bodyDigest) => bodyDigest,
  })
}

async function moveAll(
  { state, writer, digests }: HidingNeeds,
  table: 'idempotent_answers' | 'idempotency_keys',
  kept: {
    /** Columns of the table, each with the column of the earlier release that it is filled from. */
    readonly columns: Readonly<Record<string, string>>
    readonly digestOf: (bodyDigest: string) => string
  },
): Promise<void> {
  const clear = `${table}_in_clear`
  const { rows: tables } = await sql`SELECT name FROM sqlite_master
    WHERE type = 'table' AND name = ${clear}`.execute(state)
  if (tables.length === 0) return
  const change = (statement: RawBuilder<unknown>): Compilable => ({
    compile: () => statement.compile(state),
  })
  const columns = sql.join(Object.keys(kept.columns).map((name) => sql.ref(name)))
  const values = sql.join(Object.values(kept.columns).map((name) => sql.ref(name)))
  const from = sql.table(clear)
  // What is deleted is overwritten, too: free pages would show it.
  await writer.commit(change(sql`PRAGMA secure_delete = ON`))
  for (;;) {
    const { rows } = await sql<ClearRow>`SELECT rowid, key, body_digest FROM ${from}
      ORDER BY rowid LIMIT ${movedMax}`.execute(state)
    if (rows.length === 0) break
    const moves = rows.map(({ rowid, key, body_digest: bodyDigest }) =>
      change(sql`INSERT INTO ${sql.table(table)} (user_id, ${columns}, key, body_digest)
        SELECT user_id, ${values}, ${keptKey(digests, key)}, ${kept.digestOf(bodyDigest)} FROM ${from}
        WHERE rowid = ${rowid} ON CONFLICT DO NOTHING`),
    )
    const last = rows.at(-1)?.rowid
    await writer.commit(...moves, change(sql`DELETE FROM ${from} WHERE rowid <= ${last}`))
  }
  await writer.commit(change(sql`DROP TABLE ${from}`))
  await writer.commit(change(sql`PRAGMA secure_delete = OFF`))
}
