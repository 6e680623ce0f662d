import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DiffLine, excerptOf, lineDiff } from '../../../console/src/formats/line-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 })

function textsOf(diff: readonly DiffLine[], without: DiffLine['is']): readonly string[] {
  return diff.filter(({ is }) => is !== without).map(({ text }) => text)
}

/** The length of the longest list that both have in their order: what a shortest difference keeps. */
function commonLength(left: readonly string[], right: readonly string[]): number {
  let before: number[] = Array.from({ length: right.length + 1 }, () => 0)
  for (const one of left) {
    const row = [0]
    for (const [at, other] of right.entries()) {
      const longer = Math.max(before[at + 1] ?? 0, row[at] ?? 0)
      row.push(one === other ? (before[at] ?? 0) + 1 : longer)
    }
    before = row
  }
  return before.at(-1) ?? 0
}

function changes(some: readonly { readonly is: string }[]) {
  return some.filter(({ is }) => is === 'gone' || is === 'new')
}

describe('the difference of two texts', () => {
  test('makes either of the other', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = lineDiff(before, after)
        expect(textsOf(diff, 'new')).toEqual(before)
        expect(textsOf(diff, 'gone')).toEqual(after)
      }),
      { numRuns: 2_000 },
    )
  })

  test('keeps as many lines as can be kept', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const kept = lineDiff(before, after).filter(({ is }) => is === 'same').length
        expect(kept).toBe(commonLength(before, after))
      }),
    )
  })

  test('of texts that have little in common is still one', () => {
    const before = Array.from({ length: 3_000 }, (_, at) => `before ${at}`)
    const after = Array.from({ length: 3_000 }, (_, at) => `after ${at}`)
    const diff = lineDiff(before, after)

    expect(textsOf(diff, 'new')).toEqual(before)
    expect(textsOf(diff, 'gone')).toEqual(after)
  })

  test('leaves out what is far from a change, and says how much', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = lineDiff(before, after)
        const excerpt = excerptOf(diff, 1)
        const count = excerpt.reduce((sum, one) => sum + (one.is === 'left-out' ? one.count : 1), 0)
        expect(count).toBe(diff.length)
        expect(changes(excerpt)).toEqual(changes(diff))
      }),
    )
  })
})
