import { newField } from '../../src/contracts/definitions/fields.ts'

/** The name of a time zone, as IANA has it. */
export const timezone = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && isTimeZone(value)) return
    problems.add(key, 'must be the name of a time zone such as Europe/Berlin')
  },
  { type: 'string' },
)

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
