import { describe, expect, test } from 'vitest'
import { loadContents } from '../../src/storage/time-series/duckdb/contents.ts'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { denseStreams } from '../../src/storage/time-series/duckdb/rollups/enrol.ts'
import type { Look } from '../../src/storage/time-series/duckdb/store-turns.ts'
import { slicesOf } from '../../src/storage/time-series/duckdb/time-slices.ts'
import { minutes } from '../contracts/time-series-rollups-contract.ts'
import { longAfter } from '../support/rollup-history.ts'
import { hourUs, marchUs, ship } from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

function tableOf(rows: number) {
  return { name: 'readings_a_202603', shape: 'a', month: 202603, rows, revision: 0 }
}

describe('slices of a table', () => {
  test('follow each other from its start to its end, and begin at multiples of the unit', () => {
    const span = { table: tableOf(11_000_000), startUs: marchUs, endUs: marchUs + 100 * hourUs + 7 }
    const slices = slicesOf(span, hourUs)

    expect(slices.map(({ startUs }) => (startUs - marchUs) / hourUs)).toEqual([
      0, 17, 34, 51, 68, 85,
    ])
    expect(slices.slice(0, -1).map(({ endUs }) => endUs)).toEqual(
      slices.slice(1).map(({ startUs }) => startUs),
    )
    expect(slices.at(-1)?.endUs).toBe(span.endUs)
  })

  test('are one where there are few rows, and none that is empty', () => {
    const span = { startUs: marchUs, endUs: marchUs + 2 }
    expect(slicesOf({ ...span, table: tableOf(0) })).toHaveLength(1)
    expect(slicesOf({ ...span, table: tableOf(40_000_000) })).toHaveLength(2)
  })
})

test('streams of a large month are looked at in slices, and counted as all at once', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  const store = await DuckDbStore.open(path, longAfter)
  // Thirty readings in each half hour, and one of them.
  const rare = minutes(48, Number, 'rare').filter((_, index) => index % 30 === 0)
  await ship(store, [...minutes(48, Number, 'dense'), ...rare])
  await store.close()
  const file = await DuckDbFile.open(path)
  const { catalog } = await loadContents(file.writer)
  const candidates = [...catalog.streams].map(([id, record]) => ({ id, record }))
  let looks = 0
  const look: Look = (work) => {
    looks++
    return file.look(work)
  }

  const perRow = async (perRowMin: number) => {
    const dense = await denseStreams(look, catalog, { candidates, perRowMin })
    return dense.map(({ id }) => id)
  }
  expect([await perRow(1), await perRow(30), await perRow(31)]).toEqual([
    ['dense', 'rare'],
    ['dense'],
    [],
  ])
  expect(looks).toBe(3)

  for (const table of catalog.tables.values()) table.rows = 70_000_000
  looks = 0
  expect([await perRow(30), await perRow(31)]).toEqual([['dense'], []])
  expect(looks).toBeGreaterThan(20)

  // As retention does between two looks.
  for (const { name } of catalog.tables.values()) await file.writer.run(`DROP TABLE "${name}"`)
  expect(await perRow(1)).toEqual([])
  await file.close()
})
