import { openDuckDb } from '../../core/duckdb-instance.ts'

/** Types of Parquet columns, as DuckDB calls them. Times are microseconds in UTC. */
export type ParquetType = 'VARCHAR' | 'DOUBLE' | 'BIGINT' | 'BOOLEAN' | 'TIMESTAMPTZ'

export interface ParquetColumn {
  readonly name: string
  readonly type: ParquetType
}

/** Values of one row group: all of its columns are in memory until it is written. */
const rowGroupValues = 1_500_000
const rowGroupRows = { min: 2_048, max: 122_880 }

/** Memory of DuckDB for one file. */
const memoryLimit = '192MB'

/**
 * Turns lines of CSV into a Parquet file. Columns go by their place, so that names can be anything.
 *
 * @param lines with a head, lines that end with CR LF, and what is absent empty and not quoted
 */
export async function writeParquet(
  lines: { readonly path: string; readonly longestBytes: number },
  columns: readonly ParquetColumn[],
  target: string,
): Promise<void> {
  const instance = await openDuckDb(':memory:', {
    threads: '1',
    memory_limit: memoryLimit,
    temp_directory: '',
  })
  const connection = await instance.connect()
  try {
    await connection.run(statementOf(lines, columns, target))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function statementOf(
  { path, longestBytes }: { readonly path: string; readonly longestBytes: number },
  columns: readonly ParquetColumn[],
  target: string,
): string {
  const places = columns.map(({ type }, place) => `c${place}: '${type}'`)
  const names = columns.map(({ name }, place) => `c${place} AS ${identifier(name)}`)
  const options = [
    'auto_detect = false',
    'header = false',
    'skip = 1',
    `delim = ','`,
    `quote = '"'`,
    `escape = '"'`,
    `new_line = '\\r\\n'`,
    // An empty text stands in quotes, what is absent does not.
    `nullstr = ''`,
    'allow_quoted_nulls = false',
    `max_line_size = ${longestBytes}`,
    `buffer_size = ${longestBytes}`,
    `columns = {${places.join(', ')}}`,
  ]
  const source = `read_csv(${literal(path)}, ${options.join(', ')})`
  const rows = Math.floor(rowGroupValues / columns.length)
  const groupRows = Math.min(Math.max(rows, rowGroupRows.min), rowGroupRows.max)
  const form = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${groupRows}`
  return `COPY (SELECT ${names.join(', ')} FROM ${source}) TO ${literal(target)} (${form})`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
