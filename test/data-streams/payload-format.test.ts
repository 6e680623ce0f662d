import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../src/core/errors.ts'
import { checkFormat, formatOptionsOf } from '../../src/streams/data-streams/payload-format.ts'

describe('what decoders are told of a source', () => {
  test('is only what is about the format', () => {
    const source = { deviceId: 'pump', format: 'csv', columns: ['a'], topic: 'a/b' }
    expect(formatOptionsOf(source)).toEqual({ columns: ['a'] })
  })

  test('is the topic as well, where it says which messages of an edge node are heard', () => {
    const source = { format: 'sparkplug', topic: 'spBv1.0/#' }
    expect(formatOptionsOf(source)).toEqual({ topic: 'spBv1.0/#' })
  })

  test('has no header lines of an API, whose pages are taken apart before', () => {
    const table = { format: 'csv', columns: ['a'], headerLines: 2 }
    expect(formatOptionsOf(table)).toEqual({ columns: ['a'], headerLines: 2 })
    expect(formatOptionsOf({ ...table, endpoint: 'https://a.b/c' })).toEqual({ columns: ['a'] })
  })

  test('is one and the same object where there is nothing to tell', () => {
    expect(formatOptionsOf({ format: 'json' })).toBe(formatOptionsOf({ deviceId: 'pump' }))
  })
})

function pathsOf(source: object): readonly string[] {
  const found: ErrorDetail[] = []
  checkFormat({ ...source }, { level: { type: 'number' } }, found)
  return found.map(({ path }) => path)
}

describe('keys about the format', () => {
  const api = { endpoint: 'https://a.b/c' }
  const hook = { protocol: 'webhook' }
  const columns = ['level']

  test.each([
    [{ format: 'csv' }, ['source.columns']],
    [{ format: 'csv', headerLines: 0 }, ['source.columns']],
    [{ format: 'csv', headerLines: 1 }, []],
    [{ format: 'csv', headerLines: 2, columnsLine: 2 }, []],
    [{ format: 'csv', headerLines: 1, columnsLine: 2 }, ['source.columnsLine']],
    [{ format: 'csv', headerLines: 1, columnsLine: 1, columns }, ['source.columnsLine']],
    [{ format: 'csv', headerLines: 1, ...api }, ['source.columns']],
    [{ format: 'csv', headerLines: 1, columnsLine: 1, columns, ...api }, ['source.columnsLine']],
    [{ format: 'form', headerLines: 1 }, ['source.headerLines']],
    [{ format: 'cloudevents', contentCoding: 'gzip' }, []],
    [{ contentCoding: 'gzip', ...hook }, ['source.contentCoding']],
    [{ contentCoding: 'gzip', ...api }, ['source.contentCoding']],
  ])('are checked beside each other: %j', (source, paths) => {
    expect(pathsOf(source)).toEqual(paths)
  })
})
