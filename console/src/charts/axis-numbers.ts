/** Numbers beside an axis: all with as many digits as tell neighbours apart, in thousands, millions or powers where long. */
export function axisNumbers(splits: readonly number[]): string[] {
  const largest = Math.max(...splits.map(Math.abs), 0)
  const distance = Math.abs((splits[1] ?? 0) - (splits[0] ?? 0)) || largest || 1
  if (largest >= 1e9 || (largest > 0 && largest < 1e-4)) {
    const digits = Math.min(6, Math.max(0, Math.ceil(Math.log10(largest / distance))))
    return splits.map((value) =>
      value === 0 ? '0' : value.toExponential(digits).replace('e+', 'e'),
    )
  }
  const [unit, name] = largest >= 1e6 ? [1e6, 'M'] : largest >= 1e4 ? [1e3, 'k'] : [1, '']
  const digits = decimalsOf(distance / unit)
  return splits.map((value) => `${(value / unit).toFixed(digits)}${name}`)
}

const decimalsMax = 10

/** Digits behind the point that a step has. */
function decimalsOf(step: number): number {
  for (let digits = 0; digits < decimalsMax; digits += 1) {
    const shifted = step * 10 ** digits
    if (Math.abs(shifted - Math.round(shifted)) < 1e-6 && Math.round(shifted) > 0) return digits
  }
  return decimalsMax
}
