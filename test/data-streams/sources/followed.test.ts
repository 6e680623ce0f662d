import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

const followed = {
  protocol: 'postgres',
  follow: 'log',
  endpoint: 'db.example.com/plant',
  credentials: { username: 'vault', password: 'hunter2' },
  table: 'public.boiler',
}

function problemsOf(source: Readonly<Record<string, unknown>>): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, 'database', found)
  return found.map(({ path }) => path)
}

describe('the source of a table that is followed', () => {
  test.each([
    {},
    { table: 'boiler' },
    { publication: 'plant', slot: 'vault_1', changes: 'insert_update' },
    { timezone: 'Europe/Berlin', tls: true, timestampField: 'at' },
  ])('may have %j', (more) => {
    expect(problemsOf({ ...followed, ...more })).toEqual([])
  })

  test.each([
    [{ protocol: 'mysql' }, 'source.protocol'],
    [{ table: 'a.b.c' }, 'source.table'],
    [{ table: undefined }, 'source.table'],
    [{ slot: 'Upper' }, 'source.slot'],
    [{ publication: 'a"b' }, 'source.publication'],
    [{ changes: 'delete' }, 'source.changes'],
    [{ query: 'SELECT 1' }, 'source.query'],
    [{ schedule: '* * * * *' }, 'source.schedule'],
    [{ incrementalColumn: 'id' }, 'source.incrementalColumn'],
    [{ isTrial: true }, 'source.isTrial'],
    [{ credentials: undefined }, 'source.credentials'],
  ])('does not have %j', (more, path) => {
    expect(problemsOf({ ...followed, ...more })).toEqual([path])
  })

  test('is one that is asked without the word', () => {
    const { follow: _, ...asked } = followed
    expect(problemsOf(asked)).toEqual(['source.table', 'source.query', 'source.schedule'])
  })
})
