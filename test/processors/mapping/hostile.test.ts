import { describe, expect, test } from 'vitest'
import { decoders } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import { parsePath } from '../../../src/contracts/path.ts'
import type { DecodedMessage } from '../../../src/contracts/reading.ts'
import type { StreamSchema } from '../../../src/contracts/stream-schema.ts'

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000

/** Bytes of all that is kept of the readings of one message. */
const keptBytesMax = 64 * 1024 * 1024

function schemaWith(rest: Partial<StreamSchema>): StreamSchema {
  return {
    fields: { v: { type: 'number' } },
    validation: 'lenient',
    timestampField: 'at',
    timestampFormat: 'epoch_ms',
    time: { isRequired: true },
    ...rest,
  }
}

function mappedBy(schema: StreamSchema, message: unknown): DecodedMessage {
  const decoded = decoders.json(Buffer.from(JSON.stringify(message)))
  if (!decoded.ok) throw new Error(decoded.problem)
  return mapperOf(schema)?.(decoded, {}) ?? decoded
}

function refusalsOf({ refused }: DecodedMessage): readonly string[] {
  return [...(refused?.values() ?? [])].map(({ message }) => message)
}

const list = [{ path: 'list', as: 'list' as const }]

describe('messages that ask for too much', () => {
  test('are refused with more readings than one may have', () => {
    const numbers = Array.from({ length: 10_001 }, (_, v) => ({ v }))
    expect(refusalsOf(mappedBy(schemaWith({ items: list }), { list: numbers }))).toEqual([
      'source.items.0.path leads to more than 10000 readings in one message',
    ])
    const nested = { list: Array.from({ length: 200 }, () => ({ inner: numbers.slice(0, 100) })) }
    const items = [...list, { path: 'inner', as: 'list' as const }]
    expect(refusalsOf(mappedBy(schemaWith({ items }), nested))).toEqual([
      'source.items.1.path leads to more than 10000 readings in one message',
    ])
  })

  test('are refused where each reading would have too much of what is around it', () => {
    const fields = {
      v: { type: 'number' },
      text: { type: 'string', from: '$parent.text' },
    } as const
    const message = {
      text: 'x'.repeat(100_000),
      list: Array.from({ length: 100 }, (_, v) => ({ v })),
    }
    expect(refusalsOf(mappedBy(schemaWith({ items: list, fields }), message))).toEqual([
      'source.items has too much around 100 readings: each is kept with it',
    ])
  })

  test('keep little of what is around readings, of which each is refused', () => {
    const schema = schemaWith({ items: list })
    const noise = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`k${index}`, 'x'.repeat(500)]),
    )
    const message = { ...noise, list: Array.from({ length: 10_000 }, (_, v) => ({ v })) }
    const payload = Buffer.from(JSON.stringify(message))
    const found = mappedBy(schema, message)
    const judge = judgeOf(schema)
    let bytes = 0
    for (const [index, reading] of found.readings.entries()) {
      const verdict = judge(reading, { receivedAtUs, futureToleranceUs: 0 })
      expect(verdict.accepted).toBe(false)
      if (index % 100 === 0) bytes += (found.kept?.(index, payload).payload.length ?? 0) * 100
    }
    expect(bytes).toBeLessThan(keptBytesMax)
  })

  test('have as many readings of one name and time as they say', () => {
    const items = [{ path: 'list', as: 'pivot' as const, name: 'n', value: 'v' }]
    const entries = Array.from({ length: 10_000 }, (_, v) => ({ n: 'v', v }))
    const found = mappedBy(schemaWith({ items }), { list: entries })
    expect(found.readings.length).toBe(10_000)
  })

  test('have names that every object inherits', () => {
    const message = JSON.parse(
      '{"__proto__":{"v":1},"constructor":{"v":2},"toString":{"v":3}}',
    ) as unknown
    const fields = { v: { type: 'number' }, key: { type: 'string' } } as const
    const items = [{ path: '$', as: 'map' as const }]
    const schema = schemaWith({ items, fields, time: { isRequired: false } })
    const judge = judgeOf(schema)
    const stored = mappedBy(schema, message).readings.map((reading) => {
      const verdict = judge(reading, { receivedAtUs, futureToleranceUs: 0 })
      return verdict.accepted && verdict.isFiltered !== true ? verdict.values : verdict
    })
    expect(stored).toEqual([
      '{"key":"__proto__","v":1}',
      '{"key":"constructor","v":2}',
      '{"key":"toString","v":3}',
    ])
    const inherited = schemaWith({ fields: { v: { type: 'number', from: 'toString.length' } } })
    expect(mappedBy(inherited, { v: 1 }).readings).toMatchObject([{ values: {} }])
  })

  test.each([1e300, -1e300])('have samples whose times cannot be: %d', (interval) => {
    const more = { value: 'v', start: 'at', interval }
    const items = [{ path: 'list', as: 'samples' as const, ...more }]
    const schema = schemaWith({ items })
    const judge = judgeOf(schema)
    const found = mappedBy(schema, { at: 1_769_853_590_000, list: [1, 2, 3] })
    const verdicts = found.readings.map((reading) =>
      judge(reading, { receivedAtUs, futureToleranceUs: 0 }),
    )
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false, false])
  })

  test.each([1e308, null, 'often', []])('have samples at distances that are none: %j', (every) => {
    const more = { value: 'v', start: 'at', interval: 'every' }
    const schema = schemaWith({ items: [{ path: 'list', as: 'samples', ...more }] })
    expect(refusalsOf(mappedBy(schema, { at: 1, every, list: [1, 2] }))).toEqual([
      'source.items.0.interval leads to no number, or to one that is too large',
    ])
  })
})

describe('paths', () => {
  test.each([
    ['', 'characters'],
    ['a.'.repeat(300), 'characters'],
    [Array<string>(65).fill('a').join('.'), 'steps'],
    ['a[1234567890]', 'bracket'],
    ['a[', 'bracket'],
    ['a[x]', 'bracket'],
    ["a['b", 'end'],
    ["a['b'x", ']'],
    ['a..b', 'name'],
    ['.a', 'name'],
    ['a[0]b', 'point'],
    ['$nothing.a', '$nothing'],
    ['$topic.a', 'levels'],
    ['$header', 'name'],
    ['$key.a', 'within'],
    ['a]', 'point'],
  ])('that are none are refused: %s', (text, problem) => {
    expect(parsePath(text)).toMatchObject({ problem: expect.stringContaining(problem) as unknown })
  })

  test('with an index that no list has lead nowhere', () => {
    const schema = schemaWith({
      fields: { v: { type: 'number', from: ['a[999999999]', 'a[-999999999]', 'a[0][0][0]'] } },
    })
    expect(mappedBy(schema, { a: [1] }).readings).toMatchObject([{ values: {} }])
  })
})
