import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fileStream } from '../../src/core/heard-streams.ts'
import { fileNames, type Manifest, manifestName } from '../../src/operating/backup/manifest.ts'
import { chunksOf, Packing, unpack } from '../../src/operating/backup/packing.ts'
import { openOldState } from './old-state.ts'

/**
 * Makes a backup what one of format 1 was: without files of users, and with a state that these
 * migrations have made, and none of the later ones. All rows of its tables are kept.
 */
export async function makeOlder(backup: string, migrations: readonly string[]): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(backup, manifestName), 'utf8')) as Manifest
  const newer = join(backup, 'newer.db')
  const older = join(backup, 'older.db')
  const [packed] = manifest.files.filter(({ name }) => name === fileNames.state)
  if (!packed) throw new Error('the backup has no state')
  const pieces = unpack(fileStream(join(backup, packed.name)), packed)
  writeFileSync(newer, Buffer.concat(await Array.fromAsync(pieces)))
  const stateRows = await olderState(newer, older, migrations)

  const packing = new Packing(fileNames.state)
  const frames = await Array.fromAsync(packing.pack(chunksOf(older), () => undefined))
  writeFileSync(join(backup, fileNames.state), Buffer.concat(frames))
  const later: readonly string[] = [fileNames.contents, fileNames.ledgerChain, fileNames.ledgerKeys]
  for (const path of [newer, older]) rmSync(path)
  for (const name of later) rmSync(join(backup, name), { force: true })

  const { files: _files, fileBytes: _bytes, filesLost: _lost, ...counts } = manifest.counts
  const files = manifest.files
    .filter(({ name }) => !later.includes(name))
    .map((file) => (file.name === fileNames.state ? packing.file() : file))
  const text = JSON.stringify({ ...manifest, format: 1, counts: { ...counts, stateRows }, files })
  writeFileSync(join(backup, manifestName), text)
}

/** Makes a state with these migrations, and none of the later ones, and resolves with the rows of each table. */
export async function olderState(
  newer: string,
  older: string,
  migrations: readonly string[],
): Promise<Record<string, number>> {
  using state = await openOldState(older, migrations)
  state.exec('PRAGMA foreign_keys = OFF')
  state.prepare('ATTACH ? AS newer').run(newer)
  const rows: Record<string, number> = {}
  const there = new Set(tablesOf(state, 'newer'))
  for (const table of tablesOf(state, 'main')) {
    if (table === 'kysely_migration') continue
    // Migrations that were run on nothing take no table away that they have emptied.
    if (!there.has(table)) state.exec(`DROP TABLE main."${table}"`)
    else copyTable(state, table)
  }
  for (const table of tablesOf(state, 'main')) {
    rows[table] = Number(
      state.prepare(`SELECT count(*) AS rows FROM main."${table}"`).get()?.['rows'],
    )
  }
  state.exec('DETACH newer')
  return rows
}

function tablesOf(state: DatabaseSync, of: 'main' | 'newer'): readonly string[] {
  const query = `SELECT name FROM ${of}.sqlite_schema WHERE type = 'table'`
  return state
    .prepare(query)
    .all()
    .map(({ name }) => String(name))
}

/** Columns that later migrations have dropped are left to their defaults: nothing knows any more what was in them. */
function copyTable(state: DatabaseSync, table: string): void {
  const columns = state
    .prepare(
      `SELECT name FROM pragma_table_info('${table}', 'main')
        WHERE name IN (SELECT name FROM pragma_table_info('${table}', 'newer'))`,
    )
    .all()
    .map(({ name }) => `"${String(name)}"`)
    .join(', ')
  state.exec(`DELETE FROM main."${table}"`)
  state.exec(`INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM newer."${table}"`)
}
