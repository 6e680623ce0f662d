import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import * as library from 'node-opcua-client'
import { describe, expect, test } from 'vitest'
import { ValueTexts } from '../../connectors/opcua/values.ts'
import { scaledInteger } from '../../connectors/scaled-value.ts'
import { decoders } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { canonicalNumber } from '../../src/core/canonical-json.ts'
import { anyLong, isKept } from '../support/any-numbers.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { ModbusDevice, pollOnce as pollModbus } from '../support/modbus-device.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const { schema } = decodedStream({ wide: { type: 'number' } })
const judge = judgeOf(schema)

/** What is stored of each reading of a message, or why it is not. */
function storedOf(text: string): readonly string[] {
  const message = decoders.json(Buffer.from(text))
  if (!message.ok) return [message.problem]
  return message.readings.map((reading, index) => {
    const problem = message.unreadable?.get(index)
    if (problem !== undefined) return problem
    const verdict = judge(reading, {
      receivedAtUs: Date.UTC(2026, 2, 1) * 1000,
      futureToleranceUs: 0,
    })
    if (!verdict.accepted) return verdict.message
    return verdict.isFiltered ? 'filtered' : verdict.values
  })
}

function expectRule(value: bigint, stored: string | undefined): void {
  if (isKept(value)) expect(stored).toBe(`{"wide":${canonicalNumber(Number(value))}}`)
  else expect(stored).toContain(`${value} at 'wide' is beyond 2^53`)
}

/** Integers that are the same in each run, of which some are kept and some are not. */
const samples = fc.sample(anyLong, { numRuns: 300, seed: 27 })
const signed = samples.filter((value) => value < 2n ** 63n)
const unsigned = samples.filter((value) => value >= 0n)

/** Rows of a table in the order of their numbers. */
function expectRows({ texts, problems }: PolledRows, wide: readonly bigint[]): void {
  expect(problems).toEqual([])
  const stored = texts.flatMap((text) => storedOf(text))
  expect(stored).toHaveLength(wide.length)
  for (const [index, value] of wide.entries()) expectRule(value, stored[index])
}

const query = 'SELECT wide FROM readings ORDER BY id'

describe('an integer of 64 bits goes by one rule', () => {
  test('in registers of Modbus', async () => {
    await using device = await ModbusDevice.start()
    const item = { field: 'wide', address: 1_000 }
    for (const value of samples) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64BE(BigInt.asUintN(64, value))
      device.set(
        'holding',
        1_000,
        [0, 2, 4, 6].map((at) => bytes.readUInt16BE(at)),
      )
      const registers = [{ ...item, type: value < 0n ? 'int64' : 'uint64' }]
      const text = await pollModbus({ endpoint: device.endpoint, registers })
      expectRule(value, storedOf(text)[0])
    }
  })

  test('that is multiplied and moved by whole numbers, as what comes of it', () => {
    const whole = fc.integer({ min: -1_000, max: 1_000 })
    fc.assert(
      fc.property(anyLong, whole, whole, (value, scale, offset) => {
        const result = value * BigInt(scale) + BigInt(offset)
        const text = scaledInteger(value, { scale, offset })
        expectRule(result, storedOf(`{"wide":${text}}`)[0])
      }),
    )
  })

  test('in variables of OPC UA', () => {
    const texts = new ValueTexts(library)
    fc.assert(
      fc.property(anyLong, (value) => {
        const bits = BigInt.asUintN(64, value)
        const dataType = library.DataType[value < 0n ? 'Int64' : 'UInt64']
        const words = [Number(bits >> 32n), Number(bits & 0xffff_ffffn)]
        const arrayType = library.VariantArrayType.Scalar
        const text = texts.textOf(new library.Variant({ dataType, arrayType, value: words }))
        expectRule(value, storedOf(`{"wide":${text}}`)[0])
      }),
    )
  })

  test('in a file of SQLite', async () => {
    using folder = new TemporaryFolder()
    const file = folder.file('plant.db')
    const database = new DatabaseSync(file)
    database.exec('CREATE TABLE readings (id INTEGER PRIMARY KEY, wide INTEGER)')
    const insert = database.prepare('INSERT INTO readings (wide) VALUES (?)')
    for (const value of signed) insert.run(value)
    database.close()
    const polled = new PolledRows(
      { protocol: 'sqlite', endpoint: file, query },
      { sqliteFolders: [folder.path] },
    )
    await polled.poll()
    expectRows(polled, signed)
  })

  test.skipIf(isPostgresMissing).each([
    ['bigint', signed],
    ['numeric', samples],
  ])('in a column of the type %s of PostgreSQL', async (type, wide) => {
    await using server = await Postgres.start()
    const client = await server.client('postgres')
    await client.query(`CREATE TABLE readings (id serial, wide ${type})`)
    for (const value of wide) {
      await client.query('INSERT INTO readings (wide) VALUES ($1)', [String(value)])
    }
    const endpoint = server.endpoint('postgres')
    const polled = new PolledRows(
      { protocol: 'postgres', endpoint, credentials: server.credentials, query },
      { ports: [server.port] },
    )
    await polled.poll()
    expectRows(polled, wide)
  })

  test.skipIf(isMariadbMissing)('in columns of MariaDB', async () => {
    await using server = await Mariadb.start()
    const columns = [
      ['BIGINT', signed],
      ['BIGINT UNSIGNED', unsigned],
      ['DECIMAL(20, 0)', samples],
      ['BIT(64)', unsigned],
    ] as const
    for (const [type, wide] of columns) {
      const database = await server.newDatabase()
      const client = await server.client(database)
      await client.query(`CREATE TABLE readings (id int AUTO_INCREMENT PRIMARY KEY, wide ${type})`)
      for (const value of wide) await client.query(`INSERT INTO readings (wide) VALUES (${value})`)
      const endpoint = server.endpoint(database)
      const polled = new PolledRows(
        { protocol: 'mariadb', endpoint, credentials: server.credentials, query },
        { ports: [server.port] },
      )
      await polled.poll()
      expectRows(polled, wide)
    }
  })
})
