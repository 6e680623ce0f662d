import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../src/core/list-cursor.ts'

describe('a cursor', () => {
  test('leads back to its place', () => {
    const places = fc.record({
      createdAtUs: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
      id: fc.oneof(fc.uuid(), fc.constant('sv_live_0a1b2c3d4e5f60718293a4b5')),
    })
    fc.assert(
      fc.property(places, (place) => {
        expect(decodeCursor(encodeCursor(place))).toEqual(place)
      }),
    )
  })

  test('has one spelling', () => {
    const cursor = encodeCursor({ createdAtUs: 7, id: '00000000-0000-4000-8000-000000000000' })

    for (const other of [`${cursor}=`, `${cursor} `, ` ${cursor}`, `${cursor}!`]) {
      expect(decodeCursor(other)).toBeUndefined()
    }
  })

  test('is refused when it is any other text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(decodeCursor(text)).toBeUndefined()
      }),
    )
  })
})
