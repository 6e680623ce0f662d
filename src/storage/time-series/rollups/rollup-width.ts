import type { WindowSegment } from '../windows/window-starts.ts'

/**
 * What one row of a rollup stands for: half an hour of a stream. The clocks of nearly all zones, India's among them,
 * differ from UTC by whole multiples of it.
 */
export const rollupWidthUs = 1_800_000_000

/** All of time is cut alike. */
export const rollupSegments: readonly WindowSegment[] = [
  { version: 0, fromUs: 0, definition: { widthUs: rollupWidthUs, fields: [] } },
]
