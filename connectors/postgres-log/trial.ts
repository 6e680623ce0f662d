import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import type { PostgresLogOptions } from './options.ts'
import { ensurePublication } from './publication.ts'
import type { ReplicationConnection } from './replication-connection.ts'
import { RowBatch } from './row-batch.ts'
import { assertFreeSlot } from './slot.ts'
import { identifier } from './sql-text.ts'
import { tableShape } from './table-shape.ts'

/** Rows of a sample. */
const rowsMax = 20

/**
 * What keeps a table from being followed is found out, and nothing is left on the server. A sample is of rows that
 * are there already.
 *
 * @throws SourceRefused
 */
export async function tryTable(
  connection: ReplicationConnection,
  options: PostgresLogOptions,
  needs: { readonly baseTypes: ReadonlyMap<number, number>; readonly source: string },
): Promise<readonly FetchedMessage[]> {
  await connection.query('BEGIN')
  await ensurePublication(connection, options, true)
  await connection.query('ROLLBACK')
  await assertFreeSlot(connection)
  const { schema, table, timezone, timestampField } = options
  const { fields, rows } = await connection.texts(
    `SELECT * FROM ${identifier(schema)}.${identifier(table)} LIMIT ${rowsMax}`,
  )
  const { baseTypes, source } = needs
  const columns = fields.map(({ name, dataTypeID }) => ({ name, typeOid: dataTypeID }))
  const shape = tableShape(columns, { baseTypes, timezone, timestampField })
  const batch = new RowBatch(source)
  for (const row of rows) {
    const values = columns.map(({ name }, index) => {
      const text = row[name]
      return [name, typeof text === 'string' ? shape.valueTexts[index]?.(text) : undefined]
    })
    batch.add(shape.rowOf(Object.fromEntries(values)))
  }
  return batch.take().messages
}
