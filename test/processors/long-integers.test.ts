import { expect, test } from 'vitest'
import { decoderOf } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { mapperOf } from '../../processors/mapping/mapper.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000

/** What is stored of a message, or why it is not. */
function storedOf(
  schema: StreamSchema,
  text: string,
  format: 'json' | 'ndjson' = 'json',
): readonly unknown[] {
  const decoded = decoderOf(format, { schema })(Buffer.from(text))
  if (!decoded.ok) return [decoded.problem]
  const found = mapperOf(schema)?.(decoded, {}) ?? decoded
  const judge = judgeOf(schema)
  return found.readings.map((reading, index) => {
    const problem = found.unreadable?.get(index)
    if (problem !== undefined) return problem
    const verdict = judge(reading, { receivedAtUs, futureToleranceUs: 0 })
    if (!verdict.accepted) return verdict.message
    return verdict.isFiltered === true
      ? 'filtered'
      : [verdict.timestampUs, verdict.values, verdict.extra]
  })
}

const schema: StreamSchema = {
  fields: { v: { type: 'number', from: 'value' } },
  validation: 'lenient',
  timestampField: 't',
  timestampFormat: 'epoch_ns',
  time: { isRequired: true },
}

const nanoseconds = '1769853590123456789'
const us = 1_769_853_590_123_456

test.each(['json', 'ndjson'] as const)(
  'nanoseconds as a number are read by all their digits: %s',
  (format) => {
    expect(storedOf(schema, `{"t":${nanoseconds},"value":1}`, format)).toEqual([
      [us, '{"v":1}', ''],
    ])
  },
)

test('nanoseconds are read where there is no mapping', () => {
  const flat = { ...schema, fields: { value: { type: 'number' } } } as const
  expect(storedOf(flat, `[{"t":${nanoseconds},"value":1},{"t":${nanoseconds},"value":2}]`)).toEqual(
    [
      [us, '{"value":1}', ''],
      [us, '{"value":2}', ''],
    ],
  )
})

test('an integer that no path reads is kept as the text of its digits', () => {
  expect(storedOf(schema, `{"t":${nanoseconds},"value":1,"id":-9223372036854775807}`)).toEqual([
    [us, '{"v":1}', '{"id":"-9223372036854775807"}'],
  ])
})

test('an integer that a field would round refuses the reading, and no other', () => {
  const items = { ...schema, items: [{ path: 'list', as: 'list' as const }] }
  const message = `{"list":[{"t":${nanoseconds},"value":9007199254740993},{"t":${nanoseconds},"value":2}]}`
  expect(storedOf(items, message)).toEqual([expect.stringContaining('v '), [us, '{"v":2}', '']])
})

test('an integer refuses what it stands in where no path leads around it', () => {
  const flat = {
    ...schema,
    fields: { value: { type: 'number' } },
    timestampFormat: 'epoch_ms',
  } as const
  expect(storedOf(flat, '{"value":1,"id":9223372036854775807}')).toEqual([
    "the integer 9223372036854775807 at 'id' is beyond 2^53 and would be rounded",
  ])
})
