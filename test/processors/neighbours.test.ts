import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders, textMemberOf } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { scanOf } from '../../processors/scan.ts'
import type { DecodedMessage, Verdict } from '../../src/contracts/reading.ts'
import { judgeMessage } from '../../src/ingest/pipeline/intake.ts'
import { batchFormats, elementsOf } from '../support/neighbours.ts'

const schema = {
  fields: { level: { type: 'number' }, note: { type: 'string' } },
  validation: 'strict',
  timestampField: 'timestamp',
  timestampFormat: 'rfc3339',
} as const
const judge = judgeOf(schema)
const receivedAtUs = 1_767_225_600_000_000

function verdictsOf(message: DecodedMessage): readonly Verdict[] {
  return judgeMessage({ judge } as Parameters<typeof judgeMessage>[0], message, receivedAtUs)
}

/** Verdicts do not tell when a reading came: a batch has each a microsecond later. */
function timeless(verdict: Verdict | undefined): object {
  return { ...verdict, timestampUs: undefined }
}

describe.each(batchFormats.map((format) => [format.name, format] as const))(
  '%s',
  (name, format) => {
    const decode = (payload: Uint8Array) => decoders[name](payload, scanOf(schema))

    test('an element is judged among others as it is alone, whatever they are', () => {
      fc.assert(
        fc.property(elementsOf(format), (elements) => {
          const payload = format.join(elements.map(({ bytes }) => bytes))
          const message = decode(payload) as DecodedMessage
          expect(message).toMatchObject({ ok: true, isBatch: true })

          const verdicts = verdictsOf(message)
          expect(verdicts.map(({ accepted }) => accepted)).toEqual(
            elements.map(({ isGood }) => isGood),
          )
          const alone = elements.map(({ bytes }) => {
            const decoded = decode(bytes)
            return decoded.ok ? verdictsOf(decoded)[0] : { message: decoded.problem }
          })
          for (const [index, { isGood }] of elements.entries()) {
            if (isGood) expect(timeless(verdicts[index])).toEqual(timeless(alone[index] as Verdict))
            else expect(verdicts[index]).toMatchObject({ reason: 'malformed' })
          }
        }),
        { numRuns: 400 },
      )
    })

    test('an element that is refused is kept byte for byte', () => {
      fc.assert(
        fc.property(elementsOf(format), (elements) => {
          const payload = format.join(elements.map(({ bytes }) => bytes))
          const message = decode(payload) as DecodedMessage

          expect((message.elements?.(payload) ?? []).map(hexOf)).toEqual(
            elements.map(({ bytes }) => hexOf(bytes)),
          )
        }),
        { numRuns: 200 },
      )
    })

    test('a refused element gives the same reason as a message of its own', () => {
      fc.assert(
        fc.property(format.bad, (bad) => {
          const payload = format.join([bad, format.encode({ level: 1 })])
          const { unreadable } = decode(payload) as DecodedMessage
          const alone = decode(bad)
          const problem = alone.ok ? alone.unreadable?.get(0) : alone.problem

          expect([...(unreadable ?? [])]).toEqual([[0, problem]])
        }),
      )
    })

    test('a stream is found in what may not be stored, if it is named once', () => {
      const good = format.encode({ level: 1, streamId: 'one', note: '"streamId":"two"' })
      expect(textMemberOf(name, good, 'streamId')).toBe('one')
      expect(textMemberOf(name, format.encode({ a: { streamId: 'one' } }), 'streamId')).toBe(
        undefined,
      )
      expect(textMemberOf(name, format.encode({ streamId: 1 }), 'streamId')).toBe(undefined)
      fc.assert(
        fc.property(format.bad, (bad) => {
          expect(textMemberOf(name, bad, 'streamId')).toBe(undefined)
        }),
      )
    })

    test('a batch that is cut off anywhere is refused whole', () => {
      const [first = 0, ...rest] = format.join([
        format.encode({ level: 1 }),
        format.encode({ level: 2 }),
      ])
      const message = Buffer.of(first, ...rest)
      // Each line of NDJSON is for itself.
      if (name === 'ndjson') return
      for (let end = 0; end < message.length; end++) {
        expect(decode(message.subarray(0, end)).ok).toBe(false)
      }
    })
  },
)

test.each([
  ['json', '[{"level":1}, {"level":NaN} ,{"z":[-Infinity]},NaN,{"level":2}]'],
  ['ndjson', '{"level":1}\n {"level":NaN} \n{"z":[-Infinity]}\nNaN\n{"level":2}'],
] as const)(
  '%s: what JSON cannot write refuses its reading alone, as it was sent',
  (name, text) => {
    const payload = Buffer.from(text)
    const message = decoders[name](payload, scanOf(schema)) as DecodedMessage
    const verdicts = verdictsOf(message)
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false, false, false, true])
    expect(verdicts[1]).toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('NaN'),
    })
    const elements = (message.elements?.(payload) ?? []).map((one) => Buffer.from(one).toString())
    expect(elements.slice(1, 4)).toEqual(['{"level":NaN}', '{"z":[-Infinity]}', 'NaN'])
  },
)

test.each([
  ['json', Buffer.from('{"a":1,"streamId":"one","a":2}')],
  ['json', Buffer.from('{"a":"\\ud800","\\u0073treamId": "one"}')],
  ['json', Buffer.from('{"a":NaN,"streamId":"one","a":2}')],
  ['ndjson', Buffer.from('{"a":9007199254740993,"streamId":"one"}')],
  ['cbor', Buffer.from('a3616101616102687374 7265616d4964636f6e65'.replace(' ', ''), 'hex')],
  ['cbor', Buffer.from('bf0101687374 7265616d4964636f6e65ff'.replace(' ', ''), 'hex')],
  ['msgpack', Buffer.from('83a16101a16102a87374 7265616d4964a36f6e65'.replace(' ', ''), 'hex')],
] as const)('%s: the stream of %o is found', (format, reading) => {
  expect(textMemberOf(format, reading, 'streamId')).toBe('one')
})

test.each([
  ['json', Buffer.from('{"streamId":"one","streamId":"one"}')],
  ['ndjson', Buffer.from('{"streamId":"one"')],
  ['cbor', Buffer.from('a26873747265616d4964636f6e656873747265616d4964636f6e65', 'hex')],
  ['msgpack', Buffer.from('82a873747265616d4964a36f6e65a873747265616d4964a36f6e65', 'hex')],
] as const)('%s: nobody knows the stream of %o', (format, reading) => {
  expect(textMemberOf(format, reading, 'streamId')).toBe(undefined)
})

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
