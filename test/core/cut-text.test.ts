import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText } from '../../src/core/cut-text.ts'

test('a text that is cut is the longest beginning without half a character', () => {
  const text = fc.string({ unit: 'grapheme-composite', maxLength: 40 })
  fc.assert(
    fc.property(text, fc.nat(40), (whole, lengthMax) => {
      const cut = cutText(whole, lengthMax)
      expect(cut.isWellFormed()).toBe(true)
      expect(whole.startsWith(cut)).toBe(true)
      const isLongest = cut.length === Math.min(whole.length, lengthMax)
      const isBeforePair =
        cut.length === lengthMax - 1 && /^[\uD800-\uDBFF]/.test(whole.slice(cut.length))
      expect(isLongest || isBeforePair).toBe(true)
    }),
  )
})
