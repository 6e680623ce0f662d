import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { XmlDocument } from '../../connectors/api-pull/xml-records.ts'
import { keepByteOrderMarks, keepByteOrderMarksOfNats } from '../../connectors/byte-order-marks.ts'
import { decoders } from '../../processors/decode.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import { edgeNumbers } from '../support/any-numbers.ts'
import { BacnetDevice, pollOnce as pollBacnet, tags } from '../support/bacnet-device.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { ModbusDevice, pollOnce as pollModbus } from '../support/modbus-device.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'
import { PolledRows } from '../support/polled-rows.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

type Json = Readonly<Record<string, unknown>>

/** What a stream gets to judge: nothing of it is refused by its decoder. */
function decodedOf({ texts, problems }: PolledRows): readonly Json[] {
  expect(problems).toEqual([])
  return texts.flatMap((text) => {
    const decoded = decoders.json(Buffer.from(text))
    expect(decoded).toMatchObject({ ok: true })
    return (decoded as DecodedMessage).readings as readonly Json[]
  })
}

const numbers = edgeNumbers.map((value) => value + 0)
const singles = [...new Set(numbers.map(Math.fround))].filter(Number.isFinite)

/** Rows of a table with a text, a double and a number of single precision. */
const rows = Array.from({ length: Math.max(naughtyTexts.length, numbers.length) }, (_, index) => ({
  id: index,
  label: naughtyTexts[index] ?? 'x',
  level: numbers[index] ?? 0,
  single: singles[index] ?? 0,
}))

const query = 'SELECT * FROM readings ORDER BY id'

function expectSame(found: readonly Json[]): void {
  expect(found.map(({ label }) => label)).toEqual(rows.map(({ label }) => label))
  expect(found.map(({ level }) => level)).toEqual(rows.map(({ level }) => level))
  const asSingles = found.map(({ single }) => Math.fround(single as number))
  expect(asSingles).toEqual(rows.map(({ single }) => single))
}

test('rows of SQLite have texts and floating-point numbers as they are stored', async () => {
  using folder = new TemporaryFolder()
  const file = folder.file('plant.db')
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE readings (id INTEGER, label TEXT, level REAL, single REAL)')
  const insert = database.prepare('INSERT INTO readings VALUES (?, ?, ?, ?)')
  for (const { id, label, level, single } of rows) insert.run(id, label, level, single)
  database.close()
  const polled = new PolledRows(
    { protocol: 'sqlite', endpoint: file, query },
    { sqliteFolders: [folder.path] },
  )
  await polled.poll()

  expectSame(decodedOf(polled))
})

describe.skipIf(isPostgresMissing)('PostgreSQL', () => {
  let server: Postgres | undefined
  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  test('has texts and floating-point numbers as they are stored', async () => {
    const client = await server?.client('postgres')
    await client?.query('CREATE TABLE readings (id int, label text, level float8, single float4)')
    for (const { id, label, level, single } of rows) {
      const values = [id, label, String(level), String(single)]
      await client?.query('INSERT INTO readings VALUES ($1, $2, $3, $4)', values)
    }
    const { credentials } = server ?? {}
    const polled = new PolledRows(
      { protocol: 'postgres', endpoint: server?.endpoint('postgres'), credentials, query },
      { ports: [server?.port ?? 0] },
    )
    await polled.poll()

    expectSame(decodedOf(polled))
  })
})

describe.skipIf(isMariadbMissing)('MariaDB', () => {
  let server: Mariadb | undefined
  beforeAll(async () => {
    server = await Mariadb.start()
  })
  afterAll(async () => await server?.[Symbol.asyncDispose]())

  test('has texts and floating-point numbers as they are stored', async () => {
    const database = (await server?.newDatabase()) ?? ''
    const client = await server?.client(database, { charset: 'utf8mb4' })
    await client?.query(
      'CREATE TABLE readings (id int, label text CHARACTER SET utf8mb4, level double, single float)',
    )
    // It has no numbers that are not normal in single precision.
    const stored = rows.map((row) => ({
      ...row,
      single: Math.abs(row.single) < 2 ** -126 ? 0 : row.single,
    }))
    for (const { id, label, level, single } of stored) {
      const values = [id, label, level, single]
      await client?.execute('INSERT INTO readings VALUES (?, ?, ?, ?)', values)
    }
    const { credentials } = server ?? {}
    const endpoint = server?.endpoint(database)
    const polled = new PolledRows(
      { protocol: 'mariadb', endpoint, credentials, query },
      { ports: [server?.port ?? 0] },
    )
    await polled.poll()

    const found = decodedOf(polled)
    expect(found.map(({ label }) => label)).toEqual(rows.map(({ label }) => label))
    expect(found.map(({ level }) => level)).toEqual(rows.map(({ level }) => level))
    const asSingles = found.map(({ single }) => Math.fround(single as number))
    expect(asSingles).toEqual(stored.map(({ single }) => single))
  })
})

test('a device of BACnet has texts as it sends them', async () => {
  await using device = await BacnetDevice.start()
  const texts = naughtyTexts.filter((text) => Buffer.byteLength(text) <= 200)
  for (const [index, text] of texts.entries()) {
    device.set(`40:${index + 1}:85`, tags.CHARACTER_STRING, text)
  }
  const found: unknown[] = []
  for (let at = 0; at < texts.length; at += 5) {
    const objects = texts.slice(at, at + 5).map((_, index) => ({
      field: `f${index}`,
      object: `characterstring-value:${at + index + 1}`,
    }))
    const polled = await pollBacnet({ endpoint: device.endpoint, objects })
    found.push(...Object.values(JSON.parse(polled ?? '{}') as object))
  }
  expect(found).toEqual(texts)
})

test('a device of Modbus has texts as they stand in its registers, but for spaces at their end', async () => {
  await using device = await ModbusDevice.start()
  const texts = naughtyTexts.filter((text) => {
    const { length } = Buffer.from(text)
    return length > 0 && length <= 100
  })
  const found: unknown[] = []
  for (const text of texts) {
    const bytes = Buffer.from(text)
    const padded = Buffer.concat([bytes, Buffer.alloc(bytes.length % 2)])
    const registers = Array.from({ length: padded.length / 2 }, (_, at) =>
      padded.readUInt16BE(2 * at),
    )
    device.set('holding', 1_000, registers)
    const item = { field: 'f', address: 1_000, type: 'string', length: bytes.length }
    const polled = await pollModbus({ endpoint: device.endpoint, registers: [item] })
    found.push((JSON.parse(polled ?? '{}') as { f?: string }).f)
  }
  expect(found).toEqual(texts.map((text) => text.replace(/ +$/, '')))
})

test.each(['tedious', '@bacnet-js/client'])(
  '%s keeps U+FEFF at the beginning of texts',
  (library) => {
    keepByteOrderMarks(library)
    const required = createRequire(createRequire(import.meta.url).resolve(library))
    const iconv = required('iconv-lite') as {
      readonly decode: (bytes: Buffer, encoding: string) => string
    }
    for (const text of naughtyTexts) {
      // As SQL Server names the code page of its collations in UTF-8.
      expect(iconv.decode(Buffer.from(text), 'utf-8')).toBe(text)
      expect(iconv.decode(Buffer.from(text), 'utf8')).toBe(text)
    }
  },
)

test('the library of NATS keeps U+FEFF at the beginning of subjects', () => {
  keepByteOrderMarksOfNats()
  const { MsgImpl } = natsMessages()
  for (const text of naughtyTexts) {
    const head = { subject: Buffer.from(text), reply: Buffer.alloc(0), sid: 1, hdr: 0, size: 0 }
    expect(new MsgImpl(head, Buffer.alloc(0), {}).subject).toBe(text)
  }
})

/** Messages as the library makes them of what a server sends. */
function natsMessages() {
  const library = createRequire(createRequire(import.meta.url).resolve('@nats-io/transport-node'))
  return library('@nats-io/nats-core/internal') as {
    readonly MsgImpl: new (head: object, data: Buffer, publisher: object) => { subject: string }
  }
}

describe('an element of XML', () => {
  test.each(naughtyTexts.filter((text) => /[\uFEFF\u00A0\u3000\u200B]/u.test(text)))(
    'has the text %j, without white space around it',
    (text) => {
      const xml = new XmlDocument(`<a>\n  <b><![CDATA[${text}]]></b>\n</a>`)
      const [element] = xml.at(['a', 'b'])
      expect(element?.text).toBe(text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''))
    },
  )
})
