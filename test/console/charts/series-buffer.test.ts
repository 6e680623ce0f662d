import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeriesBuffer } from '../../../console/src/charts/series-buffer.ts'

interface Point {
  readonly time: number
  readonly value: number
}

const point = fc.record({
  time: fc.integer({ min: 0, max: 50 }),
  value: fc.double({ noNaN: true }),
})

/** The newest points by time; of those of one time, what came first stands first. */
function newest(points: readonly Point[], max: number): readonly Point[] {
  let kept: Point[] = []
  for (const one of points) {
    if (kept.length === max) {
      if (one.time < (kept[0]?.time ?? 0)) continue
      kept = kept.slice(1)
    }
    const at = kept.findLastIndex(({ time }) => time <= one.time) + 1
    kept = kept.toSpliced(at, 0, one)
  }
  return kept
}

test('keeps the newest points in the order of time, however they come', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(point, { maxLength: 120 }),
      (max, points) => {
        const buffer = new SeriesBuffer(max)
        for (const { time, value } of points) buffer.push(time, value)

        const kept = newest(points, max)
        expect([...buffer.times]).toEqual(kept.map(({ time }) => time))
        expect([...buffer.values]).toEqual(kept.map(({ value }) => value))
      },
    ),
  )
})

test('is empty once it is cleared', () => {
  const buffer = new SeriesBuffer(3)
  for (let time = 0; time < 10; time += 1) buffer.push(time, time)
  buffer.clear()
  expect([...buffer.times]).toEqual([])
})
