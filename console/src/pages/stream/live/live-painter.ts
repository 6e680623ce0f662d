import { serviceNowMs } from '../../../api/service-clock.ts'
import type { FieldPlot } from '../../../charts/field-plot.ts'
import { gapFactor, usualDistance } from '../../../charts/gaps.ts'
import { firstFrom } from '../../../charts/places.ts'
import { liveEndMs } from './live-end.ts'
import type { LiveReadings } from './live-readings.ts'

/** Between two pictures at least: more would not be seen as smoother. */
const leastMs = 50
const mostMs = 500

/** A pixel of a wide chart: when time has moved by it, the picture is another one. */
const pixels = 2000

/** A gap that is narrower is none that one sees. */
const gapShare = 1 / 400

/** Draws what has come in the next frame, and the time that passes; nothing while the page is hidden. */
export class LivePainter {
  readonly #readings: LiveReadings
  readonly #plots = new Map<string, FieldPlot>()
  #windowMs = 60_000
  #endMs: number | undefined
  #frame = 0
  #drawnAtMs = 0
  #drawnCount = -1

  constructor(readings: LiveReadings) {
    this.#readings = readings
  }

  bind(field: string, plot: FieldPlot | undefined): void {
    if (plot === undefined) {
      this.#plots.delete(field)
      return
    }
    this.#plots.set(field, plot)
    this.#drawField(field, plot, this.#endMs ?? serviceNowMs())
  }

  /** Shows a window up to now, or, where it does not follow, up to where it was. */
  show(windowMs: number, isFollowing: boolean): void {
    this.#windowMs = windowMs
    cancelAnimationFrame(this.#frame)
    if (isFollowing) {
      this.#drawnCount = -1
      this.#frame = requestAnimationFrame(this.#beat)
    } else {
      this.#drawAll(this.#endMs ?? serviceNowMs())
    }
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
  }

  showCursor(atMs: number | undefined): void {
    for (const plot of this.#plots.values()) plot.showCursor(atMs)
  }

  readonly #beat = (): void => {
    this.#frame = requestAnimationFrame(this.#beat)
    const nowMs = serviceNowMs()
    const waited = nowMs - this.#drawnAtMs
    const dueMs = Math.max(leastMs, Math.min(mostMs, this.#windowMs / pixels))
    const isNew = this.#readings.count !== this.#drawnCount
    if (waited < dueMs || (!isNew && waited < mostMs)) return
    this.#drawnAtMs = nowMs
    this.#drawnCount = this.#readings.count
    this.#endMs = liveEndMs(this.#readings.newestMs, nowMs, this.#windowMs)
    this.#drawAll(this.#endMs)
  }

  #drawAll(endMs: number): void {
    for (const [field, plot] of this.#plots) this.#drawField(field, plot, endMs)
  }

  #drawField(field: string, plot: FieldPlot, toMs: number): void {
    const buffer = this.#readings.bufferOf(field)
    if (buffer === undefined) return
    const fromMs = toMs - this.#windowMs
    // One point more to the left, from where the line comes into the picture.
    const first = Math.max(0, firstFrom(buffer.times, fromMs) - 1)
    const times = buffer.times.subarray(first)
    const usual = usualDistance(times) ?? Number.POSITIVE_INFINITY
    const gapMs = Math.max(gapFactor * usual, this.#windowMs * gapShare)
    plot.draw({ times, middle: buffer.values.subarray(first), gapMs }, { fromMs, toMs })
  }
}
