import uPlot from 'uplot'
import { axisNumbers } from './axis-numbers.ts'
import { Colours } from './colours.ts'
import { gapsIn, lonePoints } from './gaps.ts'
import { tickLabels, timeTicks } from './time-ticks.ts'

type Column = Float64Array | number[]

/** What one chart shows: a line over time, within a band where the points stand for many readings. */
export interface PlotData {
  /** Milliseconds, ascending. */
  readonly times: Column
  readonly middle: Column
  readonly least?: Column
  readonly greatest?: Column
  /** Points further apart have a gap between them. */
  readonly gapMs: number
}

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** A stretch of time that something was the matter. */
export interface PlotBand extends TimeRange {
  readonly tone: 'warn' | 'bad' | 'accent'
}

export interface FieldPlotOptions {
  readonly place: HTMLElement
  readonly heightPx: number
  /** Which colour its line has, from 0 on. */
  readonly nth: number
  readonly zone: () => string
  /** Charts of one name have their cursor at one time. */
  readonly group: string
  readonly onCursor?: (atMs: number | undefined) => void
  /** A stretch was chosen with the pointer. */
  readonly onSelect?: (range: TimeRange) => void
}

const seriesColours = 6
const axisWidthPx = 62
const tickSpacePx = 90
const axisFont = '12px system-ui, sans-serif'

/** One chart of uPlot: a field over time. Drawing is all it does; what it shows is given to it. */
export class FieldPlot {
  readonly #options: FieldPlotOptions
  readonly #colours: Colours
  readonly #plot: uPlot
  readonly #watched: ResizeObserver
  #gaps: readonly number[] = []
  #lone: number[] = []
  #bands: readonly PlotBand[] = []

  constructor(options: FieldPlotOptions) {
    this.#options = options
    const { place, heightPx } = options
    this.#colours = new Colours(place)
    this.#plot = new uPlot(
      this.#plotOptions(Math.max(50, place.clientWidth), heightPx),
      [[], [], [], []],
      place,
    )
    this.#watched = new ResizeObserver(() => {
      const { clientWidth } = place
      if (clientWidth > 0 && clientWidth !== this.#plot.width) {
        this.#plot.setSize({ width: clientWidth, height: heightPx })
      }
    })
    this.#watched.observe(place)
  }

  /** Shows these points in this range of time. */
  draw(data: PlotData, { fromMs, toMs }: TimeRange): void {
    const { times, middle, least = [], greatest = [], gapMs } = data
    this.#gaps = gapsIn(times, gapMs)
    this.#lone = lonePoints(times.length, this.#gaps)
    const aligned = [times, middle, greatest, least] as uPlot.AlignedData
    this.#plot.batch(() => {
      this.#plot.setData(aligned, false)
      this.#plot.setScale('x', { min: fromMs, max: toMs })
    })
  }

  showBands(bands: readonly PlotBand[]): void {
    this.#bands = bands
    this.#plot.redraw(false)
  }

  /** Puts the cursor at a time, as the pointer would. */
  showCursor(atMs: number | undefined): void {
    const left = atMs === undefined ? -10 : this.#plot.valToPos(atMs, 'x')
    this.#plot.setCursor({ left, top: atMs === undefined ? -10 : 1 }, false)
  }

  /** Shows a stretch as chosen. */
  showSelection(range: TimeRange | undefined): void {
    const { height } = this.#plot.over.getBoundingClientRect()
    const [left, right] =
      range === undefined
        ? [0, 0]
        : [this.#plot.valToPos(range.fromMs, 'x'), this.#plot.valToPos(range.toMs, 'x')]
    this.#plot.setSelect({ left, top: 0, width: right - left, height }, false)
  }

  /** Colours or the zone are others. */
  repaint(): void {
    this.#colours.forget()
    this.#plot.redraw(false, true)
  }

  close(): void {
    this.#watched.disconnect()
    this.#plot.destroy()
  }

  #plotOptions(width: number, height: number): uPlot.Options {
    const { nth, group, onCursor, onSelect } = this.#options
    const line = `--series-${(nth % seriesColours) + 1}`
    const edge: uPlot.Series = {
      scale: 'y',
      width: 0,
      points: { show: false },
      gaps: this.#gapPixels,
    }
    return {
      width,
      height,
      ms: 1,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      scales: { x: { time: true, auto: false }, y: { range: rangeAround } },
      series: [{}, this.#line(line), edge, edge],
      bands: [{ series: [2, 3], fill: () => this.#colours.thin(line, 0.22) }],
      axes: [this.#timeAxis(), this.#valueAxis()],
      cursor: {
        y: false,
        sync: { key: group, scales: ['x', null] },
        drag: { x: onSelect !== undefined, y: false, setScale: false, dist: 5 },
        points: { size: 7 },
      },
      hooks: {
        drawClear: [() => this.#paintBands()],
        setCursor: [(plot) => onCursor?.(cursorTime(plot))],
        setSelect: [(plot) => this.#selected(plot)],
      },
    }
  }

  #line(token: string): uPlot.Series {
    return {
      scale: 'y',
      width: 1.5,
      stroke: () => this.#colours.of(token),
      gaps: this.#gapPixels,
      points: {
        size: 5,
        fill: () => this.#colours.of(token),
        filter: (_, __, isShown) => (isShown ? null : this.#lone),
      },
    }
  }

  #timeAxis(): uPlot.Axis {
    const zone = this.#options.zone
    return {
      ...this.#axisLook(),
      size: 30,
      splits: (plot, _, fromMs, toMs) =>
        timeTicks({ fromMs, toMs, zone: zone() }, plot.width / tickSpacePx),
      values: (_, splits) => tickLabels(splits, zone()),
    }
  }

  #valueAxis(): uPlot.Axis {
    return {
      ...this.#axisLook(),
      size: axisWidthPx,
      space: 32,
      values: (_, splits) => axisNumbers(splits),
    }
  }

  #axisLook(): uPlot.Axis {
    const line = () => this.#colours.of('--line')
    return {
      stroke: () => this.#colours.of('--text-soft'),
      font: axisFont,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
    }
  }

  /** Where no line is drawn, in pixels of the canvas. */
  readonly #gapPixels = (
    plot: uPlot,
    _: number,
    first: number,
    last: number,
  ): uPlot.Series.Gaps => {
    const [times] = plot.data
    const seen = this.#gaps.filter((at) => at > first && at <= last)
    return seen.map((at) => [
      Math.round(plot.valToPos(times[at - 1] ?? 0, 'x', true)),
      Math.round(plot.valToPos(times[at] ?? 0, 'x', true)),
    ])
  }

  #paintBands(): void {
    const { ctx, bbox } = this.#plot
    const [from, to] = [bbox.left, bbox.left + bbox.width]
    ctx.save()
    for (const { fromMs, toMs, tone } of this.#bands) {
      const left = Math.max(from, this.#plot.valToPos(fromMs, 'x', true))
      const right = Math.min(to, Math.max(left + 2, this.#plot.valToPos(toMs, 'x', true)))
      if (right <= left) continue
      ctx.fillStyle = this.#colours.thin(`--${tone}`, 0.16)
      ctx.fillRect(left, bbox.top, right - left, bbox.height)
    }
    ctx.restore()
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select
    if (width < 5) return
    const range = { fromMs: plot.posToVal(left, 'x'), toMs: plot.posToVal(left + width, 'x') }
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    this.#options.onSelect?.(range)
  }
}

function cursorTime(plot: uPlot): number | undefined {
  const { left = -1 } = plot.cursor
  return left < 0 ? undefined : plot.posToVal(left, 'x')
}

/** Some room above and below; of one value alone, too. */
function rangeAround(_: uPlot, least: number | null, greatest: number | null): uPlot.Range.MinMax {
  if (least === null || greatest === null) return [0, 1]
  if (least === greatest) {
    const room = Math.abs(least) * 0.1 || 1
    return [least - room, greatest + room]
  }
  return uPlot.rangeNum(least, greatest, 0.1, false)
}
