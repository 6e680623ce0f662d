import { createRequire } from 'node:module'
import { DuckDBInstance } from '@duckdb/node-api'

/** Where the library keeps the decoder of all texts that it reads. */
const accessorsPath = '@duckdb/node-api/lib/vectors/dataAccessors.js'

/**
 * Opens DuckDB. The library's decoder takes U+FEFF at the beginning of a text for a byte order mark and leaves it out;
 * texts of readings have none, and come back as they were stored.
 *
 * @param path of a file, or `:memory:`
 */
export async function openDuckDb(
  path: string,
  options: Readonly<Record<string, string>> = {},
): Promise<DuckDBInstance> {
  keepByteOrderMarks()
  return await DuckDBInstance.create(path, { ...options })
}

/** @throws Error where another version of the library keeps its decoder elsewhere */
function keepByteOrderMarks(): void {
  const accessors = createRequire(import.meta.url)(accessorsPath) as { textDecoder?: unknown }
  const { textDecoder } = accessors
  if (!(textDecoder instanceof TextDecoder)) {
    throw new Error('the decoder of @duckdb/node-api is not where it was')
  }
  if (!textDecoder.ignoreBOM) accessors.textDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
}
