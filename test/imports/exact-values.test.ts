import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openDuckDb } from '../../src/core/duckdb-instance.ts'
import { imported } from '../support/imports.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

const schema = {
  level: { type: 'number' },
  since: { type: 'datetime' },
  place: { type: 'object' },
  list: { type: 'array' },
}

/** A Parquet file of what a query gives, as others write them. */
async function parquetOf(query: string): Promise<Uint8Array<ArrayBuffer>> {
  using folder = new TemporaryFolder()
  const path = folder.file('readings.parquet')
  const instance = await openDuckDb(':memory:')
  const connection = await instance.connect()
  await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
  return new Uint8Array(readFileSync(path))
}

const row = (number: number, column: string) =>
  `SELECT make_timestamp(${1_767_225_600_000_000 + number}::BIGINT) AS timestamp, ${column}`

const exactColumns = (level: string, place: string) =>
  `${level}::DECIMAL(38,0) AS level, ${place}::STRUCT(id BIGINT) AS place`

describe('a row whose digits a double would lose is refused alone', () => {
  test('in cells of CSV, and in JSON that stands in them', async () => {
    const id = await service.api.createStream(schema)
    const cells = [
      '1,,',
      '9007199254740993,,',
      ',"{""id"":9007199254740993}",',
      ',,"{""id"":[9007199254740993]}"',
      ',"{""id"":1,""id"":2}",',
      ',"{""id"":602000000000000000000}",',
      '602000000000000000000,,',
    ]
    const lines = cells.map((cell, index) => `2026-01-01T00:00:0${index}Z,${cell}`)
    const content = ['timestamp,level,place,extra', ...lines, ''].join('\r\n')
    const job = await imported(service, id, { format: 'csv', content })

    expect(job).toMatchObject({ state: 'completed', accepted: 3, refused: 4 })
    expect(job.refusals.map((refusal) => refusal.row)).toEqual([2, 3, 4, 5])
    expect(await service.api.readAll(id)).toMatchObject([
      { level: 1 },
      { place: { id: 6.02e20 } },
      { level: 6.02e20 },
    ])
  })

  test('in whole decimals of Parquet, and in its nested columns', async () => {
    const id = await service.api.createStream(schema)
    const content = await parquetOf(
      [
        row(1, exactColumns('1', '{id: 1}')),
        row(2, exactColumns('9007199254740993', 'NULL')),
        row(3, exactColumns('NULL', '{id: 9007199254740993}')),
        row(4, exactColumns('602000000000000000000', '{id: 9007199254740994}')),
      ].join(' UNION ALL '),
    )
    const job = await imported(service, id, { format: 'parquet', content })

    expect(job).toMatchObject({ state: 'completed', accepted: 2, refused: 2 })
    expect(await service.api.readAll(id)).toMatchObject([
      { level: 1, place: { id: 1 } },
      { level: 6.02e20, place: { id: 9_007_199_254_740_994 } },
    ])
  })

  test('in a list of Parquet that holds no number', async () => {
    const id = await service.api.createStream(schema)
    const content = await parquetOf(
      `${row(1, '[1.5::DOUBLE] AS list')} UNION ALL ${row(2, "['nan'::DOUBLE] AS list")}`,
    )
    const job = await imported(service, id, { format: 'parquet', content })

    expect(job).toMatchObject({ state: 'completed', accepted: 1, refused: 1 })
  })
})

test('instants of any year come out of Parquet to the microsecond', async () => {
  const id = await service.api.createStream(schema)
  const instants = [
    '0001-01-01T00:00:00.000001Z',
    '1684-01-01T00:00:00.123457Z',
    '1969-12-31T23:59:59.999999Z',
    '2255-06-05T23:47:34.740993Z',
    '9999-12-31T23:59:59.999999Z',
  ]
  const rows = instants.map((text, index) => {
    const type = index % 2 === 0 ? 'TIMESTAMP' : 'TIMESTAMPTZ'
    return row(index, `'${text}'::TIMESTAMPTZ::${type} AS since`)
  })
  for (const [index, query] of rows.entries()) {
    const content = await parquetOf(query.replace('::TIMESTAMPTZ::TIMESTAMP ', '::TIMESTAMP '))
    const job = await imported(service, id, { format: 'parquet', content })
    expect(job, instants[index]).toMatchObject({ state: 'completed', accepted: 1, refused: 0 })
  }
  expect((await service.api.readAll(id)).map(({ since }) => since)).toEqual(instants)
})
