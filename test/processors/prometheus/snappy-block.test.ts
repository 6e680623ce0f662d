import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compressed, uncompressed } from '../../../processors/snappy-block.ts'

/** A length as a block begins with it. */
function lengthOf(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

const long = 'x'.repeat(100_000)

describe('a block of Snappy', () => {
  test('of any bytes is these bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(uncompressed(compressed(bytes))).toEqual(Buffer.from(bytes))
      }),
    )
    expect(uncompressed(compressed(Buffer.from(long)))).toEqual(Buffer.from(long))
  })

  test('that is cut off, or changed, is refused, or is no longer than it says', () => {
    const block = Buffer.from(compressed(Buffer.from(long)))
    for (let end = 1; end < block.length; end += 97) {
      expect(typeof uncompressed(block.subarray(0, end))).toBe('string')
    }
    fc.assert(
      fc.property(fc.nat(block.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(block)
        changed[at] = byte
        const found = uncompressed(changed)
        expect(typeof found === 'string' || found.length <= block.length * 22).toBe(true)
      }),
    )
  })

  test.each([
    ['nothing', Buffer.alloc(0), 'it does not begin with a length'],
    ['JSON', Buffer.from('{"a": 1}'), 'not valid Snappy'],
    ['a length without an end', Buffer.alloc(10, 0xff), 'it does not begin with a length'],
    ['a length of more than 32 bits', Buffer.of(0xff, 0xff, 0xff, 0xff, 0x7f), 'does not begin'],
    [
      'the largest length',
      Buffer.of(...lengthOf(2 ** 32 - 1), 0),
      'decompressed it has 4294967295 bytes, and may have 16777216',
    ],
    [
      'a length that its bytes cannot be',
      Buffer.of(...lengthOf(10_000_000), 0, 0, 0),
      'not valid Snappy: 7 bytes cannot be 10000000 bytes',
    ],
    ['a length that is too short', Buffer.of(1, 0x08, 1, 2, 3), 'not what its length says'],
    ['a copy of what is not there', Buffer.of(4, 0x01, 0x00), 'not what its length says'],
  ])('is not %s', (_, bytes, problem) => {
    expect(uncompressed(bytes)).toContain(problem)
  })

  test('that is a bomb is refused before room is made for it', () => {
    const bomb = compressed(Buffer.alloc(20_000_000))
    expect(bomb.length).toBeLessThan(1_000_000)
    expect(uncompressed(bomb)).toBe('decompressed it has 20000000 bytes, and may have 16777216')
    const largest = compressed(Buffer.alloc(16 * 1024 * 1024))
    expect(uncompressed(largest)).toHaveLength(16 * 1024 * 1024)
  })
})
