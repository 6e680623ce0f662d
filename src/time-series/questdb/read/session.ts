import type { Offset } from '../../../journal/journal.ts'
import type { Column, Shape } from '../../time-series-store.ts'
import type { QuestDbConnection } from '../connection.ts'
import { quoted, tableOf } from '../layout.ts'
import type { Row } from './field-values.ts'
import { visibleAt } from './statement.ts'

/** What is known without asking the server. */
export interface Stored {
  position(): Offset
  /** Undefined: nothing of it has arrived. The newest timestamp that is stored, or -1. */
  stream(id: string): { readonly timestampMaxUs: number } | undefined
  /** The shapes that readings of a stream have had. */
  shapesOf(id: string): readonly Shape[]
}

/** A table of readings. */
export interface ReadTable {
  /** Quoted. */
  readonly name: string
  readonly columns: readonly Column[]
}

export interface SessionNeeds {
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

  tableOf({ id, columns }: Shape): ReadTable {
    return { name: quoted(tableOf(this.#needs.connection.server.prefix, id)), columns }
  }
}
