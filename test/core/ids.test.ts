import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, parseId, type StreamId, uuidAt, uuidBytes } from '../../src/core/ids.ts'

describe('parseId', () => {
  test('takes any uuid', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parseId(uuid)).toBe(uuid)
      }),
    )
  })

  test('folds upper-case hex, so that one id has one spelling', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parseId(uuid.toUpperCase())).toBe(uuid)
      }),
    )
  })

  test.each([
    '',
    'boiler',
    '0123456789abcdef0123456789abcdef',
    '{01234567-89ab-4def-8123-456789abcdef}',
    '01234567-89ab-4def-8123-456789abcdeg',
    '01234567-89ab-4def-8123-456789abcde',
    '01234567-89ab-4def-8123-456789abcdef0',
    ' 01234567-89ab-4def-8123-456789abcdef',
    '01234567-89ab-4def-8123-456789abcdef\n',
    '01234567-89ab-4def-8123-456789abcdef/../x',
  ])('refuses %j', (text) => {
    expect(parseId(text)).toBeUndefined()
  })
})

describe('newId', () => {
  test('makes ids that differ and can be parsed', () => {
    const ids = Array.from({ length: 100 }, () => newId<StreamId>())

    expect(new Set(ids).size).toBe(100)
    expect(ids.map((id) => parseId(id))).toEqual(ids)
  })
})

describe('uuidBytes and uuidAt', () => {
  test('turn an id into 16 bytes and back, at any offset', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(20), (uuid, offset) => {
        const bytes = uuidBytes(uuid as StreamId)
        const within = Buffer.concat([Buffer.alloc(offset, 0xaa), bytes, Buffer.alloc(3, 0xbb)])

        expect(bytes).toHaveLength(16)
        expect(uuidAt(within, offset)).toBe(uuid)
      }),
    )
  })
})
