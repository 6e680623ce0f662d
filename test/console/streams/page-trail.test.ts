import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  endsEarly,
  firstPage,
  pageAfter,
  pageBefore,
  type Trail,
  trailMax,
  trailOf,
  wordsOf,
} from '../../../console/src/pages/streams/page-trail.ts'

const cursor = fc.stringMatching(/^[\w-]{1,60}$/).filter((text) => text !== '-')

/** As it comes out of an address that it was put into. */
function throughAddress(trail: Trail): Trail {
  const pairs = Object.entries(wordsOf(trail)).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(pairs as [string, string][]).toString()
  return trailOf(Object.fromEntries(new URLSearchParams(text)))
}

test('as many pages back as forward lead to where one was', () => {
  fc.assert(
    fc.property(fc.uniqueArray(cursor, { maxLength: trailMax }), (cursors) => {
      const way: Trail[] = [firstPage]
      for (const next of cursors) way.push(throughAddress(pageAfter(way.at(-1) ?? firstPage, next)))

      let back: Trail | undefined = way.at(-1)
      for (const trail of way.toReversed()) {
        expect(back).toEqual(trail)
        back = back && pageBefore(throughAddress(back))
      }
      expect(back).toBeUndefined()
    }),
  )
})

test('an address stays short however far one goes', () => {
  let trail = firstPage
  for (let page = 0; page < 500; page += 1) trail = pageAfter(trail, `cursor-${page}`)
  expect(trail.page).toBe(501)
  expect(trail.before).toHaveLength(trailMax)
  expect(wordsOf(trail).before?.length).toBeLessThan(20 * 12)
})

test('what is no page is the first one', () => {
  for (const page of ['', '0', '1', '-3', '1.5', 'x']) {
    expect(trailOf({ page, cursor: 'c' })).toEqual(firstPage)
  }
  expect(trailOf({ page: '7' })).toEqual(firstPage)
})

test('a list ends early only where streams are left and no page follows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(10_000), (page, total) => {
      expect(endsEarly(page, undefined, total)).toBe(total > page * 100)
      expect(endsEarly(page, 'next', total)).toBe(false)
      expect(endsEarly(page, undefined)).toBe(false)
    }),
  )
})
