import type { DuckDBConnection } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { DuckDbFile } from '../../src/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/time-series/duckdb/rows-of.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const mebibyte = 1024 * 1024

/** What DuckDB's buffers hold now. */
async function bufferBytes(connection: DuckDBConnection): Promise<number> {
  const [row] = await rowsOf(
    connection,
    'SELECT sum(memory_usage_bytes)::DOUBLE AS bytes FROM duckdb_memory()',
  )
  return Number(row?.['bytes'])
}

/** The limit that is in force, as DuckDB says it. */
async function limitOf(connection: DuckDBConnection): Promise<unknown> {
  const [row] = await rowsOf(connection, `SELECT current_setting('memory_limit') AS setting`)
  return row?.['setting']
}

/** A query that goes through the whole table. */
async function readAll(connection: DuckDBConnection): Promise<Record<string, unknown>[]> {
  return await rowsOf(connection, 'SELECT sum(n)::DOUBLE AS n, max(noise) AS noise FROM many')
}

/** An open file with a table whose blocks fill the buffers once they were read. */
async function filled() {
  const folder = new TemporaryFolder()
  const file = await DuckDbFile.open(folder.file('time-series.duckdb'))
  await file.writer.run(
    'CREATE TABLE many AS SELECT range AS n, hash(range) AS noise FROM range(5_000_000)',
  )
  await file.writer.run('CHECKPOINT')
  await file.read(readAll)
  return {
    file,
    async [Symbol.asyncDispose]() {
      await file.close()
      folder[Symbol.dispose]()
    },
  }
}

const total = (5_000_000 * 4_999_999) / 2

test('memory that nobody uses is given back, and the limit is what it was', async () => {
  await using opened = await filled()
  const { file } = opened
  const limit = await limitOf(file.writer)
  expect(await bufferBytes(file.writer)).toBeGreaterThan(32 * mebibyte)

  await file.releaseMemory()

  expect(await bufferBytes(file.writer)).toBeLessThan(25 * mebibyte)
  expect(await limitOf(file.writer)).toBe(limit)
  expect(await file.read(readAll)).toMatchObject([{ n: total }])
})

test('a limit that more is in use than leaves everything as it was', async () => {
  await using opened = await filled()
  const { file } = opened
  const limit = await limitOf(file.writer)
  await file.writer.run('BEGIN')
  await file.writer.run('CREATE TEMP TABLE pinned AS SELECT * FROM many LIMIT 2_000_000')

  await file.releaseMemory()

  expect(await limitOf(file.writer)).toBe(limit)
  await file.writer.run('COMMIT')
  const [row] = await rowsOf(file.writer, 'SELECT count(*)::INTEGER AS rows FROM pinned')
  expect(row).toEqual({ rows: 2_000_000 })
})

test('who reads while memory is given back is answered in full', async () => {
  await using opened = await filled()
  const { file } = opened
  const answers: Promise<Record<string, unknown>[]>[] = []
  for (let round = 0; round < 10; round++) {
    // Some begin before it, and some while it is under way.
    answers.push(file.read(readAll))
    const first = file.releaseMemory()
    answers.push(file.read(readAll))
    await Promise.allSettled(answers)
    const second = file.releaseMemory()
    answers.push(file.read(readAll))
    expect([await first, await second]).toEqual([false, true])
  }

  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject([{ n: total }])
})

test('closing waits until memory was given back', async () => {
  await using opened = await filled()
  const { file } = opened
  const releasing = file.releaseMemory()
  const closing = file.close()
  const late = file.read(readAll)

  await expect(Promise.all([releasing, closing])).resolves.toBeDefined()
  await expect(late).rejects.toThrow('is closed')
  // Nobody is there any more to give anything back.
  await expect(file.releaseMemory()).rejects.toThrow('is closed')
})

test('reopening waits until memory was given back, and the new file has the whole limit', async () => {
  await using opened = await filled()
  const { file } = opened
  const limit = await limitOf(file.writer)

  await Promise.all([file.releaseMemory(), file.reopen()])

  expect(await limitOf(file.writer)).toBe(limit)
  expect(await file.read(readAll)).toMatchObject([{ n: total }])
})
