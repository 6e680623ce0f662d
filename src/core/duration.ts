const unitsUs: Readonly<Record<string, number>> = {
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
}

/** Microseconds of a duration such as 30s, 5m, 12h or 90d: whole, and more than none. Undefined for anything else. */
export function durationUs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (unitsUs[unit] ?? 0)
}
