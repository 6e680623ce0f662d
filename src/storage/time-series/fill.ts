import type { AggregatedField, AggregatePoint, Fill } from './aggregate-query.ts'

/** A value with the start of its bucket. */
export interface KnownValue {
  readonly timestampUs: number
  readonly value: unknown
}

/** The values nearest to a page, by series and key of field; none where there is none. */
export interface Neighbours {
  before(series: string, key: string): KnownValue | undefined
  after(series: string, key: string): KnownValue | undefined
}

/** Fields whose gaps get a value from the fields beside them: all but counts. */
export function isFilled(field: AggregatedField, fill: Fill): boolean {
  return (fill === 'previous' || fill === 'linear') && field.function !== 'count'
}

/**
 * Gives every point a value of every field, or null (see `Fill`). The points are those of one series,
 * one for each bucket, in ascending time.
 */
export function fillGaps(
  points: readonly AggregatePoint[],
  {
    fields,
    fill,
    neighbours,
  }: { fields: readonly AggregatedField[]; fill: Fill } & {
    readonly neighbours: Neighbours
  },
): readonly AggregatePoint[] {
  const filled = points.map((point) => ({ ...point, values: {} as Record<string, unknown> }))
  for (const field of fields) {
    const { key } = field
    const known = points.map(({ timestampUs, values }): KnownValue | undefined => {
      const value = values[key]
      return value === undefined || value === null ? undefined : { timestampUs, value }
    })
    const series = points[0]?.series ?? ''
    const nearest = {
      before: neighbours.before(series, key),
      after: neighbours.after(series, key),
    }
    const complete = isFilled(field, fill)
      ? withoutGaps(points, known, { ...nearest, isLinear: fill === 'linear' })
      : known.map((one) => one?.value ?? (field.function === 'count' ? 0 : null))
    for (const [index, value] of complete.entries()) (filled[index] as Filled).values[key] = value
  }
  return filled
}

interface Filled {
  readonly values: Record<string, unknown>
}

interface Nearest {
  readonly before: KnownValue | undefined
  readonly after: KnownValue | undefined
  readonly isLinear: boolean
}

function withoutGaps(
  points: readonly AggregatePoint[],
  known: readonly (KnownValue | undefined)[],
  { before, after, isLinear }: Nearest,
): unknown[] {
  const following = nextKnown(known, after)
  let previous = before
  return points.map(({ timestampUs }, index) => {
    const own = known[index]
    if (own) {
      previous = own
      return own.value
    }
    const next = following[index]
    if (!isLinear || !isNumber(previous ?? next)) return previous?.value ?? null
    return previous && next ? between(previous, next, timestampUs) : null
  })
}

/** For each point the nearest value at or after it. */
function nextKnown(
  known: readonly (KnownValue | undefined)[],
  after: KnownValue | undefined,
): readonly (KnownValue | undefined)[] {
  const following: (KnownValue | undefined)[] = []
  let next = after
  for (let index = known.length - 1; index >= 0; index--) {
    next = known[index] ?? next
    following[index] = next
  }
  return following
}

function isNumber(known: KnownValue | undefined): boolean {
  return typeof known?.value === 'number'
}

function between(previous: KnownValue, next: KnownValue, atUs: number): number {
  const share = (atUs - previous.timestampUs) / (next.timestampUs - previous.timestampUs)
  // Not previous + share * difference: that of two large numbers may be none.
  return (previous.value as number) * (1 - share) + (next.value as number) * share
}
