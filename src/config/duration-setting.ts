import { durationUs } from '../core/duration.ts'

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

/** Microseconds of a setting such as 30s, 5m, 12h or 30d. */
export function durationOf({ text, problems }: Reading, name: string, fallback: string): number {
  const given = text(name, fallback)
  const us = durationUs(given)
  if (us !== undefined) return us
  problems.push(`${name} must be a duration such as 30s, 5m, 12h or 30d, not '${given}'`)
  return 1_000_000
}
