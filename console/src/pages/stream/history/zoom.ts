import type { TimeRange } from '../../../charts/field-plot.ts'

/** How a chart leads to another range. */
export interface Zoom {
  readonly to: (range: TimeRange) => void
  readonly back: () => void
}
