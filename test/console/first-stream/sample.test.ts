import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleOf } from '../../../console/src/first-stream/sample.ts'

const message = fc.dictionary(fc.string(), fc.jsonValue())

describe('a pasted sample', () => {
  test('is nothing where nothing is pasted', () => {
    expect(sampleOf(' \n ', '')).toBeUndefined()
  })

  test('is one message, however it is laid out', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const asked = sampleOf(JSON.stringify(value, null, indent), '')
        expect(asked?.question).toEqual({ body: { samples: [JSON.parse(JSON.stringify(value))] } })
        expect(JSON.parse(asked?.first ?? '')).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('is as many messages as a list, or as lines, have', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 2, maxLength: 8 }),
        fc.boolean(),
        (values, isList) => {
          const text = isList
            ? JSON.stringify(values)
            : values.map((one) => JSON.stringify(one)).join('\r\n')
          const samples: unknown = JSON.parse(JSON.stringify(values))
          expect(sampleOf(text, '')?.question).toEqual({ body: { samples } })
        },
      ),
    )
  })

  test('is messages of a topic as they were sent, where there is one', () => {
    const text = '{"t":1}\n{"t":2}'
    expect(sampleOf(text, 'plant/7')?.question).toEqual({
      body: {
        messages: [
          { topic: 'plant/7', payload: '{"t":1}', encoding: 'utf8' },
          { topic: 'plant/7', payload: '{"t":2}', encoding: 'utf8' },
        ],
      },
    })
  })

  test('is a table where lines have as many commas as their head', () => {
    const text = 'timestamp,temperature\n2026-01-31T10:00:00Z,21.5\n2026-01-31T10:01:00Z,21.6'
    expect(sampleOf(text, '')).toEqual({
      question: { raw: { type: 'text/csv', content: text } },
      first: 'timestamp,temperature\n2026-01-31T10:00:00Z,21.5',
      contentType: 'text/csv',
    })
  })

  test('is texts, where it is none of these', () => {
    expect(sampleOf('21.5;40', '')?.question).toEqual({
      body: { messages: [{ payload: '21.5;40', encoding: 'utf8' }] },
    })
  })

  test('never asks for more than a hundred messages', () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 300 }), (lines) => {
        const asked = sampleOf('{"a":1}\n'.repeat(lines), '')?.question
        expect(asked).toEqual({ body: { samples: Array.from({ length: 100 }, () => ({ a: 1 })) } })
      }),
    )
  })
})
