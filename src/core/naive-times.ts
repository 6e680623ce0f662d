/** Offsets that are remembered of one zone: those of as many quarters of an hour. */
const quartersMax = 10_000

const [quarterMs, dayMs] = [900_000, 86_400_000]

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/

/** Minutes ahead of UTC that a wall time can mean: twice where a clock is put back. */
interface Offsets {
  readonly first: number
  readonly last: number
}

/** Times that name no zone, read in one. */
export class NaiveTimes {
  readonly #zone: string
  readonly #format: Intl.DateTimeFormat
  readonly #quarters = new Map<number, Offsets>()

  constructor(zone: string) {
    this.#zone = zone
    this.#format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  }

  /**
   * As RFC 3339 has it. Of two times that it can mean it is the first one; where a clock is put forward, a time
   * that there is not is as much later. Undefined: it is no time.
   */
  rfc3339(text: string): string | undefined {
    const ms = wallMs(text)
    if (ms === undefined) return undefined
    const time = text.length === 10 ? `${text}T00:00:00` : text.replace(' ', 'T')
    return time + (this.#zone === 'UTC' ? 'Z' : offsetText(this.offsetMinutes(ms)))
  }

  /** Minutes ahead of UTC that a clock is which shows a time: that time as if it stood in UTC, in milliseconds. */
  offsetMinutes(shownMs: number): number {
    return this.#zone === 'UTC' ? 0 : this.#offsets(shownMs).first
  }

  /** The latest that it can mean. Infinity: it is no time, and never passes. */
  latestUs(text: string): number {
    const ms = wallMs(text)
    if (ms === undefined) return Number.POSITIVE_INFINITY
    return (ms - (this.#zone === 'UTC' ? 0 : this.#offsets(ms).last * 60_000)) * 1_000
  }

  #offsets(wall: number): Offsets {
    const quarter = Math.floor(wall / quarterMs)
    const kept = this.#quarters.get(quarter)
    if (kept) return kept
    const [before, after] = [this.#offsetAt(wall - dayMs), this.#offsetAt(wall + dayMs)]
    const fitting = [before, after].filter((offset) => {
      return this.#offsetAt(quarter * quarterMs - offset * 60_000) === offset
    })
    const [first = before, last = first] = fitting
    const offsets = { first: Math.max(first, last), last: Math.min(first, last) }
    if (this.#quarters.size >= quartersMax) this.#quarters.clear()
    this.#quarters.set(quarter, offsets)
    return offsets
  }

  #offsetAt(ms: number): number {
    const parts = this.#format.formatToParts(ms)
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(name) ?? []
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  }
}

/** The time that a clock shows, in whole milliseconds that are not before it, as if it stood in UTC. */
function wallMs(text: string): number | undefined {
  const [, ...parts] = pattern.exec(text) ?? []
  const [year, month, day, hour = 0, minute = 0, second = 0, fraction = ''] = parts
  if (year === undefined) return undefined
  const ms = Math.ceil(Number(`0.${fraction}0`) * 1_000)
  const whole = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute))
  return whole + Number(second) * 1_000 + ms
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const digits = [hours, rest].map((value) => String(value).padStart(2, '0')).join(':')
  return `${minutes < 0 ? '-' : '+'}${digits}`
}
