import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../scripts/servers/free-port.ts'
import {
  QuestDbAway,
  QuestDbConnection,
  QuestDbRefusal,
} from '../../../src/storage/time-series/questdb/connection.ts'
import {
  booleanBytes,
  columnsOf,
  createTable,
  digestOf,
  isAliveAt,
  literal,
  quoted,
  storedDigest,
  tableOf,
} from '../../../src/storage/time-series/questdb/layout.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { answering, Receiver } from '../../support/receiver.ts'

describe.skipIf(isQuestDbMissing)('a connection to QuestDB', () => {
  let questDb: QuestDb
  let connection: QuestDbConnection
  beforeAll(async () => {
    questDb = await QuestDb.start()
    connection = questDb.connection()
  })
  afterAll(async () => {
    connection.close()
    await questDb[Symbol.asyncDispose]()
  })

  test('answers with rows, and keeps numbers of 64 bits whole', async () => {
    const { rows } = await connection.run(`SELECT 9007199254740993::LONG, null::LONG, 'é''"'`)
    expect(rows).toEqual([['9007199254740993', null, `é'"`]])
  })

  test('takes texts as they are', async () => {
    const text = `it's 100 % "quoted" & $\\ äöü 🙂`
    const { rows } = await connection.run(`SELECT ${literal(text)}`)
    expect(rows).toEqual([[text]])
  })

  test('tells what the server says to a wrong statement', async () => {
    const failure = connection.run('SELECT nothing FROM nowhere')
    await expect(failure).rejects.toThrow(QuestDbRefusal)
    await expect(failure).rejects.toThrow('nowhere')
  })

  test('refuses rows that do not fit, all of them', async () => {
    const shape = shapeOf({ temperature: { type: 'number' } })
    await connection.run(createTable('readings_fit', shape))
    const lines = 'readings_fit temperature=1.5 1\nreadings_fit temperature="warm" 2\n'
    await expect(connection.write(Buffer.from(lines))).rejects.toThrow(/cast error/)
    await connection.write(Buffer.from('readings_fit temperature=2.5 3000\n'))

    await expect
      .poll(async () => (await connection.run('SELECT temperature FROM readings_fit')).rows)
      .toEqual([[2.5]])
  })

  test('makes a table of each shape, with the names that fields may have', async () => {
    const shape = shapeOf({
      on: { type: 'boolean' },
      select: { type: 'integer' },
      ['f'.repeat(63)]: { type: 'datetime' },
      _x: { type: 'object', fields: {} },
    })
    const table = tableOf('names_', shape.id)
    await connection.run(createTable(table, shape))
    const { rows } = await connection.run(`SELECT "column", type FROM table_columns('${table}')`)
    expect(rows).toEqual(columnsOf(shape))
    expect((await connection.run(`SELECT "select", "on" FROM ${quoted(table)}`)).rows).toEqual([])
  })

  test('shows what is stored at a position and not removed', async () => {
    const shape = shapeOf({ on: { type: 'boolean' } })
    const table = tableOf('alive_', shape.id)
    await connection.run(createTable(table, shape))
    await connection.run(
      `INSERT INTO ${quoted(table)} ("timestamp", "$offset", "$removedBy", "on") VALUES
         (1, 5, null, ${booleanBytes.true}), (2, 6, 8, ${booleanBytes.false}), (3, 9, null, null)`,
    )
    const all = `SELECT "timestamp"::LONG, "on" FROM ${quoted(table)}`
    await expect.poll(async () => (await connection.run(all)).rows).toHaveLength(3)

    expect((await connection.run(`${all} WHERE ${isAliveAt(9)}`)).rows).toEqual([['1', 2]])
    expect((await connection.run(`${all} WHERE ${isAliveAt(10)}`)).rows).toEqual([
      ['1', 2],
      ['3', 0],
    ])
  })

  test('says that the server is away when nobody listens', async () => {
    const nobody = new QuestDbConnection(
      { ...questDb.server(), port: await freePort() },
      { sockets: 1 },
    )
    await expect(nobody.run('SELECT 1')).rejects.toThrow(QuestDbAway)
    nobody.close()
  })

  test.each([
    [200, '<html>sign in</html>'],
    [200, '{}'],
    [200, '{"columns":[],"dataset":[[1]'],
    [200, '{"columns":[],"dataset":[],"error":"out of memory"}'],
    [429, '{"error":"too many"}'],
    [503, 'nobody is there'],
  ])('takes %i %s for no answer', async (status, body) => {
    await using server = await Receiver.start()
    server.behaviour = answering(status, body)
    const { port } = new URL(server.url)
    const one = new QuestDbConnection({ ...questDb.server(), port: Number(port) }, { sockets: 1 })
    await expect(one.run('SELECT 1')).rejects.toThrow(QuestDbAway)
    if (status !== 200) await expect(one.write(Buffer.from('x y=1\n'))).rejects.toThrow(QuestDbAway)
    one.close()
  })

  test('gives up when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(connection.run('SELECT 1', signal)).rejects.toThrow('enough')
  })
})

test('a digest of 64 bits comes back as it was, the null of QuestDB included', () => {
  for (const digest of [0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 1n]) {
    const stored = storedDigest(digest)
    expect(digestOf(stored === -(2n ** 63n) ? null : String(stored))).toBe(digest)
  }
})
