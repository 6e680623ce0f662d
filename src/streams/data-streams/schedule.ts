import { type ParsedFields, parse } from 'node-cron'

/** One field of a cron expression: its name, its values, and the names that stand for some. */
interface Field {
  readonly name: string
  /** The name that the parser has for it. */
  readonly key: keyof ParsedFields
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

/** What the fields of a cron expression stand for: numbers in ascending order. */
export interface ScheduleFields {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly daysOfMonth: readonly number[]
  /** January is 1. */
  readonly months: readonly number[]
  /** Sunday is 0. */
  readonly daysOfWeek: readonly number[]
  /**
   * Whether a day need fit one of the fields of days only: as in crontab(5), where neither of them begins with
   * `*`. Else it has to fit both.
   */
  readonly isEitherDay: boolean
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')

/** As long as each month ever is. */
const monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

const fields: readonly Field[] = [
  { name: 'second', key: 'second', min: 0, max: 59 },
  { name: 'minute', key: 'minute', min: 0, max: 59 },
  { name: 'hour', key: 'hour', min: 0, max: 23 },
  { name: 'day of the month', key: 'dayOfMonth', min: 1, max: 31 },
  { name: 'month', key: 'month', min: 1, max: 12, names: months },
  // Sunday is 0 and 7.
  { name: 'day of the week', key: 'dayOfWeek', min: 0, max: 7, names: days },
]

/**
 * The problem of a cron expression of 5 fields, or 6 with seconds first, or nothing. Each field is
 * a list of `*`, a value or a range, each with a step if need be.
 */
export function scheduleProblem(text: string): string | undefined {
  const given = text.trim().split(/\s+/)
  if (given.length !== 5 && given.length !== 6) {
    return `must be a cron expression of 5 or 6 fields, not of ${text.trim() === '' ? 0 : given.length}`
  }
  const parts = partsOf(text)
  const wrong = fields.findIndex((field, index) => !fits(parts[index] ?? '', field))
  if (wrong >= 0) {
    const { name, min, max } = fields[wrong] as Field
    return `has no ${name} such as '${parts[wrong]?.slice(0, 50)}': it must be *, or from ${min} to ${max}`
  }
  if (everComes(parseSchedule(text))) return undefined
  return `never comes: no month such as '${parts[4]}' has a day such as '${parts[3]}'`
}

/** @param text an expression in which `scheduleProblem` finds no problem */
export function parseSchedule(text: string): ScheduleFields {
  const parts = partsOf(text)
  const [seconds = [], minutes = [], hours = [], daysOfMonth = [], inMonths = [], daysOfWeek = []] =
    fields.map((field, index) => valuesOf(parts[index] ?? '', field))
  const isEitherDay = !parts[3]?.startsWith('*') && !parts[5]?.startsWith('*')
  return { seconds, minutes, hours, daysOfMonth, months: inMonths, daysOfWeek, isEitherDay }
}

function partsOf(text: string): readonly string[] {
  const given = text.trim().split(/\s+/)
  return given.length === 6 ? given : ['0', ...given]
}

function everComes({ daysOfMonth: [first = 1], months: inMonths, isEitherDay }: ScheduleFields) {
  return isEitherDay || inMonths.some((month) => first <= (monthLengths[month - 1] ?? 0))
}

/** Each field is expanded alone: together the parser would take a day to have to fit both fields of days. */
function valuesOf(part: string, field: Field): readonly number[] {
  const items = part.split(',').map((item) => withEnd(item, field))
  const alone = fields.map(({ key }) => (key === field.key ? items.join(',') : '*'))
  const values = parse(alone.join(' '))[field.key] as readonly number[]
  // It may have named some more than once.
  return [...new Set(values)].toSorted((left, right) => left - right)
}

/** A value with a step goes on from that value to the last one there is, which the parser has to be told. */
function withEnd(item: string, field: Field): string {
  const [start = '', step] = item.split('/')
  if (step === undefined || start.includes('*') || start.includes('-')) return item
  const last = field.key === 'dayOfWeek' ? 6 : field.max
  const first = valueOf(start, field)
  return first < last ? `${first}-${last}/${step}` : start
}

function fits(part: string, field: Field): boolean {
  return part.split(',').every((item) => {
    const [range = '', step, ...rest] = item.split('/')
    if (rest.length > 0 || (step !== undefined && !isStep(step, field))) return false
    if (range === '*') return true
    const bounds = range.split('-').map((value) => valueOf(value, field))
    const [low = Number.NaN, high = low] = bounds
    return bounds.length <= 2 && low >= field.min && high <= field.max && low <= high
  })
}

function isStep(text: string, { max }: Field): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= max
}

function valueOf(text: string, { names = [], min }: Field): number {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const named = names.indexOf(text.toUpperCase())
  // Months are counted from 1, days of the week from 0.
  return named < 0 ? Number.NaN : named + min
}
