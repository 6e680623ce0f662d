import * as fc from 'fast-check'

/** A part of an expression, what it stands for by its construction, and how it begins. */
interface Part {
  readonly text: string
  /** The part as a parser reads it that knows no value with a step. */
  readonly plainText: string
  readonly values: ReadonlySet<number>
}

/** A random cron expression; seconds are 0 where it has five fields. */
export interface RandomSchedule {
  readonly text: string
  readonly plainText: string
  readonly seconds: Part
  readonly minutes: Part
  readonly hours: Part
  readonly daysOfMonth: Part
  readonly months: Part
  readonly daysOfWeek: Part
}

interface Bounds {
  readonly min: number
  /** The last value that `*` stands for, and the last that can be written. */
  readonly max: number
  readonly written?: number
  readonly names?: readonly string[]
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')

function stepped(first: number, last: number, step: number): number[] {
  const values: number[] = []
  for (let value = first; value <= last; value += step) values.push(value)
  return values
}

function item({ min, max, written = max, names }: Bounds): fc.Arbitrary<Part> {
  const value = fc.integer({ min, max: written })
  const step = fc.integer({ min: 1, max: Math.min(12, max) })
  const part = (text: string, values: readonly number[], plainText = text): Part => {
    // Sunday is 0 and 7.
    const wrapped = values.map((one) => (written > max && one === written ? min : one))
    return { text, plainText, values: new Set(wrapped) }
  }
  const range = fc.tuple(value, value).map(([one, other]) => {
    return [Math.min(one, other), Math.max(one, other)] as const
  })
  const kinds = [
    value.map((one) => part(`${one}`, [one])),
    range.map(([low, high]) => part(`${low}-${high}`, stepped(low, high, 1))),
    fc.tuple(range, step).map(([[low, high], by]) => {
      return part(`${low}-${high}/${by}`, stepped(low, high, by))
    }),
    step.map((by) => part(`*/${by}`, stepped(min, max, by))),
    fc.tuple(fc.integer({ min, max: max - 1 }), step).map(([low, by]) => {
      return part(`${low}/${by}`, stepped(low, max, by), `${low}-${max}/${by}`)
    }),
  ]
  if (names !== undefined) {
    const named = fc.integer({ min, max }).map((one) => {
      const name = names[one - min] ?? ''
      return part(one % 2 === 0 ? name : name.toLowerCase(), [one])
    })
    kinds.push(named)
  }
  return fc.oneof(...kinds)
}

function list(bounds: Bounds, starWeight: number): fc.Arbitrary<Part> {
  const star = { text: '*', plainText: '*', values: new Set(stepped(bounds.min, bounds.max, 1)) }
  const items = fc.array(item(bounds), { minLength: 1, maxLength: 3 }).map((parts): Part => {
    return {
      text: parts.map(({ text }) => text).join(','),
      plainText: parts.map(({ plainText }) => plainText).join(','),
      values: new Set(parts.flatMap(({ values }) => [...values])),
    }
  })
  return fc.oneof(
    { weight: starWeight, arbitrary: fc.constant(star) },
    { weight: 4, arbitrary: items },
  )
}

/** Clocks are changed in the first hours of a day. */
const hours = fc.oneof(
  { weight: 1, arbitrary: list({ min: 0, max: 23 }, 4) },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1 })
      .map((some): Part => {
        const text = some.join(',')
        return { text, plainText: text, values: new Set(some) }
      }),
  },
)

export const randomSchedule: fc.Arbitrary<RandomSchedule> = fc
  .record({
    hasSeconds: fc.boolean(),
    seconds: list({ min: 0, max: 59 }, 1),
    minutes: list({ min: 0, max: 59 }, 1),
    hours,
    daysOfMonth: list({ min: 1, max: 31 }, 12),
    months: list({ min: 1, max: 12, names: months }, 16),
    daysOfWeek: list({ min: 0, max: 6, written: 7, names: days }, 12),
  })
  .map(({ hasSeconds, ...parts }) => {
    const zero = { text: '0', plainText: '0', values: new Set([0]) }
    const seconds = hasSeconds ? parts.seconds : zero
    const fields = { ...parts, seconds }
    const { minutes, daysOfMonth, daysOfWeek } = parts
    const others = [minutes, parts.hours, daysOfMonth, parts.months, daysOfWeek]
    const all = hasSeconds ? [seconds, ...others] : others
    return {
      ...fields,
      text: all.map(({ text }) => text).join(' '),
      plainText: all.map(({ plainText }) => plainText).join(' '),
    }
  })
