import { type RawBuilder, sql } from 'kysely'
import { keptKey } from '../../core/idempotency-key.ts'
import { written } from '../../storage/state/database.ts'
import type { IdempotencyNeeds } from './idempotency-store.ts'
import { answerKind, type KeyedTable, type Kind, receiptKind } from './keyed-request.ts'

/** Rows that one commit moves: some milliseconds. */
const movedMax = 500

interface ClearRow {
  readonly rowid: number
  readonly key: string
  readonly body_digest: string
}

/**
 * Moves what an earlier release has kept under Idempotency-Keys in clear to where their digests stand, and leaves nothing of
 * the keys in the file. To be called before anybody asks for an answer; a crash in between is made up for by the next start.
 */
export async function hideKeys(needs: IdempotencyNeeds): Promise<void> {
  await moveAll(needs, answerKind, 'created_at')
  await moveAll(needs, receiptKind, 'received_at')
}

/** @param since the column of the earlier release from which their lifetime counts */
async function moveAll<Table extends KeyedTable>(
  { state, writer, digests }: IdempotencyNeeds,
  kind: Kind<Table>,
  since: 'received_at' | 'created_at',
): Promise<void> {
  const clear = `${kind.table}_in_clear`
  const { rows: tables } = await sql`SELECT name FROM sqlite_master
    WHERE type = 'table' AND name = ${clear}`.execute(state)
  if (tables.length === 0) return
  const change = (statement: RawBuilder<unknown>) => written(state, statement)
  const same = sql.join(['user_id', kind.scope, ...kind.kept].map((name) => sql.ref(name)))
  const [table, from] = [sql.table(kind.table), sql.table(clear)]
  // What is deleted is overwritten, too: free pages would show it.
  await writer.commit(change(sql`PRAGMA secure_delete = ON`))
  for (;;) {
    const { rows } = await sql<ClearRow>`SELECT rowid, key, body_digest FROM ${from}
      ORDER BY rowid LIMIT ${movedMax}`.execute(state)
    if (rows.length === 0) break
    const moves = rows.map(({ rowid, key, body_digest: bodyDigest }) =>
      change(sql`INSERT INTO ${table} (${same}, ${sql.ref(kind.since)}, key, body_digest)
        SELECT ${same}, ${sql.ref(since)}, ${keptKey(digests, key)},
          ${kind.keptBody(digests, bodyDigest)} FROM ${from}
        WHERE rowid = ${rowid} ON CONFLICT DO NOTHING`),
    )
    const last = rows.at(-1)?.rowid
    await writer.commit(...moves, change(sql`DELETE FROM ${from} WHERE rowid <= ${last}`))
  }
  await writer.commit(change(sql`DROP TABLE ${from}`))
  await writer.commit(change(sql`PRAGMA secure_delete = OFF`))
}
