import type { Shape } from '../shape.ts'
import type { QuestDbConnection } from './connection.ts'
import { columnsOf, createTable, literal, quoted, tableOf, upsertKeys } from './layout.ts'

/** Makes the tables that are missing. @throws Error when one is there and is not as it should be */
export async function prepareTables(
  connection: QuestDbConnection,
  shapes: Iterable<Shape>,
): Promise<void> {
  for (const shape of shapes) {
    const table = tableOf(connection.server.prefix, shape.id)
    await connection.run(createTable(table, shape))
    const { rows } = await connection.run(
      `SELECT "column", type, upsertKey FROM table_columns(${literal(table)})`,
    )
    const columns = rows.map(([name, type]) => [name, type])
    if (JSON.stringify(columns) !== JSON.stringify(columnsOf(shape))) {
      throw new Error(`the table ${table} of QuestDB has other columns than this service gives it`)
    }
    const keys = rows.filter(([, , isKey]) => isKey === true).map(([name]) => String(name))
    await assertKeeps(connection, { table, keys })
  }
}

/** Rows that are sent again would be there twice, others would be taken for the same, or go by themselves. */
async function assertKeeps(
  connection: QuestDbConnection,
  { table, keys }: { readonly table: string; readonly keys: readonly string[] },
): Promise<void> {
  const { rows } = await connection.run(
    `SELECT walEnabled, ttlValue FROM tables() WHERE table_name = ${literal(table)}`,
  )
  const [isWal, ttl] = rows[0] ?? []
  const isAsMade = isWal === true && Number(ttl) === 0
  if (isAsMade && keys.toSorted().join() === upsertKeys.toSorted().join()) return
  throw new Error(
    `the table ${table} of QuestDB does not keep rows as this service needs it: ` +
      `ALTER TABLE ${quoted(table)} DEDUP ENABLE UPSERT KEYS(${upsertKeys.map(quoted).join(', ')}), and SET TTL 0 h`,
  )
}

/** Says which data folder stores into the tables beside it. */
export function ownerTable(prefix: string): string {
  return `${prefix}streamvault`
}

/** Stands for the id of a folder while its rows are being brought: no service takes such tables. */
const restoring = 'restoring '

/** @param id of the folder that there will be */
export function restoringOf(id: string): string {
  return restoring + id
}

export function isRestoring(owner: string | undefined): boolean {
  return owner?.startsWith(restoring) === true
}

/** Who the tables belong to; undefined when that is not written down, or there are none. */
export async function ownerOf(connection: QuestDbConnection): Promise<string | undefined> {
  const table = ownerTable(connection.server.prefix)
  const { rows: tables } = await connection.run(
    `SELECT table_name FROM tables() WHERE table_name = ${literal(table)}`,
  )
  if (tables.length === 0) return undefined
  const { rows } = await connection.run(`SELECT id FROM ${quoted(table)} LIMIT 1`)
  return rows[0]?.[0] as string | undefined
}

/** Gives tables to a folder whose rows have all been brought. */
export async function ownRestored(connection: QuestDbConnection, id: string): Promise<void> {
  const table = ownerTable(connection.server.prefix)
  await connection.run(`UPDATE ${quoted(table)} SET id = ${literal(id)}`)
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
