import { describe, expect, test } from 'vitest'
import { aggregationLength } from '../../src/storage/time-series/duckdb/aggregation/length.ts'
import { Catalog } from '../../src/storage/time-series/duckdb/catalog.ts'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/storage/time-series/duckdb/rows-of.ts'
import type { ReadLength } from '../../src/storage/time-series/duckdb/working-threads.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** A file on a machine with so many processors. */
async function openFile(processors: number) {
  const folder = new TemporaryFolder()
  const file = await DuckDbFile.open(folder.file('time-series.duckdb'), { processors })
  return {
    file,
    async [Symbol.asyncDispose]() {
      await file.close()
      folder[Symbol.dispose]()
    },
  }
}

/** As DuckDB says it. */
async function threadsOf(file: DuckDbFile): Promise<number> {
  const [row] = await rowsOf(file.writer, `SELECT current_setting('threads') AS threads`)
  return Number(row?.['threads'])
}

/** Somebody who reads until they are let go. */
async function held(file: DuckDbFile, length: ReadLength) {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const reading = file.read(async () => {
    begun.resolve()
    await end.promise
  }, length)
  await begun.promise
  const letGo = async () => {
    end.resolve()
    await reading
  }
  return { letGo, [Symbol.asyncDispose]: letGo }
}

describe('threads of a file', () => {
  test.each([
    { processors: 1, short: 1, long: 1 },
    { processors: 2, short: 2, long: 1 },
    { processors: 3, short: 2, long: 2 },
    { processors: 64, short: 2, long: 2 },
  ])('on $processors processors: $short for short reads, $long for long ones', async (machine) => {
    await using opened = await openFile(machine.processors)
    const { file } = opened
    expect(await threadsOf(file)).toBe(1)
    expect(await file.read(() => threadsOf(file), 'short')).toBe(machine.short)
    expect(await file.read(() => threadsOf(file), 'long')).toBe(machine.long)
    expect(await file.look(() => threadsOf(file))).toBe(machine.long)
  })

  test('who writes has one, unless somebody reads meanwhile', async () => {
    await using opened = await openFile(3)
    const { file } = opened
    await file.read(async () => undefined)
    expect(await threadsOf(file)).toBe(2)

    await file.wrote({ rows: 10, columns: 10 })
    expect(await threadsOf(file)).toBe(1)

    await file.read(async () => {
      await file.wrote({ rows: 10, columns: 10 })
      expect(await threadsOf(file)).toBe(2)
    })
    await file.reopen()
    expect(await threadsOf(file)).toBe(1)
    expect(await file.read(() => threadsOf(file))).toBe(2)
  })

  test('a short read has no help on two processors while a long one is going on', async () => {
    await using opened = await openFile(2)
    const { file } = opened
    await using short = await held(file, 'short')
    expect(await threadsOf(file)).toBe(2)
    await using long = await held(file, 'long')
    expect(await threadsOf(file)).toBe(1)
    await short.letGo()
    await using another = await held(file, 'short')
    expect(await threadsOf(file)).toBe(1)
    await another.letGo()
    await long.letGo()
    expect(await file.read(() => threadsOf(file), 'short')).toBe(2)
  })

  test('a long read that failed is over', async () => {
    await using opened = await openFile(2)
    const { file } = opened
    await expect(file.read((connection) => connection.run('SELECT none'))).rejects.toThrow('none')
    expect(await file.read(() => threadsOf(file), 'short')).toBe(2)
  })
})

describe('the length of an aggregation', () => {
  const startUs = Date.UTC(2026, 0, 1) * 1_000
  const endUs = Date.UTC(2026, 2, 1) * 1_000
  const [january, march] = [202_601, 202_603]

  /** A store with streams of one shape, each with so many readings, in tables of so many rows. */
  function lengthOf(streams: number, stored: number, tables: ReadonlyMap<number, number>) {
    const catalog = new Catalog()
    const ids = Array.from({ length: streams }, (_, index) => `stream-${index}`)
    for (const id of ids) {
      const record = catalog.stream(id)
      record.counts = { ...record.counts, stored }
      record.shapes.add('shape')
    }
    for (const [month, rows] of tables) {
      const name = `readings_shape_${month}`
      catalog.tables.set(name, { name, shape: 'shape', month, rows, revision: 0 })
    }
    return aggregationLength(catalog, {
      series: ids.map((id) => ({ key: id, streamIds: [id] })),
      startUs,
      endUs,
      buckets: { kind: 'calendar', unit: 'hour', units: 1, zone: 'UTC' },
      fields: [],
      fill: 'none',
      limit: 100,
      after: undefined,
    })
  }

  test('is short for few readings, long for many', () => {
    const tables = new Map([[january, 5_000_000]])
    expect(lengthOf(1, 5_000, tables)).toBe('short')
    expect(lengthOf(20, 5_000, tables)).toBe('short')
    expect(lengthOf(21, 5_000, tables)).toBe('long')
    expect(lengthOf(1, 5_000_000, tables)).toBe('long')
  })

  test('is long where few are found among very many, in the months that are asked about', () => {
    expect(lengthOf(1, 5_000, new Map([[january, 11_000_000]]))).toBe('long')
    expect(lengthOf(1, 5_000, new Map([[march, 11_000_000]]))).toBe('short')
    expect(lengthOf(0, 0, new Map([[january, 11_000_000]]))).toBe('short')
  })
})
