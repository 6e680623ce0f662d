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
  const digits = Math.min(8, Math.max(0, -Math.floor(Math.log10(distance / unit) + 1e-9)))
  return splits.map((value) => `${(value / unit).toFixed(digits)}${name}`)
}
