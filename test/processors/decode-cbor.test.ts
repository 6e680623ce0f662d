import { describe, expect, test } from 'vitest'
import { decodeCbor } from '../../processors/decode-cbor.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import { hex, readingsOf } from '../support/binary-messages.ts'

/** A map of one member with the key `a`, up to its value. */
const map = 'a16161'

const nowhere = 'is cut off'

describe('cbor', () => {
  test.each([
    ['an integer in more bytes than it needs', '1b0000000000000007', 7],
    ['2^53', '1b0020000000000000', 2 ** 53],
    ['-2^53', '3b001fffffffffffff', -(2 ** 53)],
    ['a half', 'f93e00', 1.5],
    ['a float of 32 bits', 'fa41ac0000', 21.5],
    ['a float of 64 bits', 'fb7e37e43c8800759c', 1e300],
    ['an array of unknown length', '9f0102ff', [1, 2]],
    ['a map of unknown length', 'bf616201ff', { b: 1 }],
    ['a text with a byte order mark', '64efbbbf78', '\ufeffx'],
    ['a text with a replacement character', '63efbfbd', '\uFFFD'],
    ['a length in more bytes than it needs', '7a0000000178', 'x'],
    ['a time as text', 'c074323032362d30312d30315430303a30303a30305a', '2026-01-01T00:00:00Z'],
    ['a time in seconds', 'c11a69559500', '2025-12-31T21:26:24.000000Z'],
    ['a time in fractions', 'c1fb41da556540100000', '2025-12-31T21:26:24.250000Z'],
    ['a time before 1970', 'c120', '1969-12-31T23:59:59.000000Z'],
  ])('reads %s', (_, value, expected) => {
    expect(readingsOf(decodeCbor(hex(map + value)))).toEqual([{ a: expected }])
  })

  test('reads a batch of unknown length, and keeps the bytes of its elements', () => {
    const message = hex('9f a1616101 bf616102ff 07 ff')

    const { elements, readings } = decodeCbor(message) as DecodedMessage
    expect(readings).toEqual([{ a: 1 }, { a: 2 }, 7])
    expect(elements?.(message).map((bytes) => Uint8Array.from(bytes))).toEqual(
      ['a1616101', 'bf616102ff', '07'].map((text) => Uint8Array.from(hex(text))),
    )
  })

  test('takes no more readings than one message may carry from a batch of unknown length', () => {
    expect(decodeCbor(hex(`9f${'a0'.repeat(10_000)}ff`)).ok).toBe(true)
    expect(decodeCbor(hex(`9f${'a0'.repeat(10_001)}ff`))).toMatchObject({
      problem: expect.stringContaining('10000'),
    })
  })

  test.each([
    ['nothing', '', nowhere],
    ['a map without its member', 'a1', nowhere],
    ['a member without its value', map, nowhere],
    ['an array of unknown length without its end', '9fa0', nowhere],
    ['an array that announces 2^32 elements', '9affffffffa0', nowhere],
    ['an array that announces 2^53 elements', '9b001fffffffffffff', nowhere],
    ['an array that announces 2^64 elements', '9bffffffffffffffff', 'lengths not supported'],
    ['a map that announces 2^32 members', 'baffffffff6161', nowhere],
    ['a text that announces 2^32 bytes', `${map}7affffffff61`, 'enough data'],
    ['bytes that announce 2^32 of them', `${map}5affffffff61`, 'enough data'],
    ['a text of unknown length', `${map}7f6161ff`, 'not valid CBOR'],
    ['an end without a beginning', `${map}ff`, 'an end'],
    ['an end between key and value', 'bf6161ff', 'an end'],
    ['an end within an array of known length', '82a0ff', 'an end'],
    ['undefined', `${map}f7`, 'undefined'],
    ['a simple value', `${map}f820`, 'simple values'],
    ['a reserved length', `${map}1c`, 'not valid CBOR'],
    ['a number as a key', 'a10102', 'a key that is not a text'],
    ['bytes as a key', 'a1416101', 'byte strings'],
    ['an array as a key', 'a18001', 'a key that is not a text'],
    ['a key twice', 'a2616101616102', 'the same key twice'],
    ['a key twice deep inside', 'a16161a2616101616102', 'the same key twice'],
    ['__proto__ twice', 'a2695f5f70726f746f5f5f01695f5f70726f746f5f5f02', 'the same key twice'],
    ['text that is not UTF-8', `${map}61ff`, 'UTF-8'],
    ['a surrogate', `${map}63eda080`, 'UTF-8'],
    ['an overlong form', `${map}62c0af`, 'UTF-8'],
    ['a key that is not UTF-8', 'a161ff01', 'UTF-8'],
    ['a big number', `${map}c249010000000000000000`, 'tag 2'],
    ['a tag of 64 bits', `${map}dbffffffffffffffff01`, 'tag 18446744073709551615'],
    ['a time that is a number by its tag, and a text', `${map}c16161`, 'tag 1'],
    ['a time that is a text by its tag, and a number', `${map}c001`, 'tag 0'],
    ['a time that is not finite', `${map}c1f97e00`, 'years 0001 to 9999'],
    ['a time beyond the year 9999', `${map}c11b000000ffffffffff`, 'years 0001 to 9999'],
    ['a time in a time', `${map}c1c101`, 'a tag within a tag'],
    ['a million tags in each other', map + 'c1'.repeat(1_000_000), 'a tag within a tag'],
    ['a tag around nothing', `${map}c1`, nowhere],
  ])('refuses %s', (_, message, reason) => {
    expect(decodeCbor(hex(message))).toEqual({
      ok: false,
      problem: expect.stringContaining(reason),
    })
  })
})
