import { existsSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/storage/time-series/duckdb/rows-of.ts'
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

/** What is in force, as DuckDB says it. */
async function settings(file: DuckDbFile) {
  const [row] = await rowsOf(
    file.writer,
    `SELECT current_setting('checkpoint_threshold') AS checkpoint`,
  )
  return { checkpoint: String(row?.['checkpoint']) }
}

/** Bytes of rows that are in the log only: those in memory, and those that were swapped out. */
async function unwritten({ writer }: DuckDbFile): Promise<Record<string, unknown> | undefined> {
  const [row] = await rowsOf(
    writer,
    `SELECT sum(temporary_storage_bytes)::DOUBLE AS swapped, sum(memory_usage_bytes) FILTER (
       WHERE tag = 'IN_MEMORY_TABLE')::DOUBLE AS held FROM duckdb_memory()`,
  )
  return row
}

const spread = { tables: 60, columns: 16 }

async function makeTables({ writer }: DuckDbFile): Promise<void> {
  for (let table = 0; table < spread.tables; table++) {
    await writer.run(`CREATE TABLE t${table} AS SELECT ${valuesOf(spread)} FROM range(0)`)
  }
}

/** Some rows for each of the tables. */
async function insert({ writer }: DuckDbFile): Promise<void> {
  for (let table = 0; table < spread.tables; table++) {
    await writer.run(`INSERT INTO t${table} SELECT ${valuesOf(spread)} FROM range(400)`)
  }
}

function valuesOf({ columns }: { readonly columns: number }): string {
  return Array.from({ length: columns }, (_, at) => `hash(range + ${at}) AS c${at}`).join(', ')
}

test('rows of many tables that are not in the file yet stay in memory', async () => {
  await using opened = await filled()
  const { file } = opened
  await makeTables(file)
  await insert(file)

  await file.releaseMemory()

  expect(await unwritten(file)).toMatchObject({ swapped: 0 })
  expect(Number((await unwritten(file))?.['held'])).toBeGreaterThan(8 * mebibyte)
})

test('they stay there, too, when more rows follow, and tables keep some blocks in use', async () => {
  await using opened = await filled()
  const { file } = opened
  await file.wrote({ rows: 400, columns: spread.tables * spread.columns })
  await makeTables(file)
  await insert(file)
  await file.writer.run('CHECKPOINT')
  for (let round = 0; round < 3; round++) {
    await insert(file)

    await file.releaseMemory()

    expect(await unwritten(file)).toMatchObject({ swapped: 0 })
  }
})

test('what waits for a checkpoint has a limit, to however many columns rows go', async () => {
  await using opened = await filled()
  await opened.file.wrote({ rows: 1_000_000, columns: 1_000_000 })
  expect(await settings(opened.file)).toMatchObject({ checkpoint: '190.7 MiB' })
})

test('checkpoints are rarer where many columns are written to, and by and by as often as before', async () => {
  await using opened = await filled()
  const { file } = opened
  expect(await settings(file)).toMatchObject({ checkpoint: '7.6 MiB' })

  expect(await file.wrote({ rows: 10, columns: 2_000 })).toBe(40_000_000)
  expect(await settings(file)).toMatchObject({ checkpoint: '95.3 MiB' })

  expect(await file.wrote({ rows: 10, columns: 1_500 })).toBe(30_000_000)
  expect(await settings(file)).toMatchObject({ checkpoint: '95.3 MiB' })

  await file.wrote({ rows: 10, columns: 10 })
  expect(await settings(file)).toMatchObject({ checkpoint: '47.6 MiB' })

  for (let round = 0; round < 4; round++) await file.wrote({ rows: 10, columns: 10 })
  expect(await settings(file)).toMatchObject({ checkpoint: '7.6 MiB' })
})

test('much that was written beside those who read is put together when nobody does', async () => {
  await using opened = await filled()
  const { file } = opened
  await file.writer.run('CHECKPOINT')
  const write = async (rows: number) => {
    await file.writer.run('INSERT INTO many SELECT range, range FROM range(10)')
    await file.wrote({ rows, columns: 2 })
  }
  const hasLog = () => existsSync(`${file.path}.wal`)

  await write(1_000_000)
  await file.releaseMemory()
  expect(hasLog()).toBe(true)

  await file.read(() => write(200_000))
  await file.releaseMemory()
  expect(hasLog()).toBe(true)

  await file.read(() => write(200_000))
  await file.releaseMemory()
  expect(hasLog()).toBe(false)

  await write(1_000_000)
  await file.releaseMemory()
  expect(hasLog()).toBe(true)
})

test('times and whole numbers are packed: each block costs memory from when it is looked at', async () => {
  await using opened = await filled()
  await opened.file.writer.run(
    `CREATE TABLE packed AS SELECT range::INTEGER % 20 AS stream, make_timestamp(range) AS time,
       range AS n FROM range(200_000)`,
  )
  await opened.file.writer.run('CHECKPOINT')

  const segments = await rowsOf(
    opened.file.writer,
    `SELECT DISTINCT column_name AS name, compression FROM pragma_storage_info('packed')
     WHERE segment_type <> 'VALIDITY' ORDER BY ALL`,
  )
  const compression = 'BitPacking'
  expect(segments).toEqual(['n', 'stream', 'time'].map((name) => ({ name, compression })))
})
