import { curvePath } from '../formats/curves.ts'

/** Counts over time as a line; a slot that nothing is known of is a gap. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | null)[]
  readonly label: string
}) {
  const max = Math.max(1, ...values.map((value) => value ?? 0))
  const path = curvePath(values, { width: 100, height: 20, max })
  return (
    <svg
      class="sparkline"
      viewBox="-2 0 104 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path
        d={path}
        transform="translate(0 2)"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}
