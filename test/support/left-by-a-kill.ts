import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TemporaryFolder } from './temporary-folder.ts'

/** What a query for one number finds in a file of SQLite as a kill would leave it now, or has left it. */
export function foundIn(dataDir: string, file: string, query: string): number {
  using folder = new TemporaryFolder()
  // A copy: to open a file is to repair it, and that is for the service to do. Other files come and go as it runs.
  for (const name of [file, `${file}-wal`]) {
    if (existsSync(join(dataDir, name))) cpSync(join(dataDir, name), folder.file(name))
  }
  using database = new DatabaseSync(folder.file(file))
  return Number(database.prepare(`SELECT ${query} AS found`).get()?.['found'])
}
