import type { TimeProblem } from '../../src/core/time.ts'

/** What letters of a pattern stand for. */
export type Meaning =
  | 'year'
  | 'month'
  | 'day'
  | 'weekday'
  | 'hour'
  | 'halfHour'
  | 'half'
  | 'minute'
  | 'second'
  | 'fraction'
  | 'offset'

/** Letters in a row, as a part of a regular expression. */
export interface Fragment {
  readonly source: string
  readonly meaning: Meaning
  /** Whether it is digits, and whether their number is known. */
  readonly digits?: 'counted' | 'some'
}

const knownLetters = 'y, M, d, E, H, h, a, m, s, S, X, x and Z'

const two = (meaning: Meaning) => ({
  1: { source: String.raw`(\d{1,2})`, meaning, digits: 'some' } as const,
  2: { source: String.raw`(\d{2})`, meaning, digits: 'counted' } as const,
})

const months =
  'January|February|March|April|May|June|July|August|September|October|November|December'
const days = 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday'
const short = (names: string) => names.replace(/([A-Z]..)[a-z]*/g, '$1')
const named = (names: string, meaning: Meaning) => ({ source: `((?i:${names}))`, meaning })

const shortDay = named(short(days), 'weekday')
const offset = (pattern: string) => ({ source: `(${pattern})`, meaning: 'offset' as const })
const [hours, both, parted] = [
  String.raw`[+-]\d{2}(?:\d{2})?`,
  String.raw`[+-]\d{4}`,
  String.raw`[+-]\d{2}:\d{2}`,
]

const years = {
  2: { source: String.raw`(\d{2})`, meaning: 'year', digits: 'counted' },
  4: { source: String.raw`(\d{4})`, meaning: 'year', digits: 'counted' },
} as const

/** By letter, and by how often it stands there: `java.time.format.DateTimeFormatter` has them, too. */
const letters: Readonly<Record<string, Readonly<Record<number, Fragment>>>> = {
  y: years,
  u: years,
  M: { ...two('month'), 3: named(short(months), 'month'), 4: named(months, 'month') },
  d: two('day'),
  E: { 1: shortDay, 2: shortDay, 3: shortDay, 4: named(days, 'weekday') },
  H: two('hour'),
  h: two('halfHour'),
  a: { 1: named('AM|PM', 'half') },
  m: two('minute'),
  s: two('second'),
  X: { 1: offset(`Z|${hours}`), 2: offset(`Z|${both}`), 3: offset(`Z|${parted}`) },
  x: { 1: offset(hours), 2: offset(both), 3: offset(parted) },
  Z: { 1: offset(both), 2: offset(both), 3: offset(both), 5: offset(`Z|${parted}`) },
}

/** Letters that are often written for others. */
const mistaken: Readonly<Record<string, string>> = {
  Y: 'y: Y is the year of a week',
  D: 'd: D is the day of a year',
}

const decimalsMax = 9

/** What letters in a row mean. */
export function fragmentOf(row: string): Fragment | TimeProblem {
  const [letter = ''] = row
  if (letter === 'S' && row.length <= decimalsMax) {
    return { source: String.raw`(\d{${row.length}})`, meaning: 'fraction', digits: 'counted' }
  }
  const fragment = letters[letter]?.[row.length]
  if (fragment !== undefined) return fragment
  const meant = mistaken[letter]
  if (meant !== undefined) return { problem: `has ${row} where it likely means ${meant}` }
  const isKnown = letter === 'S' || Object.hasOwn(letters, letter)
  return isKnown
    ? { problem: `has ${row}: ${letter} cannot stand there ${row.length} times` }
    : { problem: `has ${row}, which is not one of ${knownLetters}; other text stands in quotes` }
}
