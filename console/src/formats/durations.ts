const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration as definitions have it, such as `30s` or `400d`, in milliseconds; undefined: it is none. */
export function durationMs(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  const ms = unitMs[unit]
  return ms === undefined ? undefined : Number(digits) * ms
}
