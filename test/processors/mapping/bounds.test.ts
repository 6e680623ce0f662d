import { describe, expect, test } from 'vitest'
import { decoders } from '../../../processors/decode.ts'
import { mapperOf, textMappingOf } from '../../../processors/mapping/mapper.ts'
import type { MessageContext } from '../../../src/contracts/mapping.ts'
import type { DecodedMessage } from '../../../src/contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../../src/contracts/stream-schema.ts'

const most = 10_000
const mebibyte = 1024 * 1024
const list = [{ path: 'list', as: 'list' }] as const
const map = [{ path: '$', as: 'map' }] as const
const columns = [{ path: 'hourly', as: 'columns' }] as const
const pivot = [{ path: '$', as: 'pivot', time: 't' }] as const

function schemaWith(rest: Partial<StreamSchema>): StreamSchema {
  return {
    fields: { v: { type: 'number' } },
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    time: { isRequired: false },
    ...rest,
  }
}

function mapped(
  rest: Partial<StreamSchema>,
  message: unknown,
  context: MessageContext = {},
): DecodedMessage & { readonly payload: Uint8Array } {
  const schema = schemaWith(rest)
  const payload = Buffer.from(JSON.stringify(message))
  const decoded = decoders.json(payload)
  if (!decoded.ok) throw new Error(decoded.problem)
  const found = mapperOf(schema)?.(decoded, context)
  if (found === undefined) throw new Error('nothing is mapped')
  return { ...found, payload }
}

function fieldsFrom(count: number, from: (index: number) => string | readonly string[]): FieldMap {
  const names = Array.from({ length: count }, (_, index) => index)
  return Object.fromEntries(
    names.map((index) => [`f${index}`, { type: 'string', from: from(index) } as const]),
  )
}

function numbered(count: number, value: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`k${index}`, value(index)]),
  )
}

describe('what is kept of each of 10,000 readings', () => {
  test.each([
    [
      'a long text around a list',
      { items: list },
      { long: 'x'.repeat(3 * mebibyte), list: same({}) },
    ],
    ['a map', { items: map }, numbered(most, () => ({ v: 'a' }))],
    ['entries by name', { items: pivot }, numbered(most, (t) => ({ value: 1, t }))],
    [
      'a long text among columns',
      { items: columns },
      { hourly: { v: same('a'), long: 'x'.repeat(mebibyte) } },
    ],
    [
      'many members among columns',
      { items: columns },
      { hourly: { v: same('a'), ...numbered(100_000, () => 1) } },
    ],
  ] as const)('does not grow with what is around it: %s', (_, rest, message) => {
    const { readings, kept, payload } = mapped(rest, message)
    const before = performance.now()
    const bytes = readings.reduce<number>(
      (sum, _reading, index) => sum + (kept?.(index, payload).payload.byteLength ?? 0),
      0,
    )
    expect(readings).toHaveLength(most)
    expect(bytes).toBeLessThan(10 * mebibyte)
    expect(performance.now() - before).toBeLessThan(4_000)
  })

  test('has as many places before it as its path names', () => {
    const message = { list: [0, { inner: [{ v: 'a' }] }, ...Array<number>(100_000).fill(1)] }
    const found = mapped({ items: [{ path: 'list[1].inner', as: 'list' }] }, message)
    const text = Buffer.from(found.kept?.(0, found.payload).payload ?? []).toString()
    expect(text).toBe('{"list":[null,{"inner":[{"v":"a"}]}]}')
  })
})

describe('a message is refused', () => {
  test('where its readings and the paths are too many together', () => {
    const fields = fieldsFrom(256, (index) =>
      Array.from({ length: 8 }, (_, at) => `a${index}.b${at}`),
    )
    expectRefusal(mapped({ fields, items: list }, { list: same({}) }), 'too many for 2049 paths')
  })

  test('where many fields of many readings read the same around them', () => {
    const fields = fieldsFrom(256, () => '$message.text')
    const message = { text: 'x'.repeat(500), list: same({}) }
    expectRefusal(mapped({ fields, items: list }, message), 'has too much around')
  })

  test('where many fields of a reading read the same of it', () => {
    const fields = fieldsFrom(256, () => 'text.of')
    expectRefusal(mapped({ fields }, { text: { of: 'x'.repeat(mebibyte) } }), 'has too much')
  })

  test('where many readings have a long topic', () => {
    const fields = fieldsFrom(1, () => '$topic')
    const found = mapped({ fields, items: list }, { list: same({}) }, { topic: 'x'.repeat(10_000) })
    expectRefusal(found, 'has too much around')
  })

  test('where columns with long names have many values', () => {
    const hourly = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`${'x'.repeat(5_000)}${index}`, same(1)]),
    )
    expectRefusal(mapped({ items: columns }, { hourly }), 'with too long names')
  })
})

test('a scan finds no more readings in a message than its mapping takes', () => {
  const fields = fieldsFrom(256, (index) => `a.b${index}.c.d`)
  const { scan } = textMappingOf(schemaWith({ fields, items: list })) ?? {}
  expect(scan?.(JSON.stringify({ list: [{ a: {} }] }))?.readings).toHaveLength(1)
  expect(scan?.(JSON.stringify({ list: same({ a: {} }) }))).toBeUndefined()
})

test('levels of a long topic are found once for all readings of a message', () => {
  const fields = fieldsFrom(10, (index) => `$topic[${index}]`)
  const before = performance.now()
  const topic = '/a'.repeat(32_000)
  const found = mapped({ fields, items: list }, { list: same({}) }, { topic })
  expect(found.readings).toHaveLength(most)
  expect(performance.now() - before).toBeLessThan(4_000)
})

function same<T>(value: T): T[] {
  return Array<T>(most).fill(value)
}

function expectRefusal({ readings, refused }: DecodedMessage, message: string): void {
  expect(readings).toHaveLength(1)
  expect(refused?.get(0)?.message).toContain(message)
}
