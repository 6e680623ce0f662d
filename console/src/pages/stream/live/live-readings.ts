import { SeriesBuffer } from '../../../charts/series-buffer.ts'

/** A reading as the service tells it: a time, fields, and flags of fields. */
export type Reading = Readonly<Record<string, unknown>> & { readonly timestamp: string }

/** Readings that the table shows. */
export const newestMax = 200

/** Points of a field that are kept: more than twice the pixels of a wide screen. */
export const pointsMax = 6000

/** Seconds over which the rate is counted. */
const rateSeconds = 10

/** A second that is not over yet does not count. */
const slots = rateSeconds + 1

/** Readings of one time that are told apart: a device whose clock stands still makes ever more of them. */
const atNewestMax = 1000

export interface Arrival {
  /** Undefined for what is told of the time before. */
  readonly arrivedAtMs?: number | undefined
  /** It is gone on from the newest time, and not from a position: what is of that time comes again. */
  readonly isAgain?: boolean
}

/** What has come of a stream while its page is open, within bounds: it may be open for a year. */
export class LiveReadings {
  readonly #buffers: ReadonlyMap<string, SeriesBuffer>
  readonly #last = new Map<string, unknown>()
  #newest: Reading[] = []
  #newestMs = Number.NEGATIVE_INFINITY
  /** What those of the newest time say: they come again when it is gone on from there. */
  readonly #atNewest = new Set<string>()
  #newestTime = ''
  readonly #arrivals = new Float64Array(slots)
  #arrivalSecond = 0
  #firstArrivalS = Number.POSITIVE_INFINITY
  #count = 0

  constructor(numericFields: readonly string[]) {
    this.#buffers = new Map(numericFields.map((name) => [name, new SeriesBuffer(pointsMax)]))
  }

  /** Readings that have come, ever. */
  get count(): number {
    return this.#count
  }

  /** The greatest time; minus infinity before the first reading. */
  get newestMs(): number {
    return this.#newestMs
  }

  /** The greatest time, as the service wrote it; empty before the first reading. */
  get newestTime(): string {
    return this.#newestTime
  }

  /** The last values, by field. */
  get last(): ReadonlyMap<string, unknown> {
    return this.#last
  }

  bufferOf(field: string): SeriesBuffer | undefined {
    return this.#buffers.get(field)
  }

  /** Those that came last, the last one first. */
  newest(): readonly Reading[] {
    return this.#newest.toReversed()
  }

  /** Takes a reading; false where it was taken before. */
  take(json: string, { arrivedAtMs, isAgain = false }: Arrival = {}): boolean {
    const reading = JSON.parse(json) as Reading
    if (isAgain && this.#atNewest.has(contentOf(reading))) return false
    const atMs = Date.parse(reading.timestamp)
    this.#count += 1
    this.#noteTime(reading, atMs)
    if (arrivedAtMs !== undefined) this.#noteArrival(arrivedAtMs)
    for (const [name, buffer] of this.#buffers) {
      const value = reading[name]
      if (typeof value === 'number') buffer.push(atMs, value)
    }
    this.#newest.push(reading)
    if (this.#newest.length > 2 * newestMax) this.#newest = this.#newest.slice(-newestMax)
    return true
  }

  /** Readings a second, over the last seconds. */
  rate(nowMs: number): number {
    const second = Math.floor(nowMs / 1000)
    this.#forgetArrivals(second)
    const all = this.#arrivals.reduce((sum, count) => sum + count, 0)
    const whole = all - (this.#arrivals[second % slots] ?? 0)
    return whole / Math.min(rateSeconds, Math.max(1, second - this.#firstArrivalS))
  }

  #noteTime(reading: Reading, atMs: number): void {
    // Times are of one length, so their order is that of their texts: finer than milliseconds.
    if (reading.timestamp < this.#newestTime) return
    if (reading.timestamp !== this.#newestTime) this.#atNewest.clear()
    this.#newestTime = reading.timestamp
    this.#newestMs = atMs
    if (this.#atNewest.size < atNewestMax) this.#atNewest.add(contentOf(reading))
    for (const [name, value] of Object.entries(reading)) {
      if (name !== 'timestamp' && !name.endsWith(':flag')) this.#last.set(name, value)
    }
  }

  #noteArrival(atMs: number): void {
    const second = Math.floor(atMs / 1000)
    this.#forgetArrivals(second)
    this.#firstArrivalS = Math.min(this.#firstArrivalS, second)
    const place = second % slots
    this.#arrivals[place] = (this.#arrivals[place] ?? 0) + 1
  }

  #forgetArrivals(second: number): void {
    const passed = Math.min(slots, Math.max(0, second - this.#arrivalSecond))
    for (let ago = 0; ago < passed; ago += 1) this.#arrivals[(second - ago) % slots] = 0
    this.#arrivalSecond = Math.max(this.#arrivalSecond, second)
  }
}

/** The same for one reading, whatever order its fields come in. */
function contentOf(reading: Reading): string {
  return JSON.stringify(Object.entries(reading).sort(([one], [other]) => (one < other ? -1 : 1)))
}
