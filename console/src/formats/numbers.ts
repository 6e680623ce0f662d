const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const rough = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })

/** A count, with its thousands apart: `86,412`. */
export function count(value: number): string {
  return whole.format(value)
}

/** A rate in three digits: `0.6`, `412`. */
export function rate(value: number): string {
  return value >= 1000 ? whole.format(value) : rough.format(value)
}

/** A measured value as it is: nothing of it is rounded away. */
export function measured(value: number): string {
  return Object.is(value, -0) ? '0' : String(value)
}

/** `41 B`, `3.2 KB`, `17 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  if (value < 1_000_000) return `${rough.format(value / 1000)} KB`
  if (value < 1_000_000_000) return `${rough.format(value / 1_000_000)} MB`
  return `${rough.format(value / 1_000_000_000)} GB`
}
