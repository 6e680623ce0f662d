import type { TimeRange } from './field-plot.ts'

export interface ChartCursorProps {
  readonly label: string
  readonly range: TimeRange
  /** Where it is; undefined: nowhere. */
  readonly atMs: number | undefined
  /** The time and the values there, in words. */
  readonly said: string
  /** The time so many points further on. */
  readonly step: (fromMs: number, points: number) => number | undefined
  readonly onMove: (atMs: number | undefined) => void
  /** Without it nothing can be chosen. */
  readonly zoom?: ChartZoom
}

export interface ChartZoom {
  readonly chosen: TimeRange | undefined
  readonly onChoose: (range: TimeRange | undefined) => void
  readonly onZoom: (range: TimeRange) => void
  readonly onBack: () => void
}

const pointsOf: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/**
 * Reads charts with the keyboard: it says what is at the cursor, arrows move it, and with Shift they choose
 * what Enter zooms to.
 */
export function ChartCursor(props: ChartCursorProps) {
  const { label, range, atMs, said, zoom } = props
  const hint = zoom
    ? 'Drag over a chart to zoom. By keys: arrows read, Shift-arrows choose, Enter zooms, Backspace goes back.'
    : 'Point at a chart, or use the arrow keys, to read it.'
  return (
    <div
      class="chart-cursor"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={range.fromMs}
      aria-valuemax={range.toMs}
      aria-valuenow={atMs ?? range.toMs}
      aria-valuetext={atMs === undefined ? hint : said}
      onKeyDown={(event) => {
        if (press(props, event)) event.preventDefault()
      }}
    >
      {atMs === undefined ? <span class="soft">{hint}</span> : <bdi>{said}</bdi>}
    </div>
  )
}

function press(
  props: ChartCursorProps,
  { key, shiftKey, ctrlKey, altKey, metaKey }: KeyboardEvent,
): boolean {
  if (ctrlKey || altKey || metaKey) return false
  const points = pointsOf[key]
  if (points !== undefined) return move(props, points, shiftKey)
  const { zoom, atMs } = props
  if (key === 'Escape' && (atMs !== undefined || zoom?.chosen !== undefined)) {
    zoom?.onChoose(undefined)
    props.onMove(undefined)
    return true
  }
  if (zoom === undefined) return false
  if (key === 'Enter' && zoom.chosen !== undefined) zoom.onZoom(zoom.chosen)
  else if (key === 'Backspace') zoom.onBack()
  else return false
  return true
}

function move(
  { atMs, range, step, onMove, zoom }: ChartCursorProps,
  points: number,
  isChoosing: boolean,
): boolean {
  const from = atMs ?? (points < 0 ? range.toMs : range.fromMs)
  const to = step(from, atMs === undefined && Number.isFinite(points) ? 0 : points)
  if (to === undefined) return false
  if (zoom) zoom.onChoose(isChoosing ? stretched(zoom.chosen, from, to) : undefined)
  onMove(to)
  return true
}

/** What is chosen when its moving end goes on: the other one stays. */
function stretched(
  chosen: TimeRange | undefined,
  fromMs: number,
  toMs: number,
): TimeRange | undefined {
  const anchor =
    chosen === undefined ? fromMs : chosen.fromMs === fromMs ? chosen.toMs : chosen.fromMs
  if (anchor === toMs) return undefined
  return { fromMs: Math.min(anchor, toMs), toMs: Math.max(anchor, toMs) }
}
