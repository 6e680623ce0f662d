import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ErrorReply,
  LargeText,
  type Reply,
  ReplyReader,
  ReplyTooLarge,
  textBytesMax,
} from '../../connectors/redis-stream/replies.ts'

const line = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .map((text) => text.replace(/[\r\n]/g, ''))

const replies = fc.letrec<{ reply: Reply; leaf: Reply; array: readonly Reply[] }>((tie) => ({
  reply: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('array')),
  array: fc.array(tie('reply'), { maxLength: 5 }),
  leaf: fc.oneof(
    fc.constant(null),
    fc.maxSafeInteger().filter((number) => Math.abs(number) < 1e15),
    line,
    line.map((text) => new ErrorReply(text)),
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  ),
})).reply

/** As a server writes it. */
function written(reply: Reply): Buffer {
  if (reply === null) return Buffer.from('$-1\r\n')
  if (typeof reply === 'number') return Buffer.from(`:${reply}\r\n`)
  if (typeof reply === 'string') return Buffer.from(`+${reply}\r\n`)
  if (reply instanceof ErrorReply) return Buffer.from(`-${reply.text}\r\n`)
  if (reply instanceof LargeText) throw new Error('a server writes all of it')
  if (reply instanceof Uint8Array) {
    return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from('\r\n')])
  }
  return Buffer.concat([Buffer.from(`*${reply.length}\r\n`), ...reply.map(written)])
}

function read(chunks: readonly Buffer[]): readonly Reply[] {
  const found: Reply[] = []
  const reader = new ReplyReader((reply) => found.push(reply))
  for (const chunk of chunks) reader.read(chunk)
  return found
}

function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).toSorted((one, two) => one - two)
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length))
}

describe('answers of Redis', () => {
  test('are read as they were written, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(replies, { maxLength: 5 }), fc.array(fc.nat()), (all, places) => {
        expect(read(cut(Buffer.concat(all.map(written)), places))).toEqual(all)
      }),
    )
  })

  test('are not found in any bytes, nor is anything else thrown than an Error', () => {
    const symbols = fc.constantFrom(...'$*+-:_>~%=\r\n0123456789\0\xff'.split(''), '\r\n', '\r\n')
    fc.assert(
      fc.property(fc.array(symbols), fc.array(fc.nat()), (text, places) => {
        try {
          read(cut(Buffer.from(text.join(''), 'latin1'), places))
        } catch (error) {
          expect(String(error)).toMatch(/^Error: what answers there does not speak as Redis does$/)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['a line without an end', ['+', 'a'.repeat(20_000)]],
    ['arrays in arrays', ['*1\r\n'.repeat(100)]],
    ['a text that is longer than was said', ['$1\r\nab\r\n']],
    ['what another protocol says', ['HTTP/1.1 400 Bad Request\r\n']],
    ['RESP3, which nobody has asked for', ['%1\r\n+a\r\n+b\r\n']],
    ['a length that is no number', ['$1e3\r\n']],
    ['less than nothing', ['*-2\r\n']],
  ])('are not %s', (_, texts) => {
    expect(() => read(texts.map((text) => Buffer.from(text)))).toThrow(/as Redis does/)
  })

  test('keep the beginning of a text that is too large, and go on behind it', () => {
    const bytes = textBytesMax + 1
    const large = [`$${bytes}\r\n`, 'a'.repeat(bytes - 1), 'b\r\n', '+next\r\n']
    const [text, next] = read(large.map((part) => Buffer.from(part)))
    expect(text).toBeInstanceOf(LargeText)
    expect(text).toMatchObject({ bytes, beginning: Buffer.alloc(64 * 1024, 'a') })
    expect(next).toBe('next')
  })

  test.each([
    [
      'texts',
      Buffer.concat([
        Buffer.from(`$${textBytesMax}\r\n`),
        Buffer.alloc(textBytesMax),
        Buffer.from('\r\n'),
      ]),
    ],
    ['nothing', Buffer.from('$-1\r\n'.repeat(10_000))],
  ])('do not fill the memory with %s', (_, part) => {
    const reader = new ReplyReader(() => undefined)
    reader.read(Buffer.from('*1000000000000\r\n'))
    expect(() => {
      for (let count = 0; count < 1_000; count++) reader.read(part)
    }).toThrow(ReplyTooLarge)
  })
})
