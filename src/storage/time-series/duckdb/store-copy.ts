import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Offset } from '../../journal/journal.ts'
import type { StoreCopy } from '../store-copy.ts'
import { quoted } from './catalog.ts'
import { DuckDbFile } from './duckdb-file.ts'
import { copyFile } from './file-copy.ts'
import { rowsOf } from './rows-of.ts'

/** The name of DuckDB's log beside its file. */
function logOf(path: string): string {
  return `${path}.wal`
}

/**
 * Copies file and log. Nobody may write meanwhile: then both together are what a crash would leave, from which
 * DuckDB comes back to its last commit.
 */
export async function copyStore(
  file: DuckDbFile,
  position: Offset,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<StoreCopy> {
  const rows = await countRows(file)
  const path = join(folder, basename(file.path))
  for (const [from, to] of [
    [file.path, path],
    [logOf(file.path), logOf(path)],
  ] as const) {
    signal.throwIfAborted()
    if (!existsSync(from)) continue
    const copy = copyFile(from, to)
    const stop = () => copy.stop()
    signal.addEventListener('abort', stop)
    await copy.done.finally(() => signal.removeEventListener('abort', stop))
  }
  return { position, rows, files: [path, logOf(path)] }
}

/** Rows of each table of a file that nobody has open. */
export async function countStoreRows(path: string): Promise<Readonly<Record<string, number>>> {
  const file = await DuckDbFile.open(path)
  try {
    return await countRows(file)
  } finally {
    await file.close()
  }
}

async function countRows({ writer }: DuckDbFile): Promise<Record<string, number>> {
  const tables = await rowsOf(
    writer,
    'SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary',
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await rowsOf(writer, `SELECT count(*) AS rows FROM ${quoted(String(name))}`)
    counts[String(name)] = Number(row?.['rows'])
  }
  return counts
}
