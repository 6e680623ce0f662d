import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvDecoder } from '../../processors/decode-csv.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { FormatOptions } from '../../src/contracts/stream-schema.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'

const fields = {
  level: { type: 'number' },
  count_of: { type: 'integer' },
  open: { type: 'boolean' },
  note: { type: 'string' },
  at: { type: 'datetime' },
} as const

const all = ['level', 'count_of', 'open', 'note', 'at']

function decode(content: string | Uint8Array, options: FormatOptions = { columns: all }) {
  return csvDecoder(decodedStream(fields, options))(Buffer.from(content))
}

describe('CSV', () => {
  test('gives each column the type of its field', () => {
    expect(readingsOf(decode('21.5,3,on,hot,2026-01-01T00:00:00Z'))).toEqual([
      { level: 21.5, count_of: 3, open: true, note: 'hot', at: '2026-01-01T00:00:00Z' },
    ])
  })

  test('may have a time that is called like what all objects have', () => {
    const options = { columns: ['constructor'] }
    const stream = decodedStream(fields, options, { timestampField: 'constructor' })
    expect(readingsOf(csvDecoder(stream)(Buffer.from('x')))).toEqual([{ constructor: 'x' }])
  })

  test('is a batch of lines, which may end in either way, and may be blank', () => {
    const message = decode('\r\n1,2,0,a,\r\n\n3,4,1,b,\n', { columns: all })

    expect(message).toMatchObject({ ok: true, isBatch: true, format: 'csv' })
    expect(readingsOf(message)).toEqual([
      { level: 1, count_of: 2, open: false, note: 'a' },
      { level: 3, count_of: 4, open: true, note: 'b' },
    ])
  })

  test('leaves out what is empty, and what has no name; a quoted empty text is a text', () => {
    const columns = ['level', null, 'note']

    expect(readingsOf(decode(',x,\n2,"y",""', { columns }))).toEqual([{}, { level: 2, note: '' }])
  })

  test('takes quoted values with delimiters, quotes and line feeds in them', () => {
    const columns = ['note', 'level']

    const message = '"a;""b""\n";1\r\n"2";"3"\r'
    expect(readingsOf(decode(message, { columns, delimiter: ';' }))).toEqual([
      { note: 'a;"b"\n', level: 1 },
      { note: '2', level: 3 },
    ])
  })

  test.each([',', ';', '\t', '|', ' '])('takes the delimiter %j', (delimiter) => {
    const columns = ['level', 'note']

    const content = ['1', 'x'].join(delimiter)
    expect(readingsOf(decode(content, { columns, delimiter }))).toEqual([{ level: 1, note: 'x' }])
  })

  test('leaves a text that is not exactly a value to the schema, which refuses it', () => {
    expect(readingsOf(decode(' 1,0x2,yes,,'))).toEqual([
      { level: ' 1', count_of: '0x2', open: 'yes' },
    ])
  })

  test('reads the time as its format says, whether it is a field or not', () => {
    const columns = ['timestamp', 'level']
    const seconds = decodedStream(
      { level: { type: 'number' } },
      { columns },
      {
        timestampFormat: 'epoch_s',
      },
    )
    const text = decodedStream({ level: { type: 'number' } }, { columns })

    const content = Buffer.from('1767225600.5,1')
    expect(readingsOf(csvDecoder(seconds)(content))).toEqual([
      { timestamp: 1767225600.5, level: 1 },
    ])
    expect(readingsOf(csvDecoder(text)(content))).toEqual([{ timestamp: '1767225600.5', level: 1 }])
  })

  test('refuses a line of its own, and keeps its text', () => {
    const content = '1,2,0,"a,é",\r\n1,2\n1,2,3,4,5,6,7\n,9007199254740993,,,\n5,,,,\n'
    const { readings, unreadable, elements } = decode(content) as DecodedMessage

    expect(readings).toHaveLength(5)
    expect([...(unreadable ?? [])]).toEqual([
      [1, expect.stringContaining('has 2 values where the stream has 5 columns')],
      [2, expect.stringContaining('has more values')],
      [3, expect.stringContaining('beyond 2^53')],
    ])
    expect(elements?.(Buffer.from(content)).map(String)).toEqual([
      '1,2,0,"a,é",',
      '1,2',
      '1,2,3,4,5,6,7',
      ',9007199254740993,,,',
      '5,,,,',
    ])
  })

  test('a line that is no text is refused alone, and kept byte for byte', () => {
    const line = fc.oneof(
      fc.tuple(fc.integer(), fc.string({ unit: 'grapheme' })).map(([level, note]) => ({
        isGood: true,
        bytes: Buffer.from(`${level},2,0,"${note.replaceAll('"', '""').replaceAll('\0', '')}",`),
      })),
      fc
        .constantFrom('1,2,0,\xff,', '1,2,0,"a\xed\xa0\x80\n""b",', '1,2,0,x\0,', '\xc3,,,,')
        .map((text) => ({ isGood: false, bytes: Buffer.from(text, 'latin1') })),
    )
    const mixed = fc
      .array(line, { minLength: 2, maxLength: 12 })
      .filter((lines) => lines.some(({ isGood }) => isGood))
    fc.assert(
      fc.property(mixed, (lines) => {
        const payload = Buffer.concat(lines.flatMap(({ bytes }) => [bytes, Buffer.from('\r\n')]))
        const { readings, unreadable, elements } = decode(payload) as DecodedMessage

        const bad = lines.flatMap(({ isGood }, index) => (isGood ? [] : [index]))
        expect([...(unreadable ?? new Map<number, string>()).keys()]).toEqual(bad)
        expect((elements?.(payload) ?? []).map((bytes) => Buffer.from(bytes))).toEqual(
          lines.map(({ bytes }) => bytes),
        )
        for (const [index, { isGood, bytes }] of lines.entries()) {
          if (isGood) expect([readings[index]]).toEqual((decode(bytes) as DecodedMessage).readings)
        }
      }),
    )
  })

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'empty'],
    ['blank lines', '\n\r\n', 'empty'],
    ['a quote that is not closed', '1,"2', 'line 1 has a quote that is not closed'],
    ['a quote within a value', '1,2,0,a"b,\n', 'line 1 has a quote within'],
    ['something behind a quote', '1,2,0,a,\n"1"x,2', 'line 2 has something between'],
    ['no UTF-8', Buffer.of(0x31, 0xff), 'UTF-8'],
    ['a byte order mark', '\ufeff1', 'byte order mark'],
    ['U+0000', '1,\0', 'U+0000'],
    ['too many lines', '1\n'.repeat(10_001), 'more than 10000'],
  ])('refuses %s as a whole, with the reason', (_, content, problem) => {
    expect(decode(content)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem) as string,
    })
  })

  test('needs columns', () => {
    expect(decode('1', {})).toMatchObject({ problem: expect.stringContaining('source.columns') })
  })

  test('that was written by the rules gives what was written', () => {
    const row = fc.record({
      level: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e15, min: -1e15 })),
      open: fc.option(fc.boolean()),
      note: fc.option(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))),
    })
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(',', ';', '\t', '|', ' '),
        fc.constantFrom('\n', '\r\n'),
        (rows, delimiter, lineEnd) => {
          const columns = ['level', 'open', 'note']
          const content = rows
            .map(({ level, open, note }) =>
              [
                level === null ? '' : JSON.stringify(level),
                open === null ? '' : `${open}`,
                note === null ? '' : `"${note.replaceAll('"', '""')}"`,
              ].join(delimiter),
            )
            .join(lineEnd)

          expect(readingsOf(decode(content, { columns, delimiter }))).toEqual(
            rows.map((values) =>
              Object.fromEntries(
                Object.entries(values)
                  .filter(([, value]) => value !== null)
                  .map(([name, value]) => [name, typeof value === 'number' ? value + 0 : value]),
              ),
            ),
          )
        },
      ),
    )
  })

  test('of any bytes is readings or a problem, and elements are lines', () => {
    const character = fc.constantFrom('"', ',', '\n', '\r', '1', 'é', ' ')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string({ unit: character }).map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          const message = decode(bytes)
          if (!message.ok) return
          expect(message.elements?.(bytes)).toHaveLength(message.readings.length)
        },
      ),
    )
  })

  test.each([
    ['delimiters', ','],
    ['quotes', '"'],
    ['quoted delimiters', '"",'],
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['letters', 'a'],
  ])('gets to the end of 4 MiB of %s', (_, text) => {
    expect(decode(text.repeat((4 * 1024 * 1024) / text.length))).toHaveProperty('ok')
  })
})

function wideTable(count: number): string {
  return `level,${'n'.repeat(10_000)}\n${'1,2\n'.repeat(count)}`
}

describe('CSV with header lines', () => {
  const toa5 = [
    '"TOA5","roof","CR1000X","12345","CR1000X.Std.04","CPU:roof.CR1X","51234","TenMin"',
    '"TIMESTAMP","RECORD","level","note"',
    '"TS","RN","Deg C",""',
    '"","","Avg","Smp"',
    '"2026-01-31 09:50:00",7,21.5,"a"',
    '"2026-01-31 10:00:00",8,"NAN","b"',
  ].join('\r\n')
  const named = { headerLines: 4, columnsLine: 2 }

  test('names the columns in one of them', () => {
    expect(readingsOf(decode(toa5, named))).toEqual([
      { TIMESTAMP: '2026-01-31 09:50:00', RECORD: '7', level: 21.5, note: 'a' },
      { TIMESTAMP: '2026-01-31 10:00:00', RECORD: '8', level: 'NAN', note: 'b' },
    ])
  })

  test('names them in the last one if the definition does not say which', () => {
    expect(readingsOf(decode('# a\nlevel,note\n1,x\n', { headerLines: 2 }))).toEqual([
      { level: 1, note: 'x' },
    ])
  })

  test('leaves them out where the definition names the columns', () => {
    const options = { headerLines: 1, columns: ['note', 'level'] }
    expect(readingsOf(decode('level,note\nx,1\n', options))).toEqual([{ note: 'x', level: 1 }])
  })

  test('reads a column by the field whose path is its name', () => {
    const stream = decodedStream(
      { heat: { type: 'number', from: "['Batt.V']" } },
      { headerLines: 1 },
    )
    expect(readingsOf(csvDecoder(stream)(Buffer.from('Batt.V\n12.5')))).toEqual([
      { 'Batt.V': 12.5 },
    ])
  })

  test('keeps each line behind the header, so that it can be read alone', () => {
    const found = decode(`${toa5}\r\n1,2\r\n`, named) as DecodedMessage
    const kept = found.elements?.(Buffer.from(`${toa5}\r\n1,2\r\n`)) ?? []

    expect([...(found.unreadable?.keys() ?? [])]).toEqual([2])
    expect(kept).toHaveLength(3)
    expect(kept.slice(0, 2).map((one) => readingsOf(decode(one, named)))).toEqual(
      (found.readings as object[]).slice(0, 2).map((one) => [one]),
    )
    expect(Buffer.from(kept[2] ?? []).toString()).toBe(
      `${toa5.split('\r\n').slice(0, 4).join('\r\n')}\n1,2`,
    )
  })

  test('keeps lines byte for byte where the header is no text', () => {
    const text = Buffer.from('level,note\n\xb0C,x\n1,a\n2,\xff\n', 'latin1')
    const found = decode(text, { headerLines: 2, columnsLine: 1 }) as DecodedMessage

    expect(found.readings[0]).toEqual({ level: 1, note: 'a' })
    expect([...(found.unreadable ?? [])]).toEqual([[1, 'not valid UTF-8']])
    const kept = found.elements?.(text) ?? []
    expect(kept.map((one) => Buffer.from(one).toString('latin1'))).toEqual([
      'level,note\n\xb0C,x\n1,a',
      'level,note\n\xb0C,x\n2,\xff',
    ])
  })

  test.each([
    ['level,note', { headerLines: 1 }, 'the batch is empty'],
    ['level,note', { headerLines: 2 }, 'the message has fewer than 2 lines'],
    ['level,\n1,2', { headerLines: 1 }, 'column 2 has no name'],
    ['level,level\n1,2', { headerLines: 1 }, 'two columns are named level'],
    ['__proto__\n1', { headerLines: 1 }, '__proto__ is not a name of a column'],
    [
      'a"b\n1',
      { headerLines: 1 },
      'line 1 has a quote within a value that has no quotes around it',
    ],
    [
      `${'a,'.repeat(256)}a\n1`,
      { headerLines: 1 },
      'the line with names has more than 256 columns',
    ],
  ])('is refused: %s', (text, options, problem) => {
    expect(decode(text, options)).toEqual({ ok: false, problem })
  })

  test('keeps no more than 32 MiB of one message', () => {
    expect(decode(wideTable(3_000), { headerLines: 1 }).ok).toBe(true)
    expect(decode(wideTable(4_000), { headerLines: 1 })).toEqual({
      ok: false,
      problem: 'the header lines are too long for so many lines',
    })
  })
})
