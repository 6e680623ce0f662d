import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ChartCursor } from '../../../charts/chart-cursor.tsx'
import { FieldChart } from '../../../charts/field-chart.tsx'
import type { FieldPlot, TimeRange } from '../../../charts/field-plot.ts'
import { nearestPlace, stepped } from '../../../charts/places.ts'
import { nowMs, Time } from '../../../components/time.tsx'
import { measured } from '../../../formats/numbers.ts'
import type { StoredField } from '../../../formats/stored-fields.ts'
import { dateTime } from '../../../formats/times.ts'
import { liveEndMs } from './live-end.ts'
import { LivePainter } from './live-painter.ts'
import type { LiveReadings } from './live-readings.ts'

export interface LiveChartsProps {
  readonly fields: readonly StoredField[]
  readonly readings: LiveReadings
  readonly windowMs: number
  readonly isFollowing: boolean
}

const group = 'live'

/** A chart for each field, all over the same time. */
export function LiveCharts({ fields, readings, windowMs, isFollowing }: LiveChartsProps) {
  const [cursorMs, setCursorMs] = useState<number>()
  const painter = useMemo(() => new LivePainter(readings), [readings])
  const endMs = useRef(nowMs.peek())
  if (isFollowing) endMs.current = liveEndMs(readings.newestMs, nowMs.value, windowMs)
  const range: TimeRange = { fromMs: endMs.current - windowMs, toMs: endMs.current }
  useEffect(() => {
    painter.show(windowMs, isFollowing)
    return () => painter.stop()
  }, [painter, windowMs, isFollowing])
  const first = fields
    .map(({ name }) => readings.bufferOf(name))
    .find((buffer) => (buffer?.size ?? 0) > 0)
  return (
    <section class="stack" aria-label="Charts">
      <ChartCursor
        label="Cursor of the charts"
        range={range}
        atMs={cursorMs}
        said={cursorMs === undefined ? '' : saidAt(cursorMs, fields, readings)}
        step={(fromMs, points) => stepped(first?.times ?? [], fromMs, points)}
        onMove={(atMs) => {
          painter.showCursor(atMs)
          setCursorMs(atMs)
        }}
      />
      {isFollowing && endMs.current < nowMs.value - windowMs && (
        <p class="soft">
          The newest reading is of <Time at={endMs.current} />: this is the time before it.
        </p>
      )}
      <div class="stream-charts">
        {fields.map((field, nth) => (
          <LiveChart key={field.name} {...{ field, nth, painter }} onCursor={setCursorMs} />
        ))}
      </div>
    </section>
  )
}

interface LiveChartProps {
  readonly field: StoredField
  readonly nth: number
  readonly painter: LivePainter
  readonly onCursor: (atMs: number | undefined) => void
}

function LiveChart({ field: { name, unit }, nth, painter, onCursor }: LiveChartProps) {
  return (
    <figure class="stream-chart">
      <figcaption>
        <bdi>{name}</bdi> {unit !== undefined && <span class="soft">{unit}</span>}
      </figcaption>
      <FieldChart
        label={`${name} over time; its values are in the table of the newest readings`}
        nth={nth}
        group={group}
        onCursor={onCursor}
        bind={(plot: FieldPlot | undefined) => painter.bind(name, plot)}
      />
    </figure>
  )
}

function saidAt(atMs: number, fields: readonly StoredField[], readings: LiveReadings): string {
  const values = fields.flatMap(({ name, unit = '' }) => {
    const buffer = readings.bufferOf(name)
    const place = buffer === undefined ? -1 : nearestPlace(buffer.times, atMs)
    const value = buffer?.values[place]
    return value === undefined ? [] : [`${name} ${measured(value)} ${unit}`.trim()]
  })
  return `${dateTime(atMs, 'ms')}: ${values.join(', ')}`
}
