import { describe, expect, test } from 'vitest'
import { decodeMsgpack } from '../../processors/decode-msgpack.ts'
import { hex, readingsOf } from '../support/binary-messages.ts'

/** A map of one member with the key `a`, up to its value. */
const map = '81a161'

const nowhere = 'is cut off'

describe('msgpack', () => {
  test.each([
    ['the largest small integer', '7f', 127],
    ['the smallest one', 'e0', -32],
    ['integers of 8 bits', '92ccffd080', [255, -128]],
    ['integers of 16 bits', '92cdffffd18000', [65_535, -32_768]],
    ['integers of 32 bits', '92ceffffffffd280000000', [4_294_967_295, -2_147_483_648]],
    ['2^53', 'cf0020000000000000', 2 ** 53],
    ['-2^53', 'd3ffe0000000000000', -(2 ** 53)],
    ['a float of 32 bits', 'ca41ac0000', 21.5],
    ['a float of 64 bits', 'cb7e37e43c8800759c', 1e300],
    ['texts of all lengths', '94a178d90178da000178db0000000178', ['x', 'x', 'x', 'x']],
    ['arrays of all lengths', '93 9101 dc000101 dd0000000101', [[1], [1], [1]]],
    ['maps of both lengths', '92 de0001a16201 df00000001a16201', [{ b: 1 }, { b: 1 }]],
    ['true, false and nil', '93c3c2c0', [true, false, null]],
    ['a text with a byte order mark', 'a4efbbbf78', '\ufeffx'],
    ['a time in 32 bits', 'd6ff69559500', '2025-12-31T21:26:24.000000Z'],
    ['a time in 64 bits', 'd7ff0000000469559500', '2025-12-31T21:26:24.000000Z'],
    ['a time in 96 bits', 'c70cff000003e80000000069559500', '2025-12-31T21:26:24.000001Z'],
    ['the end of a second', 'c70cff3b9ac9ff0000000069559500', '2025-12-31T21:26:24.999999Z'],
    ['a time before 1970', 'c70cff00000000ffffffffffffffff', '1969-12-31T23:59:59.000000Z'],
  ])('reads %s', (_, value, expected) => {
    expect(readingsOf(decodeMsgpack(hex(map + value)))).toEqual([{ a: expected }])
  })

  test.each([
    ['nothing', '', nowhere],
    ['a map without its member', '81', nowhere],
    ['a member without its value', map, nowhere],
    ['an array that announces 2^32 elements', 'ddffffffff80', nowhere],
    ['a map that announces 2^32 members', 'dfffffffffa161', nowhere],
    ['a map that announces more members than there are bytes', 'de0003a16101a16201', nowhere],
    ['a text that announces 2^32 bytes', `${map}dbffffffff61`, nowhere],
    ['bytes that announce 2^32 of them', `${map}c6ffffffff61`, 'byte strings'],
    ['an extension that announces 2^32 bytes', `${map}c9ffffffffff`, 'extension'],
    ['the byte that begins nothing', `${map}c1`, 'begins nothing'],
    ['bytes', `${map}c40178`, 'byte strings'],
    ['an extension', `${map}d60500000000`, 'extension type 5'],
    ['a number as a key', '810102', 'a key that is not a text'],
    ['an array as a key', '819001', 'a key that is not a text'],
    ['nil as a key', '81c001', 'a key that is not a text'],
    ['a key twice', '82a16101a16102', 'the same key twice'],
    ['a key twice in two spellings', '82a16101d9016102', 'the same key twice'],
    ['text that is not UTF-8', `${map}a1ff`, 'UTF-8'],
    ['a surrogate', `${map}a3eda080`, 'UTF-8'],
    ['a key that is not UTF-8', '81a1ff01', 'UTF-8'],
    [
      'a time with a thousand million nanoseconds',
      `${map}c70cff3b9aca000000000069559500`,
      'nanoseconds',
    ],
    ['a time beyond the year 9999', `${map}c70cff00000000000000ffffffffff`, 'years 0001 to 9999'],
    ['a time of another length', `${map}c705ff0000000000`, 'no 5 bytes'],
    ['a time that is cut off', `${map}d7ff00000000`, nowhere],
  ])('refuses %s', (_, message, reason) => {
    expect(decodeMsgpack(hex(message))).toEqual({
      ok: false,
      problem: expect.stringContaining(reason),
    })
  })
})
