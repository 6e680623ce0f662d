/** Counts over time as a line; a slot that nothing is known of is a gap. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | null)[]
  readonly label: string
}) {
  const max = Math.max(1, ...values.map((value) => value ?? 0))
  const step = values.length > 1 ? 100 / (values.length - 1) : 0
  const commands = values.map((value, at) => {
    if (value === null) return ''
    const isFirst = at === 0 || values[at - 1] === null
    return `${isFirst ? 'M' : 'L'}${round(at * step)} ${round(22 - (20 * value) / max)}`
  })
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path
        d={commands.join('')}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
