import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acceptedCoding, type FileCoding } from '../../src/operating/console/accepted-coding.ts'

const all = () => true
const codings = ['br', 'gzip', 'identity'] as const

describe('the coding that is accepted', () => {
  test.each<[string | undefined, FileCoding]>([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip;q=0.001', 'gzip'],
    ['deflate', 'identity'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity, *;q=0', 'identity'],
    ['identity;q=0.5, gzip;q=0.2', 'identity'],
    ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ['br;q=2, gzip', 'gzip'],
    ['*;q=0', 'identity'],
  ])('of %j is %s', (header, coding) => {
    expect(acceptedCoding(header, all)).toBe(coding)
  })

  const weight = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)

  test('is one that there is, and none that is liked less than another', () => {
    const weights = fc.record({ br: weight, gzip: weight, identity: weight })
    fc.assert(
      fc.property(weights, fc.subarray(['br', 'gzip'] as const), (given, compressed) => {
        const header = codings.map((coding) => `${coding};q=${given[coding]}`).join(', ')
        const there: readonly FileCoding[] = [...compressed, 'identity']

        const coding = acceptedCoding(header, (one) => there.includes(one))

        expect(there).toContain(coding)
        const best = Math.max(...there.map((one) => given[one]))
        if (best > 0) expect(given[coding]).toBe(best)
        else expect(coding).toBe('identity')
      }),
    )
  })

  test('is found whatever the header says', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(codings).toContain(acceptedCoding(header, all))
      }),
    )
  })
})
