import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeNdjson } from '../../processors/decode-ndjson.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'

function decoded(content: string | Uint8Array) {
  return decodeNdjson(Buffer.from(content))
}

function elementsOf(content: string | Uint8Array): string[] {
  const payload = Buffer.from(content)
  const { elements } = decodeNdjson(payload) as DecodedMessage
  return (elements?.(payload) ?? []).map((bytes) => Buffer.from(bytes).toString('latin1'))
}

describe('decodeNdjson', () => {
  test('takes each line as a reading of a batch, also a single one', () => {
    expect(decoded('{"a":1}\n{"a":2}\n')).toMatchObject({
      ok: true,
      isBatch: true,
      readings: [{ a: 1 }, { a: 2 }],
    })
    expect(decoded('{"a":1}')).toMatchObject({ isBatch: true, readings: [{ a: 1 }] })
  })

  test('passes over blank lines, and takes both kinds of line ends', () => {
    expect(decoded('\n \t\r\n{"a":1}\r\n\r\n\n{"a":2}')).toMatchObject({
      readings: [{ a: 1 }, { a: 2 }],
    })
  })

  test.each([
    ['half an object', '{"a":', 'not valid JSON'],
    ['two objects', '{"a":1}{"a":2}', 'not valid JSON'],
    ['a comma at its end', '{"a":1},', 'not valid JSON'],
    ['a key twice', '{"a":1,"a":2}', 'the same key twice'],
    ['an integer beyond 2^53', '{"a":9007199254740993}', 'beyond 2^53'],
    ['U+0000', '{"a":"\\u0000"}', 'U+0000'],
    ['a lone surrogate', '{"a":"\\ud800"}', 'surrogates'],
    ['a byte order mark', '\ufeff{"a":1}', 'not valid JSON'],
    ['65 levels', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, '64 levels'],
  ])('refuses a line with %s alone', (_, line, reason) => {
    const message = decoded(`{"a":1}\n${line}\n{"a":3}`) as DecodedMessage

    expect(message.readings).toHaveLength(3)
    expect(message.readings[2]).toEqual({ a: 3 })
    expect([...(message.unreadable ?? [])]).toEqual([[1, expect.stringContaining(reason)]])
  })

  test('refuses a line that is no UTF-8 alone', () => {
    const lines = [Buffer.from('{"a":1}\n{"a":"'), Buffer.of(0xff), Buffer.from('"}\n{"a":3}')]
    const message = decoded(Buffer.concat(lines)) as DecodedMessage

    expect([...(message.unreadable ?? [])]).toEqual([[1, 'not valid UTF-8']])
    expect(elementsOf(Buffer.concat(lines))[1]).toBe('{"a":"\xff"}')
  })

  test.each(['', '\n', ' \r\n\t\n'])('refuses %j, which has no line with content', (text) => {
    expect(decoded(text)).toEqual({ ok: false, problem: 'the batch is empty' })
  })

  test('takes 10,000 lines, however many blank ones there are, and not one more', () => {
    expect(decoded('\n\n{}'.repeat(10_000)).ok).toBe(true)
    expect(decoded('{}\n'.repeat(10_001))).toEqual({
      ok: false,
      problem: expect.stringContaining('10000'),
    })
    expect(decoded('\n'.repeat(4 * 1024 * 1024)).ok).toBe(false)
  })

  test('keeps the bytes of each line, without the white space around it', () => {
    expect(elementsOf(' {"a" : 1.0} \r\n\n\t7\n{"b":2')).toEqual(['{"a" : 1.0}', '7', '{"b":2'])
  })

  test('reads any values as JSON does', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.json()), { minLength: 1 }), (readings) => {
        const text = readings.map((reading) => JSON.stringify(reading)).join('\n')
        fc.pre(!text.includes('\\u') && !text.includes('__proto__'))

        expect(decoded(text)).toMatchObject({ readings, unreadable: new Map() })
      }),
    )
  })
})
