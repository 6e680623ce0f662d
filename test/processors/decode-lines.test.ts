import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineDecoder } from '../../processors/decode-lines.ts'
import { judgeOf } from '../../processors/index.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { LinePrecision, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { formatUs } from '../../src/core/time.ts'
import { judgeMessage } from '../../src/ingest/pipeline/intake.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { anyLine, membersOf, writtenLine } from '../support/written-lines.ts'

function decode(content: string | Uint8Array, precision?: LinePrecision, fields = {}) {
  return lineDecoder(decodedStream(fields), precision)(Buffer.from(content))
}

/** What is wrong with the only line of a message. */
function problemOf(line: string): string | undefined {
  const message = decode(line)
  return message.ok ? message.unreadable?.get(0) : message.problem
}

function members(line: string): unknown {
  return readingsOf(decode(line))[0]
}

describe('a line', () => {
  test('is a reading of its measurement, its tags and its fields, with its time', () => {
    const line = 'cpu,host=h1,cpu=cpu0 usage_idle=98.1,count=3i 1769853590123456789'

    expect(readingsOf(decode(line))).toEqual([
      {
        measurement: 'cpu',
        host: 'h1',
        cpu: 'cpu0',
        usage_idle: 98.1,
        count: 3,
        timestamp: '2026-01-31T09:59:50.123456Z',
      },
    ])
  })

  test('without a time has none, and gets that of its receipt', () => {
    expect(members('m v=1')).toEqual({ measurement: 'm', v: 1 })
  })

  test('may have spaces around its parts, and end in either way', () => {
    const content = '  m,a=b   v=1   1769853590000000000  \r\n\r\n\t\n# c, v="\nm v=2\r\nm v=3'

    expect(readingsOf(decode(content))).toEqual([
      { measurement: 'm', a: 'b', v: 1, timestamp: '2026-01-31T09:59:50.000000Z' },
      { measurement: 'm', v: 2 },
      { measurement: 'm', v: 3 },
    ])
  })

  test.each([
    ['1', 1],
    ['1.', 1],
    ['-.5', -0.5],
    ['007', 7],
    ['-1.234456e+78', -1.234456e78],
    ['9007199254740993', 9_007_199_254_740_992],
    ['12485903i', 12_485_903],
    ['-007i', -7],
    ['9223372036854775807u', '9223372036854775807'],
    ['9223372036854771712i', 9_223_372_036_854_771_712],
    ['18446744073709551615u', '18446744073709551615'],
    ['t', true],
    ['True', true],
    ['FALSE', false],
    ['"t"', 't'],
    ['""', ''],
    ['"a, b=c"', 'a, b=c'],
    [String.raw`"a\"b\\c\d\\\"\\"`, String.raw`a"b\c\d\"` + '\\'],
    ['"two\nlines\r\n"', 'two\nlines\r\n'],
  ])('has the value %s', (text, value) => {
    expect(members(`m v=${text},w=1 1769853590000000000`)).toMatchObject({ v: value, w: 1 })
  })

  test.each([
    [
      String.raw`my\ name\,\=,a\,b\=\ =c\,\=\ d v=1`,
      { measurement: String.raw`my name,\=`, 'a,b= ': 'c,= d' },
    ],
    [
      String.raw`C:\temp,path=\\server\share v\ 1=1`,
      { measurement: String.raw`C:\temp`, path: String.raw`\\server\share`, 'v 1': 1 },
    ],
    [String.raw`m,a=x\\ y v=1`, { a: String.raw`x\ y` }],
    [`'m"',"a"='b' "v"=1`, { measurement: `'m"'`, '"a"': "'b'", '"v"': 1 }],
    ['m#,#=# #=1', { measurement: 'm#', '#': 1 }],
  ])('has the names %s', (line, expected) => {
    if (line.startsWith('m#'))
      expect(problemOf(line)).toContain('has the name #, which the line has already')
    else expect(members(line)).toMatchObject(expected)
  })

  test.each<[LinePrecision, string, string]>([
    ['ns', '1769853590123456999', '2026-01-31T09:59:50.123456Z'],
    ['us', '1769853590123456', '2026-01-31T09:59:50.123456Z'],
    ['ms', '1769853590123', '2026-01-31T09:59:50.123000Z'],
    ['s', '1769853590', '2026-01-31T09:59:50.000000Z'],
    ['m', '29497559', '2026-01-31T09:59:00.000000Z'],
    ['h', '491625', '2026-01-31T09:00:00.000000Z'],
  ])('has its time in %s', (precision, digits, timestamp) => {
    expect(readingsOf(decode(`m v=1 ${digits}`, precision))).toEqual([
      { measurement: 'm', v: 1, timestamp },
    ])
  })

  test('has its time in the unit that the definition names', () => {
    const decoder = lineDecoder(decodedStream({}, { precision: 's' }))
    expect(readingsOf(decoder(Buffer.from('m v=1 1769853590')))).toMatchObject([
      { timestamp: '2026-01-31T09:59:50.000000Z' },
    ])
  })

  test('may be from before 1970, cut off towards the past', () => {
    expect(members('m v=1 -1')).toMatchObject({ timestamp: '1969-12-31T23:59:59.999999Z' })
  })
})

describe('a line is refused with the reason', () => {
  test.each([
    ['m', 'the line has no fields'],
    ['m\r', 'the line has no fields'],
    ['m,a=b ', 'the line has no fields'],
    [',a=b v=1', 'the line has no measurement'],
    ['m,a v=1', 'the tag a at character 3 has no = and no value'],
    ['m,a', 'the tag a at character 3 has no = and no value'],
    ['m,a=', 'the tag a at character 3 has no value'],
    ['m,a= v=1', 'the tag a at character 3 has no value'],
    ['m,=b v=1', 'the tag at character 3 has no name'],
    ['m, v=1', 'the tag at character 3 has no name'],
    ['m,a=b=c v=1', 'the value of the tag a has a = at character 6'],
    ['m,a=1,a=2 v=1', 'the tag at character 7 has the name a, which the line has already'],
    ['m,v=1 v=1', 'the field at character 7 has the name v, which the line has already'],
    ['m v=1,v=2', 'the field at character 7 has the name v, which the line has already'],
    ['m measurement=1', 'has the name measurement, which the measurement has'],
    ['m v', 'the field v at character 3 has no = and no value'],
    ['m v 1', 'the field v at character 3 has no = and no value'],
    ['m =1', 'the field at character 3 has no name'],
    ['m v=1,', 'the field at character 7 has no name'],
    ['m v=', 'the field v at character 3 has no value'],
    ['m v=,w=1', 'the field v at character 3 has no value'],
    ['m v=abc', 'has the value abc, which is not a number, a boolean or a text in quotes'],
    ['m v=+1', 'has the value +1, which is not'],
    ['m v=1x 5', 'has the value 1x, which is not'],
    ['m v=1.5i', 'has the value 1.5i, which is not'],
    ['m v=-1u', 'has the value -1u, which is not'],
    ['m v=0x1F', 'has the value 0x1F, which is not'],
    ['m v=NaN', 'has the value NaN, which is not'],
    ["m v='a'", "has the value 'a', which is not"],
    ['m v=tRUE', 'has the value tRUE, which is not'],
    [`m v=${'1'.repeat(1_001)}`, 'which is not'],
    ['m v=1e400', 'has the value 1e400, which is out of range'],
    ['m v=9223372036854775808i', 'which is out of range'],
    ['m v=18446744073709551616u', 'which is out of range'],
    ['m v="a', 'the text of the field v at character 3 has no closing quote'],
    ['m v="a"b', 'behind the text of the field v stands b at character 8'],
    ['m v=1 x', 'the time x at character 7 is not an integer'],
    ['m v=1 1.5', 'the time 1.5 at character 7 is not an integer'],
    ['m v=1 1 2', 'behind the time stands 2 at character 9'],
    ['m v="\0"', 'U+0000 is not allowed in text'],
    ['m __proto__=1', '__proto__ is not a name of a field'],
    ['m v=1 -99999999999999999999999', 'is not in the years 0001 to 9999'],
    ['m timestamp=5i 1769853590000000000', 'another timestampField keeps both'],
    [`m ${'k'.repeat(65_537)}=1`, 'has 65537 characters, more than 65536'],
    [`m,a=${'k'.repeat(65_537)} v=1`, 'has 65537 characters, more than 65536'],
  ])('%s', (line, problem) => {
    expect(problemOf(line)).toContain(problem)
  })

  test('a number that would be rounded, where a field of the stream reads it', () => {
    const line = 'm v=9007199254740993i,w=9007199254740993i'
    const message = decode(line, undefined, { v: { type: 'integer' }, w: { type: 'string' } })
    expect(message).toMatchObject({ ok: true })
    expect((message as DecodedMessage).unreadable?.get(0)).toBe(
      'the integer 9007199254740993 of the field v is beyond 2^53 and would be rounded',
    )
    expect(members(line)).toMatchObject({ v: '9007199254740993' })
  })

  test.each<[LinePrecision, string, string]>([
    [
      'ns',
      '1769853590',
      'falls into January 1970 as precision ns; precision s would be 2026-01-31',
    ],
    [
      's',
      '1769853590000',
      'is behind the year 2200 as precision s; precision ms would be 2026-01-31',
    ],
  ])('a time in another unit than %s', (precision, digits, message) => {
    const { refused } = decode(`m v=1 ${digits}`, precision) as DecodedMessage
    expect(refused?.get(0)).toMatchObject({
      reason: 'timestamp_implausible',
      message: expect.stringContaining(message) as string,
    })
  })
})

describe('neighbours of a line that is refused', () => {
  const bad = fc.constantFrom(
    'm',
    'm,a v=1',
    'm v=x',
    'm v="x"y',
    'm v="x',
    'm v="x\\"',
    'm,b="1 v=1 "',
    'm v=1 1 1',
  )
  const good = fc.nat(1_000).map((level) => `m,a=b level=${level}i 1769853590000000000`)

  test('are kept, and each line as it came', () => {
    const line = fc.oneof(
      bad.map((text) => ({ text, isGood: false })),
      good.map((text) => ({ text, isGood: true })),
    )
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const payload = Buffer.from(lines.map(({ text }) => text).join(end))
        const { readings, unreadable, elements } = decode(payload) as DecodedMessage

        expect(readings).toHaveLength(lines.length)
        const refused = lines.flatMap(({ isGood }, index) => (isGood ? [] : [index]))
        expect([...(unreadable?.keys() ?? [])]).toEqual(refused)
        expect(elements?.(payload).map(String)).toEqual(lines.map(({ text }) => text))
      }),
    )
  })

  test('are kept where one is not text', () => {
    const payload = Buffer.from('m v=1\nm,a=\xff v=2\nm,a=\xc3\xa9 v="a\nb"\n', 'latin1')
    const { readings, unreadable, elements } = decode(payload) as DecodedMessage

    expect(readings).toEqual([
      { measurement: 'm', v: 1 },
      undefined,
      { measurement: 'm', a: 'é', v: 'a\nb' },
    ])
    expect([...(unreadable ?? [])]).toEqual([[1, 'not valid UTF-8']])
    expect(Buffer.concat([...(elements?.(payload) ?? [])]).toString('latin1')).toBe(
      'm v=1m,a=\xff v=2m,a=\xc3\xa9 v="a\nb"',
    )
  })

  test('are kept where one has no closing quote, and a later one would close it', () => {
    const { readings, unreadable } = decode(
      'm v="a\nm v="b" 1769853590000000000\nm v=3',
    ) as DecodedMessage
    expect([...(unreadable?.keys() ?? [])]).toEqual([0])
    expect(readings.slice(1)).toMatchObject([{ v: 'b' }, { v: 3 }])
  })
})

describe('a message is refused', () => {
  test.each([
    ['', 'the batch is empty'],
    ['# nothing\n \n', 'the batch is empty'],
    ['\uFEFFm v=1', 'it begins with a byte order mark'],
    ['m v=1\n'.repeat(10_001), 'more than 10000 readings in one message'],
    ['m v\n'.repeat(10_001), 'more than 10000 readings in one message'],
  ])('%#', (content, problem) => {
    expect(decode(content)).toEqual({ ok: false, problem })
  })

  test('not with as many lines as a message may have readings', () => {
    expect(readingsOf(decode('m v=1\n'.repeat(10_000)))).toHaveLength(10_000)
  })
})

describe('any lines', () => {
  test('are read as they were written', () => {
    const space = fc.constantFrom(' ', '   ')
    const end = fc.constantFrom('\n', '\r\n', '\n\n', '\n# a=" \n')
    const lines = fc.array(fc.tuple(anyLine, space, end), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(lines, (all) => {
        const content = all
          .map(([line, between, after]) => writtenLine(line, between) + after)
          .join('')
        const expected = all.map(([line]) => ({
          ...membersOf(line),
          ...(line.time !== undefined && { timestamp: formatUs(line.time / 1_000n) }),
        }))
        expect(readingsOf(decode(content))).toEqual(expected)
      }),
      { numRuns: 2_000 },
    )
  })
})

const receivedAtUs = 1_769_853_600_000_000

function verdictsOf(message: ReturnType<typeof decode>, schema: StreamSchema) {
  if (!message.ok) throw new Error(message.problem)
  const stream = { judge: judgeOf(schema) } as Parameters<typeof judgeMessage>[0]
  return judgeMessage(stream, message, receivedAtUs)
}

describe('what the quarantine keeps of a line', () => {
  const schema: StreamSchema = {
    fields: { a: { type: 'number' }, b: { type: 'string' } },
    validation: 'strict',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    time: { isRequired: false },
  }
  const times = fc.integer({ min: 0, max: 2_000_000_000 })
  const precisions = fc.constantFrom<LinePrecision>('ns', 'us', 'ms', 's', 'm', 'h')
  const line = fc.oneof(
    anyLine.map((one) => writtenLine({ ...one, time: undefined })),
    fc.constantFrom('m', 'm a=x', 'm a="', 'm a=1'),
  )

  test.each([
    ['of a request that names a unit', true],
    ['of any other', false],
  ])('%s is judged again as it was', (_, isGiven) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.option(times)), { minLength: 1 }),
        precisions,
        (all, precision) => {
          const content = all
            .map(([text, time]) => (time === null ? text : `${text} ${time}`))
            .join('\n')
          const payload = Buffer.from(content)
          const stream = {
            schema,
            formatOptions: { precision: isGiven ? 'ms' : precision } as const,
          }
          const message = lineDecoder(stream, isGiven ? precision : undefined)(payload)
          if (!message.ok) throw new Error(message.problem)
          const verdicts = verdictsOf(message, schema)
          for (const [index, verdict] of verdicts.entries()) {
            const kept = message.kept?.(index, payload)
            if (kept === undefined) throw new Error('nothing is kept')
            const again = kept.isElement ? lineDecoder(stream, 'ns') : lineDecoder(stream)
            const [redriven, ...others] = verdictsOf(again(kept.payload), schema)
            expect(others).toEqual([])
            if ('reason' in verdict && verdict.reason === 'timestamp_implausible') {
              expect(redriven).toMatchObject({ reason: 'timestamp_implausible' })
            } else if (verdict.accepted && verdict.timestampUs >= receivedAtUs) {
              // Without a time of its own it has that of its receipt, which its place is a part of.
              expect(redriven).toEqual({ ...verdict, timestampUs: receivedAtUs })
            } else expect(redriven).toEqual(verdict)
          }
        },
      ),
    )
  })
})
