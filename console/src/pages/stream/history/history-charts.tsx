import { useMemo, useState } from 'preact/hooks'
import { ChartCursor } from '../../../charts/chart-cursor.tsx'
import { FieldChart } from '../../../charts/field-chart.tsx'
import type { TimeRange } from '../../../charts/field-plot.ts'
import { nearestPlace, stepped } from '../../../charts/places.ts'
import type { StoredField } from '../../../formats/stored-fields.ts'
import { dateTime, offsetName } from '../../../formats/times.ts'
import { computedText } from '../../../formats/values.ts'
import { type Alert, bandsOf } from './alerts.ts'
import type { History } from './load-history.ts'
import { plotDataOf } from './plot-data.ts'
import type { Zoom } from './zoom.ts'

export interface HistoryChartsProps {
  readonly history: History
  readonly fields: readonly StoredField[]
  readonly alerts: readonly Alert[]
  readonly zoom: Zoom
}

/** A chart for each field, one cursor for all. */
export function HistoryCharts({ history, fields, alerts, zoom }: HistoryChartsProps) {
  const [cursorMs, setCursor] = useState<number>()
  const [chosen, setChosen] = useState<TimeRange>()
  const times = useMemo(
    () => history.points.map(({ timestamp }) => Date.parse(timestamp)),
    [history],
  )
  const range = useMemo(() => ({ fromMs: history.fromMs, toMs: history.toMs }), [history])
  const zoomTo = (to: TimeRange) => {
    setChosen(undefined)
    setCursor(undefined)
    zoom.to(to)
  }
  const shown = { history, range, alerts, cursorMs, chosen, setCursor, zoomTo }
  return (
    <section class="stack" aria-label="Charts">
      <ChartCursor
        label="Cursor of the charts"
        range={range}
        atMs={cursorMs}
        said={cursorMs === undefined ? '' : saidAt(cursorMs, times, { history, fields, chosen })}
        step={(fromMs, points) => stepped(times, fromMs, points)}
        onMove={setCursor}
        zoom={{ chosen, onChoose: setChosen, onZoom: zoomTo, onBack: zoom.back }}
      />
      <div class="stream-charts">
        {fields.map((field, nth) => (
          <HistoryChart key={field.name} field={field} nth={nth} {...shown} />
        ))}
      </div>
    </section>
  )
}

interface HistoryChartProps {
  readonly field: StoredField
  readonly nth: number
  readonly history: History
  readonly range: TimeRange
  readonly alerts: readonly Alert[]
  readonly cursorMs: number | undefined
  readonly chosen: TimeRange | undefined
  readonly setCursor: (atMs: number | undefined) => void
  readonly zoomTo: (range: TimeRange) => void
}

function HistoryChart(props: HistoryChartProps) {
  const { field, nth, history, range, alerts, cursorMs, chosen } = props
  const { name, unit } = field
  const data = useMemo(() => plotDataOf(history, name), [history, name])
  const bands = useMemo(() => bandsOf(alerts, name, range), [alerts, name, range])
  return (
    <figure class="stream-chart">
      <figcaption>
        <bdi>{name}</bdi> {unit !== undefined && <span class="soft">{unit}</span>}
        {data.times.length === 0 && <span class="soft"> no values in this range</span>}
      </figcaption>
      <FieldChart
        label={`${name} over time, ${data.times.length} points; its figures are in the table below`}
        group="history"
        {...{ nth, data, range, bands, cursorMs, chosen }}
        onCursor={props.setCursor}
        onSelect={props.zoomTo}
      />
    </figure>
  )
}

interface Said {
  readonly history: History
  readonly fields: readonly StoredField[]
  readonly chosen: TimeRange | undefined
}

/** What the point that is nearest to the cursor says. */
function saidAt(atMs: number, times: readonly number[], { history, fields, chosen }: Said): string {
  const place = nearestPlace(times, atMs)
  const point = history.points[place]
  if (point === undefined) return dateTime(atMs)
  const values = fields.flatMap(({ name, unit = '' }) => {
    if (point[name] === undefined || point[name] === null) return []
    const middle = `${name} ${computedText(point[name])} ${unit}`.trim()
    const [least, greatest] = [point[`${name}:min`], point[`${name}:max`]]
    return [
      least === undefined
        ? middle
        : `${middle} (${computedText(least)} to ${computedText(greatest)})`,
    ]
  })
  const chosenText = chosen ? `; chosen ${dateTime(chosen.fromMs)} to ${dateTime(chosen.toMs)}` : ''
  const at = times[place] ?? atMs
  return `${dateTime(at)} ${offsetName(at)}: ${values.join(', ') || 'no values'}${chosenText}`
}
