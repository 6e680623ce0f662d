import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { PostgresLogOptions } from './options.ts'
import type { ReplicationConnection } from './replication-connection.ts'
import { identifier, literal } from './sql-text.ts'

/**
 * Sees to it that the server publishes the changes of the table that are wanted. A publication is made for a
 * source that was never read, if its user may: one that is missing later was taken away with changes.
 *
 * @throws SourceRefused that tells the statement to run, if not
 */
export async function ensurePublication(
  connection: ReplicationConnection,
  options: PostgresLogOptions,
  isFirst: boolean,
): Promise<void> {
  await assertServer(connection)
  await assertTable(connection, options)
  const found = await findPublication(connection, options)
  const { publication, isOwnPublication } = options
  if (found === undefined) {
    if (isFirst && isOwnPublication) await change(connection, createStatement(options))
    else throw missing(`there is no publication ${publication}`, createStatement(options))
  } else if (!found.hasTable) {
    const statement = `ALTER PUBLICATION ${identifier(publication)} ADD TABLE ${tableName(options)}`
    throw missing(`the publication ${publication} does not have the table`, statement)
  } else if (!found.hasInserts || (options.withUpdates && !found.hasUpdates)) {
    const how = `SET (publish = ${literal(published(options))})`
    const statement = `ALTER PUBLICATION ${identifier(publication)} ${how}`
    const isOurs = isOwnPublication && found.hasInserts
    if (isOurs) await change(connection, statement)
    else throw missing(`the publication ${publication} lacks changes of the table`, statement)
  }
}

function missing(what: string, statement: string): SourceRefused {
  return new SourceRefused(
    `${what}: run ${statement}. What was changed without it does not arrive here`,
  )
}

async function assertServer(connection: ReplicationConnection): Promise<void> {
  const [row] = await connection.query("SELECT current_setting('wal_level') AS level")
  if (row?.['level'] === 'logical') return
  throw new SourceRefused(
    `the server keeps too little in its log (wal_level is ${String(row?.['level'])}): run ALTER SYSTEM SET wal_level = 'logical', and restart it`,
  )
}

/** Where updates are published, a table has to say by what a row is known: else it refuses all updates. */
async function assertTable(
  connection: ReplicationConnection,
  options: PostgresLogOptions,
): Promise<void> {
  const { schema, table, withUpdates } = options
  const [found] = await connection.query(
    `SELECT c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AS is_logged,
            c.relreplident = 'f' OR EXISTS (
              SELECT FROM pg_index i WHERE i.indrelid = c.oid
                AND ((c.relreplident = 'd' AND i.indisprimary) OR (c.relreplident = 'i' AND i.indisreplident))
            ) AS has_identity
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${literal(schema)} AND c.relname = ${literal(table)}`,
  )
  const name = `${schema}.${table}`
  if (found === undefined) {
    throw new SourceRefused(`there is no table ${name}: upper and lower case are not the same`)
  }
  if (found['is_logged'] !== true) {
    throw new SourceRefused(
      `changes of ${name} are not in the log: it is a view, or an unlogged table`,
    )
  }
  if (!withUpdates || found['has_identity'] === true) return
  throw new SourceRefused(
    `updates of ${name} cannot be followed, as it has no primary key: run ALTER TABLE ${tableName(options)} REPLICA IDENTITY FULL`,
  )
}

async function findPublication(
  connection: ReplicationConnection,
  { publication, schema, table }: PostgresLogOptions,
) {
  const [found] = await connection.query(
    `SELECT pubinsert, pubupdate, EXISTS (
              SELECT FROM pg_publication_tables t WHERE t.pubname = p.pubname
                AND t.schemaname = ${literal(schema)} AND t.tablename = ${literal(table)}
            ) AS has_table
       FROM pg_publication p WHERE pubname = ${literal(publication)}`,
  )
  return (
    found && {
      hasTable: found['has_table'] === true,
      hasInserts: found['pubinsert'] === true,
      hasUpdates: found['pubupdate'] === true,
    }
  )
}

async function change(connection: ReplicationConnection, statement: string): Promise<void> {
  try {
    await connection.query(statement)
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    if (code !== insufficientPrivilege) throw error
    throw new SourceRefused(`${message}: the owner of the table has to run ${statement}`, {
      cause: error,
    })
  }
}

/** Partitions are published as the table that they are of: since PostgreSQL 13. */
function createStatement(options: PostgresLogOptions): string {
  const what = `${identifier(options.publication)} FOR TABLE ${tableName(options)}`
  const how = `publish = ${literal(published(options))}, publish_via_partition_root = true`
  return `CREATE PUBLICATION ${what} WITH (${how})`
}

function published({ withUpdates }: PostgresLogOptions): string {
  return withUpdates ? 'insert, update' : 'insert'
}

function tableName({ schema, table }: PostgresLogOptions): string {
  return `${identifier(schema)}.${identifier(table)}`
}

/** SQLSTATE, appendix A of the manual. */
const insufficientPrivilege = '42501'
