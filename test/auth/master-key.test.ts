import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'

const key = new MasterKey(Buffer.alloc(32, 1))
const otherKey = new MasterKey(Buffer.alloc(32, 2))
const texts = fc.string({ unit: 'grapheme' })

describe('MasterKey', () => {
  test.each([0, 16, 31, 33, 64])('is refused with %i bytes', (length) => {
    expect(() => new MasterKey(Buffer.alloc(length))).toThrow('32 bytes')
  })

  test('is made of 32 bytes, never the same ones', () => {
    const made = [MasterKey.generate(), MasterKey.generate()]

    expect(made.map(({ length }) => length)).toEqual([32, 32])
    expect(made[0]).not.toEqual(made[1])
  })
})

describe('digest', () => {
  test('is 256 bits in hex, the same for the same key and secret', () => {
    const sameKey = new MasterKey(Buffer.alloc(32, 1))

    expect(key.digest('secret')).toMatch(/^[0-9a-f]{64}$/)
    expect(sameKey.digest('secret')).toBe(key.digest('secret'))
  })

  test('is another one under another key', () => {
    expect(otherKey.digest('secret')).not.toBe(key.digest('secret'))
  })

  test('matches its secret and no other', () => {
    fc.assert(
      fc.property(texts, texts, (secret, guess) => {
        const digest = key.digest(secret)

        expect(key.matches(secret, digest)).toBe(true)
        expect(key.matches(guess, digest)).toBe(guess === secret)
        expect(otherKey.matches(secret, digest)).toBe(false)
      }),
    )
  })
})

describe('encrypt', () => {
  test('is undone by decrypt', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(key.decrypt(key.encrypt(text))).toBe(text)
      }),
    )
  })

  test('never gives the same bytes twice', () => {
    expect(key.encrypt('secret')).not.toEqual(key.encrypt('secret'))
  })

  test('shows nothing of the text', () => {
    expect(key.encrypt('a private key').includes('private')).toBe(false)
  })

  test('detects any changed byte', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, place, change) => {
        const bytes = key.encrypt(text)
        const at = place % bytes.length
        bytes[at] = (bytes[at] ?? 0) ^ change

        expect(() => key.decrypt(bytes)).toThrow()
      }),
    )
  })

  test('detects any missing byte at the end, be it of the tag', () => {
    fc.assert(
      fc.property(fc.constantFrom('', 'x', 'a secret'), fc.nat(), (text, place) => {
        const bytes = key.encrypt(text)

        expect(() => key.decrypt(bytes.subarray(0, place % bytes.length))).toThrow()
      }),
    )
  })

  test('cannot be undone with another key', () => {
    expect(() => otherKey.decrypt(key.encrypt('secret'))).toThrow()
  })
})
