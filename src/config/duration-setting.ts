import { durationUs } from '../core/duration.ts'

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

/** Microseconds of a setting such as 50ms or 2s, for what is done often. */
export function shortDurationOf(reading: Reading, name: string, fallback: string): number {
  const [, ms] = /^([1-9]\d{0,5})ms$/.exec(reading.text(name, fallback)) ?? []
  return ms === undefined ? durationOf(reading, name, fallback) : Number(ms) * 1_000
}

/** Microseconds of a setting such as 30s, 5m, 12h or 30d. */
export function durationOf({ text, problems }: Reading, name: string, fallback: string): number {
  const given = text(name, fallback)
  const us = durationUs(given)
  if (us !== undefined) return us
  problems.push(`${name} must be a duration such as 30s, 5m, 12h or 30d, not '${given}'`)
  return 1_000_000
}
