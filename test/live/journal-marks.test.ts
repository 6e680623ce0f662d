import { expect, test } from 'vitest'
import { JournalMarks, markAt, noMark } from '../../src/reading/live/journal-marks.ts'

test('marks of the oldest entries are forgotten when there are too many bytes of entries', () => {
  const marks = new JournalMarks(100_000)
  marks.beginAt(7)
  for (let entry = 0; entry < 300_000; entry++) marks.add(entry % 3 === 0 ? 5 : noMark, 1)

  expect(marks.next).toBe(300_007)
  // Whole segments of 65,536 entries go.
  expect(marks.first).toBeGreaterThan(7)
  expect(marks.next - marks.first).toBeLessThanOrEqual(2 * 65_536)
  const found = [...marks.find(5)]
  const all = Array.from({ length: 300_000 }, (_, entry) => entry + 7)
  expect(found).toEqual(all.filter((at, entry) => entry % 3 === 0 && at >= marks.first))
})

test('marks of different times and streams differ, as a rule', () => {
  const all = new Set<number>()
  for (let stream = 1; stream <= 100; stream++) {
    for (let second = 0; second < 100; second++) {
      all.add(markAt(stream * 7_919, 1_767_225_600_000_000 + second * 1_000_000))
    }
  }
  expect(all.size).toBeGreaterThan(9_990)
  expect(all.has(noMark)).toBe(false)
  expect(markAt(5, Number.NaN)).toBe(noMark)
})
