import type { Shape } from '../time-series-store.ts'
import type { QuestDbConnection } from './connection.ts'
import { columnsOf, createTable, literal, quoted, tableOf } from './layout.ts'

/** Makes the tables that are missing. @throws Error when one is there and is not as it should be */
export async function prepareTables(
  connection: QuestDbConnection,
  shapes: Iterable<Shape>,
): Promise<void> {
  for (const shape of shapes) {
    const table = tableOf(connection.server.prefix, shape.id)
    await connection.run(createTable(table, shape))
    const { rows } = await connection.run(
      `SELECT "column", type FROM table_columns(${literal(table)})`,
    )
    if (JSON.stringify(rows) !== JSON.stringify(columnsOf(shape))) {
      throw new Error(`the table ${table} of QuestDB has other columns than this service gives it`)
    }
  }
}

/** Says which data folder stores into the tables beside it. */
export function ownerTable(prefix: string): string {
  return `${prefix}streamvault`
}

/**
 * Sees to it that one data folder stores into these tables: positions in the journal of another would
 * mean other readings.
 *
 * @param id of the data folder
 * @throws Error when the tables belong to another folder, or have been emptied
 */
export async function claimTables(
  connection: QuestDbConnection,
  { id, isNew }: { readonly id: string; readonly isNew: boolean },
): Promise<void> {
  const { host, port, prefix } = connection.server
  const table = ownerTable(prefix)
  // Without a write-ahead log: what is inserted is seen at once.
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${quoted(table)} (id VARCHAR, "timestamp" TIMESTAMP)
       TIMESTAMP("timestamp") PARTITION BY YEAR BYPASS WAL`,
  )
  const { rows } = await connection.run(`SELECT id FROM ${quoted(table)} LIMIT 1`)
  const owner = rows[0]?.[0]
  if (owner === id) return
  if (owner !== undefined) {
    throw new Error(
      `QuestDB at ${host}:${port} stores for another data folder: give this one a path of its own in STREAMVAULT_TIMESERIES_URL`,
    )
  }
  if (!isNew) {
    throw new Error(
      `QuestDB at ${host}:${port} has nothing of what this data folder has stored: it is another server, or was emptied`,
    )
  }
  await connection.run(`INSERT INTO ${quoted(table)} VALUES (${literal(id)}, now())`)
}

/** What a commit survives, as the server is set; undefined when it does not say. */
export async function commitMode(connection: QuestDbConnection): Promise<unknown> {
  const { rows } = await connection.run(
    `SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.commit.mode'`,
  )
  return rows[0]?.[0]
}
