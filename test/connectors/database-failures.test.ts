import { chmodSync, chownSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { makeCertificate } from '../support/certificate.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

type Json = Readonly<Record<string, unknown>>

const patience = { timeout: 60_000, interval: 20 }

const folder = new TemporaryFolder()
const certificate = makeCertificate(folder.path, 'server', 'DNS:plant.example')
afterAll(() => folder[Symbol.dispose]())

const kits = [
  {
    name: 'PostgreSQL',
    isMissing: isPostgresMissing,
    start: () => Postgres.start(postgresTls()),
    series: 'SELECT n AS id, clock_timestamp() AS at FROM generate_series(1, 60000) AS n',
    long: "SELECT 1 AS id, repeat('x', 2000000) AS note UNION SELECT 2, 'y'",
  },
  {
    name: 'MariaDB',
    isMissing: isMariadbMissing,
    start: () =>
      Mariadb.start([`ssl-cert=${certificate.certPath}`, `ssl-key=${certificate.keyPath}`]),
    series: 'SELECT seq AS id, UTC_TIMESTAMP(6) AS at FROM seq_1_to_60000',
    long: "SELECT 1 AS id, repeat('x', 2000000) AS note UNION SELECT 2, 'y'",
  },
] as const

/** The server refuses a key that others can read, and runs as somebody else than root. */
function postgresTls(): readonly string[] {
  if (process.getuid?.() === 0) chownSync(certificate.keyPath, 65_534, 65_534)
  chmodSync(certificate.keyPath, 0o600)
  return ['ssl=on', `ssl_cert_file=${certificate.certPath}`, `ssl_key_file=${certificate.keyPath}`]
}

describe.each(kits)('$name', ({ isMissing, start, series, long }) => {
  let server: Postgres | Mariadb
  let database: string
  const onServer = test.skipIf(isMissing)

  beforeAll(async () => {
    if (isMissing) return
    server = await start()
    database = await server.newDatabase()
    const session = await server.session(database)
    await session('CREATE TABLE readings (id int PRIMARY KEY, at timestamp(6) NULL)')
    await session(`INSERT INTO readings ${series}`)
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  const polledRows = (keys: Json) => new PolledRows(source(keys), { ports: [server.port] })

  const source = (keys: Json) => ({
    protocol: server.protocol,
    endpoint: server.endpoint(database),
    credentials: server.credentials,
    query: 'SELECT * FROM readings',
    ...keys,
  })

  const byNumber = { incrementalColumn: 'id', keyColumn: 'id', pageSize: 500 }

  const all = Array.from({ length: 60_000 }, (_, index) => index + 1)

  onServer(
    'loses and doubles nothing when the server is killed in the midst of a round',
    async () => {
      const polled = polledRows(byNumber)
      const failed = polled.poll().then(
        () => undefined,
        (error: unknown) => error,
      )
      await expect.poll(() => polled.pages, patience).toBeGreaterThan(10)
      await server.kill()
      const error = await failed
      expect(error).toBeInstanceOf(Error)
      expect(error).not.toBeInstanceOf(SourceRefused)
      await server.start()
      await polled.poll()
      expect(idsOf(polled)).toEqual(all)
    },
  )

  onServer('ends at once when it is told to', async () => {
    const polled = polledRows(byNumber)
    const stop = new AbortController()
    const failed = polled.poll(undefined, stop.signal).catch((error: unknown) => error)
    await expect.poll(() => polled.pages, patience).toBeGreaterThan(3)
    stop.abort()
    await failed
    expect(polled.pages).toBeLessThan(all.length / byNumber.pageSize)
    await polled.poll()
    expect(idsOf(polled)).toEqual(all)
  })

  onServer('says that too many rows may have others before them, and goes on later', async () => {
    const session = await server.session(database)
    await session('CREATE TABLE bulk (id int PRIMARY KEY, at timestamp(6) NULL)')
    await session(`INSERT INTO bulk ${series}`)
    const keys = { query: 'SELECT * FROM bulk', incrementalColumn: 'at', keyColumn: 'id' }
    const polled = polledRows({ ...keys, lookBehind: '10m' })
    await expect(polled.poll()).rejects.toThrow(/more than 50000 rows came within lookBehind/)
    expect(polled.rows).toHaveLength(50_000)
    polled.redefine(source({ ...keys, lookBehind: '0s' }))
    await expect.poll(async () => await settles(polled), patience).toBe(true)
    expect(idsOf(polled).toSorted((one, other) => one - other)).toEqual(all)
  })

  onServer('refuses a row that is too large, and goes on', async () => {
    const polled = polledRows({ query: long, keyColumn: 'id' })
    await polled.poll()
    expect(polled.rows).toEqual([{ id: 2, note: 'y' }])
    expect(polled.problems).toEqual([expect.stringMatching(/^the row 1 has 20000\d\d characters/)])
  })

  onServer('speaks TLS, with the server that was meant', async () => {
    const { authority: ca } = certificate
    const query = 'SELECT id FROM readings WHERE id < 3'
    const polled = polledRows({ query, tls: { ca, servername: 'plant.example' } })
    await polled.poll()
    expect(idsOf(polled)).toEqual([1, 2])
    const others = [{ ca, servername: 'other.example' }, { servername: 'plant.example' }]
    for (const tls of others) {
      await expect(polledRows({ query, tls }).poll()).rejects.toThrow(/altnames|self-signed/)
    }
  })
})

function idsOf({ rows }: PolledRows): readonly number[] {
  return rows.map(({ id }) => Number(id))
}

/** As soon as what was there is over. */
async function settles(polled: PolledRows): Promise<boolean> {
  return await polled.poll().then(
    () => true,
    () => false,
  )
}
