import type { Shape } from '../../shape.ts'
import type { ServedRows } from '../../store-copy.ts'
import { QuestDbAnswerTooLarge, QuestDbAway, QuestDbConnection } from '../connection.ts'
import { processOf } from '../durability.ts'
import { markOf } from '../expiry.ts'
import { quoted, tableOf } from '../layout.ts'
import { digestOrder } from '../read/statement.ts'
import { type RowLine, selectedRow, tableLine, timestampIndex } from './row-lines.ts'

/** Rows that one statement asks for; fewer where they are large. */
const rowsMax = 4_000

/** A statement may have to go over all rows of a table that are removed. */
const answerMs = 300_000

/** Rows of a table, as lines. */
export interface RowChunk {
  readonly table: string
  readonly rows: number
  readonly bytes: Uint8Array
}

/**
 * Reads all rows as they were, of one table after the other, in ascending time.
 *
 * @throws QuestDbAway when the server was started anew since: it may lack some of them
 */
export async function* readServedRows(
  served: ServedRows,
  signal: AbortSignal,
): AsyncGenerator<RowChunk> {
  const connection = new QuestDbConnection(served.server, { sockets: 1, answerMs })
  try {
    await assertSameProcess(connection, served)
    for (const shape of served.shapes) {
      const header = `${JSON.stringify(tableLine(shape))}\n`
      const { table } = tableLine(shape)
      yield { table, rows: 0, bytes: Buffer.from(header) }
      for await (const rows of new TableRows({ connection, served, signal }, shape).pages()) {
        const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
        yield { table, rows: rows.length, bytes: Buffer.from(lines) }
      }
    }
    await assertSameProcess(connection, served)
  } finally {
    connection.close()
  }
}

async function assertSameProcess(
  connection: QuestDbConnection,
  { process }: ServedRows,
): Promise<void> {
  if ((await processOf(connection)) === process) return
  throw new QuestDbAway('QuestDB was restarted while the backup was made')
}

interface TableRowsNeeds {
  readonly connection: QuestDbConnection
  readonly served: ServedRows
  readonly signal: AbortSignal
}

/** Rows of one table, in portions that fit into memory. */
class TableRows {
  readonly #needs: TableRowsNeeds
  readonly #shape: Shape
  #rowsMax = rowsMax

  constructor(needs: TableRowsNeeds, shape: Shape) {
    this.#needs = needs
    this.#shape = shape
  }

  /** QuestDB goes through a table in the order of time, and ends where it has enough. */
  async *pages(): AsyncGenerator<readonly RowLine[]> {
    let fromUs = 0
    for (;;) {
      const { rows, limit } = await this.#read(`"timestamp" >= ${fromUs}`, '"timestamp"', 0)
      const last = rows.at(-1)
      if (last && rows.length === limit) {
        // There may be more of the last moment.
        const lastUs = timeOf(last)
        const before = rows.filter((row) => timeOf(row) < lastUs)
        if (before.length > 0) yield before
        else yield* this.#pagesOfMoment(lastUs)
        fromUs = before.length > 0 ? lastUs : lastUs + 1
      } else {
        if (last) yield rows
        return
      }
    }
  }

  async *#pagesOfMoment(timestampUs: number): AsyncGenerator<readonly RowLine[]> {
    const order = `"streamId", ${digestOrder('ASC')}`
    for (let done = 0; ; ) {
      const { rows, limit } = await this.#read(`"timestamp" = ${timestampUs}`, order, done)
      if (rows.length > 0) yield rows
      if (rows.length < limit) return
      done += rows.length
    }
  }

  async #read(
    range: string,
    order: string,
    skipped: number,
  ): Promise<{ readonly rows: readonly RowLine[]; readonly limit: number }> {
    const { connection, served, signal } = this.#needs
    const table = quoted(tableOf(served.server.prefix, this.#shape.id))
    for (;;) {
      const limit = this.#rowsMax
      try {
        const { rows } = await connection.run(
          `SELECT ${selectedRow(this.#shape.columns)} FROM ${table}
           WHERE ${range} AND ${wasThere(served)} ORDER BY ${order} LIMIT ${skipped}, ${skipped + limit}`,
          signal,
        )
        this.#rowsMax = Math.min(rowsMax, limit * 2)
        return { rows, limit }
      } catch (error) {
        if (!(error instanceof QuestDbAnswerTooLarge) || limit === 1) throw error
        this.#rowsMax = Math.ceil(limit / 2)
      }
    }
  }
}

/** Rows that were stored before the position, and not removed before it: what has happened since is ignored. */
function wasThere({ position, expiryRound }: ServedRows): string {
  const isAlive = `"$removedBy" = null OR "$removedBy" >= ${position}`
  return `(${isAlive} OR "$removedBy" <= ${markOf(expiryRound)}) AND "$offset" < ${position}`
}

function timeOf(row: RowLine): number {
  return Number(row[timestampIndex])
}
