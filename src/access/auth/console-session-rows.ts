import type { Compilable, Selectable } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { ConsoleSession } from './console-session.ts'

/** A session with what it is known by, and what it depends on. */
export interface StoredSession extends ConsoleSession {
  readonly digest: string
  readonly keyDigest: string
  /** Steady time. */
  readonly startedAtUs: number
}

/** Sessions that are stored, each with the steady time of its last use. */
export async function loadSessions(
  state: StateDatabase,
): Promise<readonly (readonly [StoredSession, usedAtUs: number])[]> {
  const rows = await state.selectFrom('console_sessions').selectAll().execute()
  return rows.map((row) => [fromRow(row), row.used_at] as const)
}

export function insertion(state: StateDatabase, session: StoredSession): Compilable {
  return state.insertInto('console_sessions').values({
    id: session.id,
    digest: session.digest,
    user_id: session.userId,
    key_id: session.apiKeyId,
    key_digest: session.keyDigest,
    address: session.address,
    created_at: session.createdAtUs,
    started_at: session.startedAtUs,
    used_at: session.startedAtUs,
  })
}

export function deletion(state: StateDatabase, id: string): Compilable {
  return state.deleteFrom('console_sessions').where('id', '=', id)
}

export function lastUse(state: StateDatabase, id: string, usedAtUs: number): Compilable {
  return state.updateTable('console_sessions').set({ used_at: usedAtUs }).where('id', '=', id)
}

function fromRow(row: Selectable<StateSchema['console_sessions']>): StoredSession {
  return {
    id: row.id,
    userId: row.user_id as UserId,
    apiKeyId: row.key_id,
    address: row.address,
    createdAtUs: row.created_at,
    digest: row.digest,
    keyDigest: row.key_digest,
    startedAtUs: row.started_at,
  }
}
