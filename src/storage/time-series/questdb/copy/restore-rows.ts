import { randomUUID } from 'node:crypto'
import { messageOf } from '../../../../core/errors.ts'
import type { Shape } from '../../shape.ts'
import type { ShippedReading } from '../../shipment.ts'
import type { StoreServer } from '../../store-copy.ts'
import { QuestDbConnection } from '../connection.ts'
import { checkpointMs, isSyncing, processOf, transactionsOf } from '../durability.ts'
import { literal, quoted, tableOf } from '../layout.ts'
import { PositionsFile } from '../positions-file.ts'
import {
  claimTables,
  isRestoring,
  ownerOf,
  ownerTable,
  ownRestored,
  prepareTables,
  restoringOf,
} from '../preparation.ts'
import { RowBuffer } from '../row-buffer.ts'
import { Unapplied } from '../unapplied.ts'
import { writeRows } from '../write-rows.ts'
import { linesOf, readingOf } from './row-lines.ts'

/** Rows that are sent together. */
const rowsPerRequest = 5_000

/** Rows by table, as a backup names them. */
export type RowCounts = Readonly<Record<string, number>>

export interface RestoreOptions {
  /** Whether to take away first what a restore has left that was cut off. */
  readonly discardsCutOff?: boolean
}

/** Brings the rows of a backup back to a server that has none of ours, into tables of a new data folder. */
export class RowRestorer {
  readonly #server: StoreServer
  readonly #connection: QuestDbConnection
  readonly #buffer: RowBuffer
  readonly #unapplied: Unapplied
  readonly #tables = new Set<string>()
  readonly #discardsCutOff: boolean
  /** The id of the folder that there will be. */
  readonly #folder = randomUUID()

  constructor(server: StoreServer, { discardsCutOff = false }: RestoreOptions = {}) {
    this.#server = server
    this.#discardsCutOff = discardsCutOff
    // Pinned: what one process has taken, another may have lost.
    const options = { sockets: 1, isPinned: true, answerMs: checkpointMs }
    this.#connection = new QuestDbConnection(server, options)
    this.#buffer = new RowBuffer(server.prefix)
    this.#unapplied = new Unapplied(server.prefix)
  }

  /** @throws Error when there is something in the place of the tables */
  async begin(): Promise<void> {
    const { host, port, prefix } = this.#server
    const { rows } = await this.#connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, ${literal(tableOf(prefix, ''))})`,
    )
    const tables = [...rows.map(([table]) => String(table)), ownerTable(prefix)]
    const owner = await ownerOf(this.#connection)
    if (isRestoring(owner) && this.#discardsCutOff) {
      // The owner goes last: until then it is known what the others are.
      for (const table of tables) await this.#drop(table)
    } else if (isRestoring(owner)) {
      throw new Error(
        `QuestDB at ${host}:${port} has tables of a restore that was cut off, or is under way: --discard-cut-off takes ` +
          'away what one has left that was cut off',
      )
    } else if (owner !== undefined || rows.length > 0) {
      throw new Error(
        `QuestDB at ${host}:${port} has the table ${tables[0]} already: a backup is only restored into a ` +
          'server without one, or under another name: STREAMVAULT_TIMESERIES_URL=questdb://host:port/name',
      )
    }
  }

  /**
   * Sends all rows, and notes in the file of positions, which was of another folder, that they are on QuestDB's disk:
   * so nobody may have the file before `finish`.
   *
   * @param lines as `readServedRows` has made them
   */
  async restore(path: string, lines: AsyncIterable<Uint8Array>): Promise<RowCounts> {
    const connection = this.#connection
    const process = await processOf(connection)
    this.#tables.add(ownerTable(this.#server.prefix))
    await claimTables(connection, { id: restoringOf(this.#folder), isNew: true })
    const rows = await this.#send(lines)
    await this.#unapplied.applied(connection)
    const transactions = await transactionsOf(connection)
    const file = new PositionsFile(path)
    file.moveTo({ folder: this.#folder, process, transactions })
    file.close()
    return rows
  }

  /** Gives the tables to the folder: a service may take them. All of it is on QuestDB's disk then. */
  async finish(): Promise<void> {
    const connection = this.#connection
    await ownRestored(connection, this.#folder)
    if (await isSyncing(connection)) return
    await connection.run('CHECKPOINT CREATE')
    await connection.run('CHECKPOINT RELEASE')
  }

  /** Takes away what was brought. */
  async discard(): Promise<void> {
    const owner = ownerTable(this.#server.prefix)
    this.#tables.delete(owner)
    for (const table of [...this.#tables, owner]) await this.#drop(table)
  }

  close(): void {
    this.#connection.close()
  }

  async #drop(table: string): Promise<void> {
    await this.#connection.run(`DROP TABLE IF EXISTS ${quoted(table)}`)
  }

  async #send(lines: AsyncIterable<Uint8Array>): Promise<RowCounts> {
    const counts: Record<string, number> = {}
    let [table, shape]: [string, Shape | undefined] = ['', undefined]
    let readings: ShippedReading[] = []
    const flush = async () => {
      await this.#write(readings)
      counts[table] = (counts[table] ?? 0) + readings.length
      readings = []
    }
    for await (const line of linesOf(lines)) {
      if ('table' in line) {
        if (shape) await flush()
        ;({ table, shape } = line)
        this.#tables.add(tableOf(this.#server.prefix, shape.id))
        await prepareTables(this.#connection, [shape])
      } else if (shape) {
        readings.push(readingOf(line, shape))
        if (readings.length >= rowsPerRequest) await flush()
      }
    }
    if (shape) await flush()
    return counts
  }

  async #write(readings: readonly ShippedReading[]): Promise<void> {
    const [refused] = await writeRows(this.#connection, this.#buffer, readings)
    if (refused) throw new Error(`QuestDB does not take a reading: ${refused.message}`)
    this.#unapplied.add(readings)
    await this.#unapplied.catchUp(this.#connection)
  }
}

/** Rows that are there now, of the tables of a backup. */
export async function countServedRows(
  server: StoreServer,
  tables: readonly string[],
): Promise<RowCounts> {
  const connection = new QuestDbConnection(server, { sockets: 1, answerMs: checkpointMs })
  const counts: Record<string, number> = {}
  try {
    for (const table of tables) {
      try {
        const { rows } = await connection.run(
          `SELECT count() FROM ${quoted(server.prefix + table)}`,
        )
        counts[table] = Number(rows[0]?.[0])
      } catch (error) {
        throw new Error(`the rows of ${table} cannot be counted: ${messageOf(error)}`, {
          cause: error,
        })
      }
    }
  } finally {
    connection.close()
  }
  return counts
}
