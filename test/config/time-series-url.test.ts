import { describe, expect, test } from 'vitest'
import { parseTimeSeriesUrl } from '../../src/config/time-series-url.ts'

describe('where the time series are', () => {
  test('is a file, or a server with or without port, user and name', () => {
    expect(parseTimeSeriesUrl('duckdb')).toEqual({ kind: 'duckdb' })
    const plain = { kind: 'questdb', secure: false, host: 'db', user: undefined, prefix: '' }
    expect(parseTimeSeriesUrl('questdb://db')).toEqual({ ...plain, port: 9000 })
    expect(parseTimeSeriesUrl('questdb://db:9001/')).toEqual({ ...plain, port: 9001 })
    expect(parseTimeSeriesUrl('questdb://db/plant_7')).toMatchObject({ prefix: 'plant_7_' })
    expect(parseTimeSeriesUrl('questdbs://ada:p%40ss@db')).toMatchObject({
      secure: true,
      user: { name: 'ada', password: 'p@ss' },
    })
  })

  test.each([
    '',
    'questdb',
    'questdb:db',
    'http://db:9000',
    'questdb://db:99999',
    'questdb://db/a/b',
    'questdb://db/Plant',
    'questdb://db/1',
    'questdb://ada@db',
    'questdb://db?x=1',
    'questdb://db#x',
  ])('is not %s', (text) => {
    expect(parseTimeSeriesUrl(text)).toBeUndefined()
  })
})
