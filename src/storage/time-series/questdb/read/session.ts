import type { Offset } from '../../../journal/journal.ts'
import type { Column, Shape } from '../../shape.ts'
import type { Completeness } from '../completeness.ts'
import type { QuestDbConnection } from '../connection.ts'
import { quoted, tableOf } from '../layout.ts'
import type { RollupDaysQuery } from '../ledger.ts'
import type { RollupAsOf } from '../rollups/known-rollups.ts'
import type { RollupDay } from '../rollups/rollup-tables.ts'
import type { Row } from './field-values.ts'
import { visibleAt } from './statement.ts'

/** What is known without asking the server. */
export interface Stored {
  position(): Offset
  /** Undefined: nothing of it has arrived. The newest timestamp that is stored, or -1. */
  stream(id: string): { readonly timestampMaxUs: number } | undefined
  /** The shapes that readings of a stream have had. */
  shapesOf(id: string): readonly Shape[]
  /** What rows of rollups say of a stream now; undefined when it is not rolled up. */
  rollupOf(id: string): RollupAsOf | undefined
  /** Rows as they were; undefined when they have been written anew. */
  rollupDays(id: string, query: RollupDaysQuery): readonly RollupDay[] | undefined
}

/** What is stored, and when it can be read. */
export interface AppliedStore extends Stored {
  readonly completeness: Pick<Completeness, 'reached' | 'assertSince'>
  /** Resolves when queries on a connection see what was stored before the call. */
  applied(connection: QuestDbConnection, signal?: AbortSignal): Promise<void>
}

/** A table of readings. */
export interface ReadTable {
  /** Quoted. */
  readonly name: string
  readonly columns: readonly Column[]
}

export interface SessionPlace {
  readonly connection: QuestDbConnection
  readonly stored: AppliedStore
  readonly signal: AbortSignal
}

/**
 * Makes one answer. What is prepared is what the store knew at the position that the session is at.
 *
 * @throws RepetitionPending when rows are missing, or may have been meanwhile; QuestDbAway
 */
export async function inSession<Prepared, Result>(
  { connection, stored, signal }: SessionPlace,
  prepare: (stored: Stored) => Prepared,
  work: (session: ReadSession, prepared: Prepared) => Promise<Result>,
): Promise<Result> {
  const stretch = await stored.completeness.reached(connection, signal)
  const position = stored.position()
  const prepared = prepare(stored)
  await stored.applied(connection, signal)
  const session = new ReadSession({ connection, stored, position, signal })
  const result = await work(session, prepared)
  await stored.completeness.assertSince(stretch, connection, signal)
  return result
}

interface SessionNeeds {
  readonly connection: QuestDbConnection
  readonly stored: Stored
  readonly position: Offset
  readonly signal: AbortSignal
}

/** One answer that is being made: all its statements see the store as it was at one position. */
export class ReadSession {
  readonly position: Offset
  /** Condition that every statement has. */
  readonly visible: string
  readonly #needs: SessionNeeds

  constructor(needs: SessionNeeds) {
    this.#needs = needs
    this.position = needs.position
    this.visible = visibleAt(needs.position)
  }

  /** @throws QuestDbRefusal, QuestDbAway, and why it was aborted */
  async rows(sql: string): Promise<readonly Row[]> {
    const { connection, signal } = this.#needs
    return (await connection.run(sql, signal)).rows
  }

  /** The tables that a stream has readings in. */
  tablesOf(streamId: string): ReadTable[] {
    return this.#needs.stored.shapesOf(streamId).map((shape) => this.tableOf(shape))
  }

  rollupDays(streamId: string, query: RollupDaysQuery): readonly RollupDay[] | undefined {
    return this.#needs.stored.rollupDays(streamId, query)
  }

  tableOf({ id, columns }: Shape): ReadTable {
    return { name: quoted(tableOf(this.#needs.connection.server.prefix, id)), columns }
  }
}
