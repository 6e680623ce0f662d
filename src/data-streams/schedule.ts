/** One field of a cron expression: its name, its values, and the names that stand for some. */
interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')

const second: Field = { name: 'second', min: 0, max: 59 }

const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  // Sunday is 0 and 7.
  { name: 'day of the week', min: 0, max: 7, names: days },
]

/**
 * What is wrong with a cron expression of 5 fields, or 6 with seconds first (D59), or nothing. Each
 * field is a list of `*`, a value or a range, each with a step if need be.
 */
export function scheduleProblem(text: string): string | undefined {
  const parts = text.trim().split(/\s+/)
  if (parts.length !== 5 && parts.length !== 6) {
    return `must be a cron expression of 5 or 6 fields, not of ${text.trim() === '' ? 0 : parts.length}`
  }
  const expected = parts.length === 6 ? [second, ...fields] : fields
  const wrong = expected.findIndex((field, index) => !fits(parts[index] ?? '', field))
  if (wrong < 0) return undefined
  const { name, min, max } = expected[wrong] as Field
  return `has no ${name} such as '${parts[wrong]?.slice(0, 50)}': it must be *, or from ${min} to ${max}`
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
