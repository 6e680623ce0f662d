import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'

type Json = Readonly<Record<string, unknown>>

const kits = [
  {
    name: 'PostgreSQL',
    isMissing: isPostgresMissing,
    start: () => Postgres.start(),
    writing:
      "CREATE FUNCTION note() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO notes VALUES (1) RETURNING 1'",
    escapes: [
      "SELECT note() AS n, set_config('transaction_read_only', 'off', false) AS s",
      "SELECT note() AS n FROM (SELECT set_config('default_transaction_read_only', 'off', false)) AS s",
    ],
    sleep: 'SELECT 1 AS n FROM pg_sleep(30)',
    cannotLogIn: /password authentication failed/,
  },
  {
    name: 'MariaDB',
    isMissing: isMariadbMissing,
    start: () => Mariadb.start(),
    writing: 'CREATE FUNCTION note() RETURNS int BEGIN INSERT INTO notes VALUES (1); RETURN 1; END',
    escapes: [],
    sleep: 'SELECT SLEEP(30) AS n',
    cannotLogIn: /Access denied for user/,
  },
] as const

describe.each(kits)('$name', (kit) => {
  let server: Postgres | Mariadb
  let database: string
  let session: (statement: string) => Promise<unknown>

  beforeAll(async () => {
    if (kit.isMissing) return
    server = await kit.start()
    database = await server.newDatabase()
    session = await server.session(database)
    await session('CREATE TABLE notes (n int)')
    await session('CREATE TABLE readings (id int, at timestamp NULL, level float)')
    await session("INSERT INTO readings VALUES (1, '2026-03-01 12:00:00', 1), (2, NULL, 2)")
    await session(kit.writing)
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  const polledRows = (keys: Json, ports = [server.port]) => {
    const { protocol, credentials } = server
    const own = { protocol, endpoint: server.endpoint(database), credentials }
    return new PolledRows({ ...own, query: 'SELECT * FROM readings', ...keys }, { ports })
  }

  const failure = async (keys: Json): Promise<Error> => {
    return await polledRows(keys)
      .poll()
      .then(
        () => new Error('it has not failed'),
        (error: Error) => error,
      )
  }

  const onServer = test.skipIf(kit.isMissing)

  onServer.each([
    ['a database that is not there', { endpoint: 'nowhere' }, /nowhere/],
    ['a table that is not there', { query: 'SELECT * FROM nothing' }, /nothing/],
    [
      'a column that is not there',
      { incrementalColumn: 'seq' },
      /no column seq, but id, at, level/,
    ],
    ['what is not a statement', { query: 'SELECT FROM WHERE' }, /syntax/],
    ['several statements', { query: 'SELECT 1 AS a) AS q; DELETE FROM readings; --' }, /./],
    ['a row without a key', { keyColumn: 'at' }, /a row has no at/],
    ['nulls, where they are', { incrementalColumn: 'at', nulls: 'refuse' }, /a row has no at/],
    [
      'a duration behind a number',
      { incrementalColumn: 'id', lookBehind: '30s' },
      /id is not a time: lookBehind must be a number of rows/,
    ],
    ['more rows than a page, without a key', { pageSize: 1 }, /name a keyColumn/],
    [
      'more ties than can be told apart',
      {
        query:
          'SELECT 1 AS one, a.id * 1000 + b.id AS two FROM numbers AS a CROSS JOIN numbers AS b',
        incrementalColumn: 'one',
        pageSize: 50_000,
      },
      /name a keyColumn/,
    ],
  ])('refuses %s', async (_, keys: Json, message) => {
    await session('CREATE TABLE IF NOT EXISTS numbers (id int)')
    await session('DELETE FROM numbers')
    const numbers = Array.from({ length: 240 }, (_row, index) => `(${index})`)
    await session(`INSERT INTO numbers VALUES ${numbers.join(', ')}`)
    const endpoint = keys['endpoint'] === 'nowhere' ? server.endpoint('nowhere') : undefined
    const error = await failure({ ...keys, ...(endpoint !== undefined && { endpoint }) })
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toMatch(message)
    expect(await session('SELECT * FROM readings')).toHaveLength(2)
  })

  onServer('refuses a wrong password, and does not tell it', async () => {
    const credentials = { username: 'streamvault', password: 'sesame-open-1' }
    const error = await failure({ credentials })
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toMatch(kit.cannotLogIn)
    expect(error.message).not.toContain('sesame')
  })

  onServer('leaves out rows without a value, where that is not refused', async () => {
    const polled = polledRows({ incrementalColumn: 'at', keyColumn: 'id' })
    await polled.poll()
    expect(polled.rows.map(({ id }) => id)).toEqual([1])
  })

  onServer.each(['SELECT note() AS n', ...kit.escapes])('changes nothing: %s', async (query) => {
    const error = await failure({ query })
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toMatch(/read.only/i)
    expect(await session('SELECT * FROM notes')).toEqual([])
  })

  onServer('names columns that look like statements as they are', async () => {
    const [open, close] = server.protocol === 'postgres' ? ['"', '"'] : ['`', '`']
    const name = `x${close}; DROP TABLE readings; --`
    const written = `${open}${name.replaceAll(close, close + close)}${close}`
    const polled = polledRows({
      query: `SELECT id AS ${written} FROM readings`,
      incrementalColumn: name,
      keyColumn: name,
    })
    await polled.poll()
    expect(polled.rows).toEqual([{ [name]: 1 }, { [name]: 2 }])
    expect(await session('SELECT * FROM readings')).toHaveLength(2)
  })

  onServer(
    'does not wait longer for a statement than it was told, and will try again',
    async () => {
      const error = await failure({ query: kit.sleep, statementTimeout: '1s' })
      expect(error).not.toBeInstanceOf(SourceRefused)
      expect(error.message).toMatch(/timeout|max_statement_time|interrupted/)
    },
  )

  onServer('connects to no private address that the operator has not named', async () => {
    const polled = polledRows({}, [])
    await expect(polled.poll()).rejects.toMatchObject({ code: 'destination_not_allowed' })
  })

  onServer('waits for a server that is not there, and goes on with it', async () => {
    const polled = polledRows({ incrementalColumn: 'id', keyColumn: 'id', pageSize: 1 })
    await polled.poll({ pages: 1 })
    await server.kill()
    await expect(polled.poll()).rejects.not.toBeInstanceOf(SourceRefused)
    await server.start()
    session = await server.session(database)
    await polled.poll()
    expect(polled.rows.map(({ id }) => id)).toEqual([1, 2])
  })
})
