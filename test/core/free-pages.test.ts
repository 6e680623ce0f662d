import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { giveBackPages, keepReclaimable } from '../../src/core/free-pages.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const mebibyte = 1024 ** 2

/** As every file of the service is opened. */
function opened(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  keepReclaimable(database, path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  return database
}

/** Sixteen MiB of rows, and one that is to stay. */
function fill(database: DatabaseSync): void {
  database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, bytes BLOB)')
  const insert = database.prepare('INSERT INTO items (bytes) VALUES (zeroblob(65536))')
  for (let count = 0; count < 256; count++) insert.run()
}

/** Gives back what there is, in steps, and says how many there were. */
function giveBackAll(database: DatabaseSync, pages: number): number {
  let steps = 1
  while (giveBackPages(database, pages)) steps++
  return steps
}

describe('free pages of a SQLite file', () => {
  test('go back to the disk in small steps, though somebody reads, and some stay for what comes next', () => {
    using folder = new TemporaryFolder()
    const path = folder.file('state.db')
    using database = opened(path)
    fill(database)
    using reader = new DatabaseSync(path, { readOnly: true })
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(statSync(path).size).toBeGreaterThan(16 * mebibyte)
    database.exec('DELETE FROM items WHERE id < 256')

    expect(giveBackAll(database, 64)).toBeGreaterThan(20)

    expect(reader.prepare('SELECT count(*) AS count FROM items').get()?.['count']).toBe(1)
    expect(statSync(path).size).toBeLessThan(5 * mebibyte)
    expect(statSync(path).size).toBeGreaterThan(4 * mebibyte)
    expect(giveBackAll(database, 64)).toBe(1)
  })

  test('of an earlier version go back, too, once it was opened anew', () => {
    using folder = new TemporaryFolder()
    const path = folder.file('state.db')
    const old = new DatabaseSync(path)
    old.exec('PRAGMA journal_mode = WAL')
    fill(old)
    old.exec('DELETE FROM items WHERE id < 256')
    expect(giveBackPages(old, 64)).toBe(false)
    old.close()

    using database = opened(path)
    giveBackAll(database, 64)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')

    expect(statSync(path).size).toBeLessThan(5 * mebibyte)
    expect(database.prepare('SELECT id, length(bytes) AS length FROM items').all()).toEqual([
      { id: 256, length: 65_536 },
    ])
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  })

  test('a file of an earlier version that somebody else uses just now stays as it is, and can be used', () => {
    using folder = new TemporaryFolder()
    const path = folder.file('state.db')
    const old = new DatabaseSync(path)
    old.exec('PRAGMA journal_mode = WAL')
    fill(old)
    old.exec('BEGIN IMMEDIATE')

    using database = opened(path)
    old.exec('COMMIT')
    old.close()

    expect(database.prepare('SELECT count(*) AS count FROM items').get()?.['count']).toBe(256)
    expect(giveBackPages(database, 64)).toBe(false)
  })
})
