import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import 'uplot/dist/uPlot.min.css'
import { zone } from '../formats/times.ts'
import { theme } from '../settings/appearance.ts'
import './charts.css'
import { FieldPlot, type PlotBand, type PlotData, type TimeRange } from './field-plot.ts'

export interface FieldChartProps {
  /** What it shows, for those who do not see it; its figures stand in a table beside it. */
  readonly label: string
  readonly nth: number
  readonly group: string
  readonly heightPx?: number
  /** What is drawn; undefined where `bind` draws by itself. */
  readonly data?: PlotData | undefined
  readonly range?: TimeRange | undefined
  readonly bands?: readonly PlotBand[]
  readonly cursorMs?: number | undefined
  readonly chosen?: TimeRange | undefined
  readonly onCursor?: (atMs: number | undefined) => void
  readonly onSelect?: (range: TimeRange) => void
  /** Takes the plot when it is there, and undefined when it goes. */
  readonly bind?: (plot: FieldPlot | undefined) => void
}

/** A field over time. */
export function FieldChart(props: FieldChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<FieldPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    if (place.current === null) return undefined
    const { nth, group, heightPx = 150 } = props
    const made = new FieldPlot({
      place: place.current,
      heightPx,
      nth,
      group,
      zone: () => zone.peek(),
      onCursor: (atMs) => latest.current.onCursor?.(atMs),
      ...(props.onSelect && { onSelect: (range) => latest.current.onSelect?.(range) }),
    })
    plot.current = made
    props.bind?.(made)
    const unwatch = onAppearance(() => made.repaint())
    return () => {
      unwatch()
      latest.current.bind?.(undefined)
      plot.current = undefined
      made.close()
    }
  }, [])
  const { data, range, bands = none, cursorMs, chosen } = props
  useEffect(() => {
    if (data && range) plot.current?.draw(data, range)
  }, [data, range])
  useEffect(() => plot.current?.showBands(bands), [bands])
  useEffect(() => plot.current?.showCursor(cursorMs), [cursorMs, data, range])
  useEffect(() => plot.current?.showSelection(chosen), [chosen])
  return <div ref={place} class="chart" role="img" aria-label={props.label} />
}

const none: readonly PlotBand[] = []

/** What the system says of colours. */
const systemQueries = [
  '(prefers-color-scheme: dark)',
  '(forced-colors: active)',
  '(prefers-contrast: more)',
]

/** Calls back when colours or clocks are others. */
function onAppearance(changed: () => void): () => void {
  const systems = systemQueries.map((query) => matchMedia(query))
  for (const system of systems) system.addEventListener('change', changed)
  let isFirst = true
  const stop = effect(() => {
    void theme.value
    void zone.value
    // The colours of a theme hold once its attribute is set, which is an effect as well.
    if (!isFirst) requestAnimationFrame(changed)
    isFirst = false
  })
  return () => {
    for (const system of systems) system.removeEventListener('change', changed)
    stop()
  }
}
