import { symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

function plant() {
  const folder = new TemporaryFolder()
  const file = folder.file('plant.db')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE readings (id INTEGER PRIMARY KEY, at DATETIME, level REAL)')
  const insert = (id: number, at: string) => {
    database.prepare('INSERT INTO readings VALUES (?, ?, 1.5)').run(id, at)
  }
  return {
    file,
    folder: folder.path,
    insert,
    [Symbol.dispose]() {
      database.close()
      folder[Symbol.dispose]()
    },
  }
}

const query = 'SELECT * FROM readings'

describe('a file of SQLite', () => {
  test('gives no page that is larger than there is room for', async () => {
    using own = plant()
    for (const blob of ['zeroblob(300000000)', "printf('%.*c', 100000000, 'x')"]) {
      const source = { protocol: 'sqlite', endpoint: own.file, keyColumn: 'id' }
      const rows = new PolledRows(
        { ...source, query: `SELECT 1 AS id, ${blob} AS large` },
        { sqliteFolders: [own.folder] },
      )
      await expect(rows.poll()).rejects.toThrow('make pageSize smaller')
    }
  })

  test('is read on behind what was read, with ties and across pages', async () => {
    using own = plant()
    for (let id = 1; id <= 20; id++) own.insert(id, `2026-03-01 12:00:0${id % 3}`)
    const source = { protocol: 'sqlite', endpoint: own.file, query, pageSize: 3 }
    const orders = [
      { incrementalColumn: 'at', keyColumn: 'id' },
      { incrementalColumn: 'at', lookBehind: '30s' },
      { incrementalColumn: 'id', lookBehind: 5 },
      { incrementalColumn: 'id', keyColumn: 'id', lookBehind: 0 },
    ]
    for (const [index, order] of orders.entries()) {
      const polled = new PolledRows({ ...source, ...order }, { sqliteFolders: [own.folder] })
      for (let round = 0; round < 30; round++) await polled.poll({ pages: 1 })
      own.insert(100 + index, '2026-03-01 12:00:05')
      await polled.poll()
      const ids = polled.rows.map(({ id }) => Number(id)).toSorted((one, other) => one - other)
      const added = Array.from({ length: index + 1 }, (_, count) => 100 + count)
      expect(ids).toEqual([...Array.from({ length: 20 }, (_, count) => count + 1), ...added])
    }
  })

  test('compares numbers that are computed as numbers', async () => {
    using own = plant()
    for (const id of [9, 10, 11]) own.insert(id, '2026-03-01 12:00:00')
    const order = { incrementalColumn: 'twice', keyColumn: 'id', lookBehind: 0, pageSize: 1 }
    const polled = new PolledRows(
      {
        protocol: 'sqlite',
        endpoint: own.file,
        query: 'SELECT id * 2 AS twice, id FROM readings',
        ...order,
      },
      { sqliteFolders: [own.folder] },
    )
    await polled.poll()
    await polled.poll()
    expect(polled.rows.map(({ id }) => id)).toEqual([9, 10, 11])
  })

  test('is only read in folders that the operator has named, whatever links there are', async () => {
    using own = plant()
    using other = plant()
    const link = `${own.folder}/link.db`
    symlinkSync(other.file, link)
    const attempts = [
      { endpoint: own.file, folders: [] },
      { endpoint: other.file, folders: [own.folder] },
      { endpoint: link, folders: [own.folder] },
      {
        endpoint: `${own.folder}/../${other.file.split('/').at(-2)}/plant.db`,
        folders: [own.folder],
      },
      { endpoint: `${own.folder}/nothing.db`, folders: [own.folder] },
      { endpoint: `${own.folder}2/plant.db`, folders: [own.folder] },
    ]
    for (const { endpoint, folders } of attempts) {
      const polled = new PolledRows(
        { protocol: 'sqlite', endpoint, query },
        { sqliteFolders: folders },
      )
      const failure = await polled.poll().catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(SourceRefused)
      expect((failure as Error).message).toContain('STREAMVAULT_SQLITE_FOLDERS')
    }
  })

  test.each([
    ['what is no SQLite', 'noise.db', query],
    ['a table that is not there', 'plant.db', 'SELECT * FROM nothing'],
    ['what would load other code', 'plant.db', "SELECT load_extension('/tmp/x')"],
    ['another statement behind it', 'plant.db', 'SELECT 1) AS q; DELETE FROM readings; --'],
  ])('refuses %s', async (_, name, text) => {
    using own = plant()
    own.insert(1, '2026-03-01 12:00:00')
    writeFileSync(`${own.folder}/noise.db`, 'noise'.repeat(1_000))
    const options = { sqliteFolders: [own.folder] }
    const endpoint = `${own.folder}/${name}`
    const polled = new PolledRows({ protocol: 'sqlite', endpoint, query: text }, options)
    await polled.poll().catch((error: unknown) => expect(error).toBeInstanceOf(SourceRefused))
    const rows = new PolledRows({ protocol: 'sqlite', endpoint: own.file, query }, options)
    await rows.poll()
    expect(rows.rows).toHaveLength(1)
  })

  test('does not wait for ever for a statement', async () => {
    using own = plant()
    const endless =
      'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS c FROM n'
    const polled = new PolledRows(
      { protocol: 'sqlite', endpoint: own.file, query: endless, statementTimeout: '1s' },
      { sqliteFolders: [own.folder] },
    )
    const failure = await polled.poll().catch((error: unknown) => error)
    expect(failure).not.toBeInstanceOf(SourceRefused)
    expect((failure as Error).message).toBe('the statement has taken more than 1 s')
  })
})
