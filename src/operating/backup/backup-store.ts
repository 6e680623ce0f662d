import { type Compilable, sql } from 'kysely'
import type { BackupId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { Backup, BackupState } from './backup.ts'
import type { Manifest } from './manifest.ts'

/** Backups that are remembered: the oldest are forgotten, but not their files. */
const rememberedMax = 1_000

/** The backups of the state database. */
export class BackupStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  /** The change that begins one, and finds no row when another is running; and what follows from it. */
  beginning(backup: Pick<Backup, 'id' | 'to' | 'withMasterKey' | 'createdAtUs'>): Compilable {
    const { id, to, withMasterKey, createdAtUs } = backup
    return this.#state
      .insertInto('backups')
      .columns(['id', 'state', 'destination', 'with_master_key', 'created_at'])
      .expression(
        sql`SELECT ${id}, 'running', ${to}, cast(${Number(withMasterKey)} as integer),
              cast(${createdAtUs} as bigint)
            WHERE NOT EXISTS (SELECT 1 FROM backups WHERE state = 'running')`,
      )
  }

  async end(
    id: BackupId,
    end: {
      readonly state: BackupState
      readonly finishedAtUs: number
      readonly error?: string
      readonly manifest?: Manifest
    },
  ): Promise<void> {
    const { state, finishedAtUs, error = null, manifest } = end
    const beyond = this.#state
      .selectFrom('backups')
      .select('id')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(rememberedMax)
    await this.#writer.commit(
      this.#state
        .updateTable('backups')
        .set({
          state,
          finished_at: finishedAtUs,
          error,
          manifest: manifest === undefined ? null : JSON.stringify(manifest),
        })
        .where('id', '=', id),
      this.#state.deleteFrom('backups').where('id', 'not in', beyond),
    )
  }

  /**
   * Ends backups that a restart has cut off, or that a backup shows as running because it was
   * itself one.
   */
  async endCutOff(finishedAtUs: number): Promise<void> {
    await this.#writer.commit(
      this.#state
        .updateTable('backups')
        .set({ state: 'failed', finished_at: finishedAtUs, error: 'the service was stopped' })
        .where('state', '=', 'running'),
    )
  }

  async find(id: BackupId): Promise<Backup | undefined> {
    const row = await this.#state
      .selectFrom('backups')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && backupOf(row)
  }

  /** Newest first. */
  async list(after: ListCursor | undefined, limit: number): Promise<Backup[]> {
    let query = this.#state
      .selectFrom('backups')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '<', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map(backupOf)
  }
}

function backupOf(row: StateSchema['backups']): Backup {
  return {
    id: row.id as BackupId,
    state: row.state as BackupState,
    to: row.destination,
    withMasterKey: row.with_master_key === 1,
    createdAtUs: row.created_at,
    finishedAtUs: row.finished_at ?? undefined,
    progress: undefined,
    error: row.error ?? undefined,
    manifest: row.manifest === null ? undefined : (JSON.parse(row.manifest) as Manifest),
  }
}
