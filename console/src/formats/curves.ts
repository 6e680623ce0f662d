/** Where a curve is drawn: its top is `max`, its bottom zero. */
export interface CurveBox {
  readonly width: number
  readonly height: number
  readonly max: number
}

/** Values at even steps as the commands of an SVG path. What is not known is a gap, one that stands alone a dot. */
export function curvePath(
  values: readonly (number | null)[],
  { width, height, max }: CurveBox,
): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0
  return values
    .map((value, at) => {
      if (value === null) return ''
      const isFirst = at === 0 || values[at - 1] === null
      const isAlone = isFirst && (values[at + 1] ?? null) === null
      const y = max === 0 ? height : height - (height * value) / max
      return `${isFirst ? 'M' : 'L'}${rounded(at * step)} ${rounded(y)}${isAlone ? 'h0.01' : ''}`
    })
    .join('')
}

/** The next round number that is not less: 1, 2 or 5 times a power of ten. Of nothing it is 1. */
export function roundMax(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const found = [1, 2, 5, 10].map((times) => times * power).find((round) => round >= value)
  return found ?? 10 * power
}

/** The largest of some curves; 0 where nothing is known. */
export function largestOf(curves: readonly (readonly (number | null)[])[]): number {
  return Math.max(0, ...curves.flatMap((values) => values.map((value) => value ?? 0)))
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
