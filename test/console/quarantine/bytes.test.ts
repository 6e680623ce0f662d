import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesIn, bytesPerLine, hexLines } from '../../../console/src/quarantine/hex-dump.ts'
import { beginning, byteLength, bytesOf } from '../../../console/src/quarantine/payload.ts'
import { visibleParts } from '../../../console/src/quarantine/visible-text.ts'

const bytes = fc.uint8Array({ maxLength: 100 })
const text = fc.string({ unit: 'binary', maxLength: 100 })

describe('a dump', () => {
  test('has every byte, in order, and says where each line begins', () => {
    fc.assert(
      fc.property(bytes, fc.nat(1_000_000), (some, first) => {
        const lines = hexLines(some, first)
        expect([...bytesIn(lines)]).toEqual([...some])
        for (const [at, { offset, characters }] of lines.entries()) {
          expect(Number.parseInt(offset, 16)).toBe(first + at * bytesPerLine)
          expect(characters).toMatch(/^[ -~]{1,16}$/)
        }
      }),
    )
  })

  test('is as people know it', () => {
    expect(hexLines(Uint8Array.of(0, 0x41, 0x7f, 1, 2, 3, 4, 5, 6))).toEqual([
      { offset: '00000000', hex: '00 41 7f 01 02 03 04 05  06', characters: '.A.......' },
    ])
  })
})

describe('the bytes of an entry', () => {
  test('are those that were sent, whichever way they are told', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const payload = Buffer.from(some).toString('base64')
        expect([...bytesOf({ payload, encoding: 'base64' })]).toEqual([...some])
        expect(byteLength({ payload, encoding: 'base64' })).toBe(some.length)
      }),
    )
  })

  test('of a text are counted as they are sent', () => {
    fc.assert(
      fc.property(text, (payload) => {
        expect(byteLength({ payload, encoding: 'utf8' })).toBe(Buffer.byteLength(payload))
        expect(bytesOf({ payload, encoding: 'utf8' }).length).toBe(Buffer.byteLength(payload))
      }),
    )
  })

  test('are cut between two characters', () => {
    fc.assert(
      fc.property(text, fc.nat(100), (whole, length) => {
        const first = beginning(whole, length)
        expect(whole.startsWith(first)).toBe(true)
        expect(first.isWellFormed()).toBe(true)
      }),
    )
    expect(beginning('a😀', 2)).toBe('a')
  })
})

describe('a text that is shown', () => {
  test('hides nothing', () => {
    expect(visibleParts('a\u0000b\u202ec\n\t')).toEqual([
      { text: 'a' },
      { text: '␀', hidden: 'U+0000' },
      { text: 'b' },
      { text: '<202e>', hidden: 'U+202E' },
      { text: 'c\n\t' },
    ])
  })

  test('is the same text where nothing is hidden', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const parts = visibleParts(whole)
        const hidden = parts.filter((part) => part.hidden !== undefined).length
        const rest = parts.filter((part) => part.hidden === undefined).map((part) => part.text)
        expect(rest.join('').length + hidden).toBe(whole.length)
        expect(['\u0000', '\u202e'].some((sign) => rest.join('').includes(sign))).toBe(false)
      }),
    )
  })
})
