import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { makeCertificate } from '../support/certificate.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { types } from '../support/tds-messages.ts'
import { bigint, TdsServer } from '../support/tds-server.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

type Json = Readonly<Record<string, unknown>>

describe('SQL Server', () => {
  let server: TdsServer
  beforeEach(async () => {
    server = await TdsServer.start()
    server.columns = [
      { name: 'id', type: types.bigint },
      { name: 'at', type: types.datetime2 },
    ]
  })
  afterEach(async () => await server[Symbol.asyncDispose]())

  const source = (keys: Json) => ({
    protocol: 'mssql',
    endpoint: `127.0.0.1:${server.port}/plant`,
    credentials: server.credentials,
    query: 'SELECT id, at FROM readings',
    incrementalColumn: 'at',
    keyColumn: 'id',
    ...keys,
  })

  const polledRows = (keys: Json = {}, ports = [server.port]) => {
    return new PolledRows(source(keys), { ports })
  }

  const add = (ids: readonly bigint[], at: string) => {
    server.rows.push(...ids.map((id) => ({ id: bigint(id), at })))
  }

  test('reads pages in order, with ties across them, and integers with all their digits', async () => {
    const first = 9_007_199_254_740_993n
    add([first + 3n, first + 1n, first, first + 2n, first + 4n], '2026-03-01 12:00:00.1234567')
    add([1n, 2n], '2026-03-01 12:00:00.1234568')
    const polled = polledRows({ pageSize: 2 })
    await polled.poll()
    const expected = [0n, 1n, 2n, 3n, 4n].map((more) => String(first + more))
    expect(idsOf(polled)).toEqual([...expected, '1', '2'])
    expect(polled.pages).toBeGreaterThan(2)
  })

  test('goes on from where it was, and reads nothing twice', async () => {
    add([1n, 2n, 3n, 4n, 5n], '2026-03-01 12:00:00.1234567')
    const polled = polledRows({ pageSize: 2 })
    await polled.poll({ pages: 1 })
    expect(idsOf(polled)).toEqual(['1', '2'])
    add([6n], '2026-03-01 12:00:00.1234567')
    await polled.poll()
    await polled.poll()
    expect(idsOf(polled)).toEqual(['1', '2', '3', '4', '5', '6'])
  })

  test('undoes whatever a query does', async () => {
    await polledRows().poll()
    expect(server.batches.join()).toMatch(/set xact_abort on.*SET LOCK_TIMEOUT 30000/s)
    expect(server.statements).not.toHaveLength(0)
    for (const statement of server.statements) {
      expect(statement).toMatch(/^BEGIN TRANSACTION;\n.*;\nROLLBACK TRANSACTION$/s)
    }
  })

  test('writes values with all their digits', async () => {
    server.columns = [
      ...server.columns,
      { name: 'level', type: types.decimal },
      { name: 'price', type: types.money },
      { name: 'seen', type: types.datetimeoffset },
      { name: 'made', type: types.datetime },
      { name: 'day', type: types.date },
      { name: 'open', type: types.bit },
      { name: 'single', type: types.real },
      { name: 'double', type: types.float },
      { name: 'bytes', type: types.binary },
      { name: 'note', type: types.text },
    ]
    const [single, double] = [Buffer.alloc(4), Buffer.alloc(8)]
    single.writeFloatLE(0.1)
    double.writeDoubleLE(0.1)
    const full = {
      id: bigint(1n),
      at: '2026-07-01 12:00:00.1234567',
      level: '1234567890123456789012345678.0123456789',
      price: '922337203685477.5807',
      seen: '2026-07-01 10:00:00.1234567',
      made: '2026-07-01 12:00:00.003',
      day: '2026-07-01',
      open: Buffer.from([1]),
      single,
      double,
      bytes: Buffer.from([0, 255]),
      note: '"ß',
    }
    server.rows.push(full, { ...full, id: bigint(2n), open: Buffer.from([0]) })
    const polled = polledRows({ timezone: 'Europe/Berlin' })
    await polled.poll()
    expect(polled.texts.join()).toBe(`[${fullRow(1, true)},${fullRow(2, false)}]`)
    // Times are asked for in UTC, whatever the zone.
    expect(server.statements.at(-1)).toContain("SWITCHOFFSET([seen], '+00:00')")
  })

  test('says that a password is wrong, without it', async () => {
    const password = 'hunter22'
    const error = await failure(polledRows({ credentials: { username: 'reader', password } }))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toBe("Login failed for user 'reader'.")
    expect(JSON.stringify([error.stack, error.cause])).not.toContain(password)
  })

  test.each([
    [208, 16, true],
    [207, 16, true],
    [229, 14, true],
    [102, 15, true],
    [156, 15, true],
    [1205, 13, false],
    [1222, 16, false],
    [701, 17, false],
  ])('error %i of class %i has to be mended: %j', async (number, severity, isRefused) => {
    server.failure = { number, severity, message: `It is number ${number}.` }
    const error = await failure(polledRows())
    expect(error.message).toContain(`It is number ${number}.`)
    expect(error instanceof SourceRefused).toBe(isRefused)
  })

  test('does not wait longer than it was told, and will try again', async () => {
    server.hangs = true
    const error = await failure(polledRows({ statementTimeout: '1s' }))
    expect(error).not.toBeInstanceOf(SourceRefused)
    expect(error.message).toMatch(/1000ms/)
    await expect.poll(() => server.connections).toBe(0)
  })

  test('ends at once when it is told to', async () => {
    server.hangs = true
    const stop = new AbortController()
    const ended = polledRows()
      .poll(undefined, stop.signal)
      .catch((error: unknown) => error)
    await expect.poll(() => server.statements.length).toBe(1)
    stop.abort(new Error('it is over'))
    expect(await ended).toEqual(new Error('it is over'))
    await expect.poll(() => server.connections).toBe(0)
  })

  test('follows nobody to another server', async () => {
    await using other = await TdsServer.start()
    server.route = { host: '127.0.0.1', port: other.port }
    const error = await failure(polledRows({}, [server.port, other.port]))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toMatch(/sends us on to another one/)
    expect(other.statements).toEqual([])
  })

  test('tells nothing to a server that has no TLS, where TLS is wanted', async () => {
    const error = await failure(polledRows({ tls: true }))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toBe('the server has no TLS, and tls is set')
    expect(server.logins).toBe(0)
  })

  test('speaks TLS, with the server that was meant', async () => {
    using folder = new TemporaryFolder()
    server.certificate = makeCertificate(folder.path, 'server', 'DNS:plant.example')
    const { authority: ca } = server.certificate
    add([1n], '2026-03-01 12:00:00.0000000')
    const polled = polledRows({ tls: { ca, servername: 'plant.example' } })
    await polled.poll()
    expect(idsOf(polled)).toEqual(['1'])
    expect(server.logins).toBe(1)
    for (const tls of [
      { ca, servername: 'other.example' },
      { servername: 'plant.example' },
      { ca },
    ]) {
      await expect(polledRows({ tls }).poll()).rejects.toThrow(/altnames|self-signed/)
    }
    const error = await failure(polledRows())
    expect(error.message).toBe('the server takes no clients without TLS: set tls')
    expect(server.logins).toBe(1)
  })

  test('connects to no private address that the operator has not named', async () => {
    await expect(polledRows({}, []).poll()).rejects.toMatchObject({
      code: 'destination_not_allowed',
    })
    expect(server.connections).toBe(0)
  })
})

async function failure(polled: PolledRows): Promise<Error> {
  return await polled.poll().then(
    () => new Error('it has not failed'),
    (error: Error) => error,
  )
}

function idsOf({ texts }: PolledRows): readonly (string | undefined)[] {
  return texts.flatMap((text) => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id))
}

function fullRow(id: number, open: boolean): string {
  return (
    `{"id":${id},"at":"2026-07-01T12:00:00.123456+02:00",` +
    '"level":1234567890123456789012345678.0123456789,"price":922337203685477.5807,' +
    '"seen":"2026-07-01T10:00:00.123456Z","made":"2026-07-01T12:00:00.003+02:00",' +
    `"day":"2026-07-01","open":${open},"single":0.1,"double":0.1,"bytes":"AP8=","note":"\\"ß"}`
  )
}
