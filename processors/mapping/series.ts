import type { TimeProblem } from '../../src/core/time.ts'
import { isNumberText } from '../times/epochs.ts'
import { type Item, valueAt } from './item.ts'
import { type Level, LevelProblem, notA, type PlacedContext } from './level.ts'
import { objectOf } from './lists.ts'
import { freeElements } from './reserved.ts'
import { namesOf, rowOf } from './tables.ts'

/** Values at equal distances in time, of which only the first has its time written down. */
export function sampleItems(
  node: unknown,
  parent: Item,
  level: Level,
  context: PlacedContext,
): readonly Item[] {
  if (!Array.isArray(node)) throw notA('a list of samples', level)
  const startUs = startOf(parent, level, context)
  const intervalUs = intervalOf(parent, level, context)
  const names = level.columns === undefined ? undefined : namesOf(parent, level, context)
  const { value: name = 'value' } = level.given
  const first = context.place ?? 0
  return freeElements(node, level.reserved).map((raw, selection) => {
    const place = first + selection
    const value = names === undefined ? objectOf(raw, name) : rowOf(raw, names)
    const claimedUs = later(startUs, place * intervalUs)
    return { value, raw, parent, selection, depth: parent.depth + 1, claimedUs, place }
  })
}

function startOf(parent: Item, level: Level, context: PlacedContext): number | TimeProblem {
  const { start, place, readTime } = level
  const value = start && valueAt(parent, start, context)
  if (value === undefined) {
    throw new LevelProblem(`${place}.start`, `leads nowhere: there is nothing at ${start?.text}`)
  }
  return readTime({ value })
}

function intervalOf(parent: Item, level: Level, context: PlacedContext): number {
  const { interval, place, intervalUnitUs } = level
  const found = typeof interval === 'object' ? valueAt(parent, interval, context) : interval
  const value = typeof found === 'string' && isNumberText(found) ? Number(found) : found
  const intervalUs = typeof value === 'number' ? value * intervalUnitUs : Number.NaN
  if (Number.isFinite(intervalUs)) return intervalUs
  throw new LevelProblem(`${place}.interval`, 'leads to no number, or to one that is too large')
}

function later(startUs: number | TimeProblem, us: number): number | TimeProblem {
  if (typeof startUs === 'object') return startUs
  const atUs = Math.round(startUs + us)
  if (Number.isSafeInteger(atUs) && atUs >= 0) return atUs
  return { problem: 'is not a time that a reading can have, so far from the first sample' }
}
