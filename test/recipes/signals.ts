/** 2026-03-01T00:00:00Z, in milliseconds: where all series begin. */
export const marchMs = Date.UTC(2026, 2, 1)

interface Wave {
  readonly mean: number
  readonly swing: number
  /** Messages from one crest to the next. */
  readonly period: number
  readonly digits: number
}

/** What a sensor says: a wave with a little unrest, which is the same each time, rounded as the firmware does. */
export function wave(index: number, { mean, swing, period, digits }: Wave): number {
  const unrest = (((index * 7919) % 101) / 101 - 0.5) * 0.1
  const value = mean + swing * (Math.sin((2 * Math.PI * index) / period) + unrest)
  // Zero is added because a rounded -0.001 is written as -0.
  return Number(value.toFixed(digits)) + 0
}

/** A time as readings are stored with it. */
export function stored(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

/** RFC 3339 without decimals, in UTC. */
export function seconds(ms: number): string {
  return new Date(ms).toISOString().replace('.000', '')
}

/** What a clock on the wall shows: `yyyy-MM-ddTHH:mm:ss`. */
export function wallTime(ms: number, timeZone: string): string {
  return new Date(ms).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T')
}

/** The members that have a value. */
export function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}
