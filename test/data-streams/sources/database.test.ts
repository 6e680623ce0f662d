import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

const database = {
  protocol: 'postgres',
  endpoint: 'db.example/plant',
  query: 'SELECT * FROM readings',
  schedule: '* * * * *',
  incrementalColumn: 'at',
}

function wrong(keys: Readonly<Record<string, unknown>>): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource({ ...database, ...keys }, 'database', found)
  return found.map(({ path }) => path)
}

describe('a database', () => {
  test.each([
    { lookBehind: '5m' },
    { lookBehind: '0s' },
    { lookBehind: 20_000 },
    { lookBehind: 0 },
    { nulls: 'refuse', pageSize: 100, statementTimeout: '10s', timezone: 'Europe/Berlin' },
    { tls: true },
    { tls: { servername: 'db.example' } },
    { protocol: 'sqlite', endpoint: '/var/lib/plant.db' },
    { query: ' -- all of them; yes\n(WITH a AS (SELECT 1) SELECT * FROM a);\n' },
    { query: 'SELECT \';\' AS a, ";" AS b, $x$ ; $x$ AS c /* ; */ FROM d' },
    { protocol: 'mysql', query: "SELECT 'it\\'s; fine' AS a # ; \n FROM b" },
    { query: 'TABLE readings' },
    { protocol: 'mssql', query: "SELECT (a + 1) AS [it's; ]] (], ';)' AS b FROM \"--(\" ;" },
  ])('can be %j', (keys) => {
    expect(wrong(keys)).toEqual([])
  })

  test.each([
    [{ lookBehind: 20_001 }, 'lookBehind'],
    [{ lookBehind: 'long' }, 'lookBehind'],
    [{ nulls: 'keep' }, 'nulls'],
    [{ lookBehind: 5, incrementalColumn: undefined }, 'lookBehind'],
    [{ nulls: 'skip', incrementalColumn: undefined }, 'nulls'],
    [{ protocol: 'sqlite', endpoint: '/plant.db', tls: true }, 'tls'],
    [
      {
        protocol: 'sqlite',
        endpoint: '/plant.db',
        credentials: { username: 'ada', password: 'hush' },
      },
      'credentials',
    ],
    [{ statementTimeout: '2h' }, 'statementTimeout'],
    [{ pageSize: 50_001 }, 'pageSize'],
    [{ timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ tls: { ca: 'no certificate' } }, 'tls.ca'],
    [{ tls: { verify: false } }, 'tls.verify'],
    [{ protocol: 'sqlite' }, 'endpoint'],
    [{ endpoint: '/var/lib/plant.db' }, 'endpoint'],
    [{ query: 'DELETE FROM readings' }, 'query'],
    [{ query: 'SELECT 1; DELETE FROM readings' }, 'query'],
    [{ query: "SELECT 'it\\'; DELETE FROM readings --'" }, 'query'],
    [{ query: '/* SELECT */ UPDATE readings SET level = 0' }, 'query'],
    [
      { protocol: 'mssql', query: 'SELECT 1 AS a) AS q DELETE FROM b SELECT * FROM (SELECT 1' },
      'query',
    ],
    [{ protocol: 'mssql', query: 'SELECT 1 AS a; DELETE FROM b' }, 'query'],
    [{ protocol: 'mssql', query: 'SELECT (1 AS a' }, 'query'],
    [{ protocol: 'mssql', query: "SELECT '(' AS a) AS q DELETE FROM b --" }, 'query'],
    [{ protocol: 'mssql', query: 'SELECT $$ ; DELETE FROM b; SELECT $$ AS a' }, 'query'],
    [{ protocol: 'mssql', query: 'SELECT 1 AS [a]] ; DELETE FROM b' }, 'query'],
    [{ protocol: 'mssql', query: 'SELECT 1 --(\n) AS q DELETE FROM b' }, 'query'],
    [{ protocol: 'mssql', query: 'WITH a AS (SELECT 1) SELECT * FROM a' }, 'query'],
  ])('cannot be %j', (keys, path) => {
    expect(wrong(keys)).toEqual([`source.${path}`])
  })
})
