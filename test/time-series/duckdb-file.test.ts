import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/storage/time-series/duckdb/rows-of.ts'
import type { QueryLimits } from '../../src/storage/time-series/query-turns.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** A file whose queries have these limits. */
async function openFile(limits: Partial<QueryLimits> = {}) {
  const folder = new TemporaryFolder()
  const all = { atOnce: 2, waitingMax: 3, ms: 60_000, ...limits }
  const file = await DuckDbFile.open(folder.file('time-series.duckdb'), { limits: all })
  return {
    file,
    async [Symbol.asyncDispose]() {
      await file.close()
      folder[Symbol.dispose]()
    },
  }
}

const endless = 'SELECT sum(hash(a.range) % 7) FROM range(1000000000000) a'

/** A query that goes on until it is let go. */
function held(file: DuckDbFile) {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { done: file.read(() => promise), letGo: resolve }
}

/** What DuckDB says that a file is written for. */
async function storageOf(file: DuckDbFile): Promise<unknown> {
  const [row] = await rowsOf(
    file.writer,
    `SELECT tags['storage_version'] AS storage FROM duckdb_databases() WHERE path IS NOT NULL`,
  )
  return row?.['storage']
}

describe('what a file is written for', () => {
  test('is the DuckDB of these days', async () => {
    await using opened = await openFile()
    expect(await storageOf(opened.file)).toBe('v1.5.0+')
  })

  test('stays what it was where the file is older', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('time-series.duckdb')
    const older = await DuckDBInstance.create(path)
    const connection = await older.connect()
    await connection.run('CREATE TABLE many AS SELECT range AS n FROM range(10_000)')
    connection.closeSync()
    older.closeSync()

    const file = await DuckDbFile.open(path)
    await file.writer.run('INSERT INTO many SELECT range FROM range(10_000)')
    await file.writer.run('CHECKPOINT')
    await file.reopen()

    expect(await storageOf(file)).toBe('v1.0.0+')
    const [row] = await rowsOf(file.writer, 'SELECT sum(n)::INTEGER AS sum FROM many')
    expect(row).toEqual({ sum: 10_000 * 9_999 })
    await file.close()
  })
})

describe('queries of a file', () => {
  test('are a few at a time; the rest wait, in order', async () => {
    await using opened = await openFile()
    const { file } = opened
    const order: number[] = []
    const running = [held(file), held(file)]
    const waiting = [1, 2, 3].map((number) => file.read(async () => order.push(number)))

    expect(file.queries).toMatchObject({ running: 2, waiting: 3 })
    // One place alone comes free: of two that run at once, either may be done first.
    running[0]?.letGo()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])

    running[1]?.letGo()
    await Promise.all(running.map(({ done }) => done))
    expect(file.queries).toMatchObject({ running: 0, waiting: 0 })
  })

  test('beyond those that may wait are refused, and may come again', async () => {
    await using opened = await openFile()
    const { file } = opened
    const all = Array.from({ length: 5 }, () => held(file))

    await expect(file.read(async () => 'late')).rejects.toMatchObject({
      code: 'overloaded',
      retryAfter: 1,
    })

    for (const { letGo } of all) letGo()
    await Promise.all(all.map(({ done }) => done))
    expect(await file.read(async () => 'later')).toBe('later')
  })

  test('that take too long are ended, and give their turn back', async () => {
    await using opened = await openFile({ atOnce: 1, ms: 50 })
    const { file } = opened

    await expect(file.read((connection) => connection.run(endless))).rejects.toMatchObject({
      code: 'query_too_slow',
    })
    // Neither can it go on with another statement.
    const again = file.read(async (connection) => {
      for (;;) await connection.run('SELECT 1')
    })
    await expect(again).rejects.toMatchObject({ code: 'query_too_slow' })
    expect(await file.read(async () => 'next')).toBe('next')
  })

  test('that take too much memory are ended', async () => {
    await using opened = await openFile()
    const sql = 'SELECT list(range) FROM range(1000000000) GROUP BY range % 2'

    await expect(opened.file.read((connection) => connection.run(sql))).rejects.toMatchObject({
      code: 'query_too_slow',
    })
  })

  test('that are as slow as can be keep nobody from writing', async () => {
    await using opened = await openFile()
    const { file } = opened
    const running = new Set<DuckDBConnection>()
    const slow = [1, 2].map(() =>
      file.read(async (connection) => {
        running.add(connection)
        await connection.run(endless).finally(() => running.delete(connection))
      }),
    )
    const answers = Promise.allSettled(slow)
    await file.writer.run('CREATE TABLE written AS SELECT 1 AS one')

    expect(file.queries.running).toBe(2)
    const interrupted = () => {
      for (const connection of running) connection.interrupt()
      return file.queries.running
    }
    await expect.poll(interrupted).toBe(0)
    await answers
  })

  test('fail as they are when they are wrong', async () => {
    await using opened = await openFile()

    await expect(opened.file.read((connection) => connection.run('SELEC'))).rejects.toThrow('SELEC')
  })
})
