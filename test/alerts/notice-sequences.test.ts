import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NoticeSequences } from '../../src/alerts/notice-sequences.ts'

/** More rules than a stream can have had are forgotten: few of these are. */
const ruleIds = fc.integer({ min: 0, max: 400 }).map((index) => `rule-${index}`)

test('no number comes twice or goes back, however many rules come and go, over restarts', () => {
  const steps = fc.array(fc.tuple(ruleIds, fc.boolean()), { maxLength: 2_000 })
  fc.assert(
    fc.property(steps, (all) => {
      let sequences = new NoticeSequences()
      const newest = new Map<string, number>()
      for (const [ruleId, isRestarted] of all) {
        if (isRestarted) sequences = new NoticeSequences(sequences.text)
        const sequence = sequences.next(ruleId)
        expect(sequence).toBeGreaterThan(newest.get(ruleId) ?? 0)
        newest.set(ruleId, sequence)
      }
    }),
    { numRuns: 50 },
  )
})

test('as many rules as a stream can have, four times over, are numbered without a gap', () => {
  let sequences = new NoticeSequences()
  for (let round = 1; round <= 20; round++) {
    for (let rule = 0; rule < 200; rule++) expect(sequences.next(`rule-${rule}`)).toBe(round)
    sequences = new NoticeSequences(sequences.text)
  }
})

test('what is kept has an end', () => {
  const sequences = new NoticeSequences()
  for (let rule = 0; rule < 100_000; rule++) sequences.next(`rule-${rule}`)
  expect(sequences.text.length).toBeLessThan(10_000)
})

test('a stream of the release before begins with 1', () => {
  expect(new NoticeSequences('{}').next('hot')).toBe(1)
})
