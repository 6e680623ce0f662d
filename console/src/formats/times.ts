import { computed, signal } from '@preact/signals'

/** What the page shows times in: `browser`, `UTC`, or a name of the IANA database. */
export const chosenZone = signal('browser')

/** The name of the zone that times are shown in. */
export const zone = computed(() =>
  chosenZone.value === 'browser'
    ? Intl.DateTimeFormat().resolvedOptions().timeZone
    : chosenZone.value,
)

/** Whether a browser knows a zone of this name. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Language-neutral: `2026-01-31 14:02:11`, with milliseconds when asked for. */
export function dateTime(
  at: Date | string | number,
  detail: 'minutes' | 'seconds' | 'ms' = 'seconds',
): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  const { year, month, day, hour, minute, second } = partsOf(date)
  const clock = detail === 'minutes' ? `${hour}:${minute}` : `${hour}:${minute}:${second}`
  const fraction = detail === 'ms' ? `.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : ''
  return `${year}-${month}-${day} ${clock}${fraction}`
}

/** How far the zone is ahead of UTC at a time: `UTC+2`. */
export function offsetName(at: Date | number = Date.now()): string {
  const name = formatOf('offset')
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')
  return (name?.value ?? 'UTC').replace('GMT', 'UTC')
}

/** The time of a page moves each second, and clocks are never quite alike: what is ahead by less has been. */
const clocksApartS = 2

/** How long ago: `4 s ago`, `3 h ago`; `in 12 s` for what is to come. */
export function ago(at: Date | string | number, nowMs: number): string {
  const seconds = (nowMs - new Date(at).getTime()) / 1000
  if (seconds < 0 && seconds > -clocksApartS) return 'just now'
  return seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`
}

/** A length of time in its largest two units at most: `41 s`, `6 min`, `3 h`, `2 d`. */
export function span(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

type Parts = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>>

function partsOf(date: Date): Parts {
  const parts = formatOf('clock').formatToParts(date)
  return Object.fromEntries(parts.map(({ type, value }) => [type, value])) as Parts
}

const formats = new Map<string, Intl.DateTimeFormat>()
const formatsMax = 20

function formatOf(kind: 'clock' | 'offset'): Intl.DateTimeFormat {
  const name = `${kind} ${zone.value}`
  const known = formats.get(name)
  if (known) return known
  const clock = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone.value,
    hourCycle: 'h23',
    ...(kind === 'clock' ? clock : { timeZoneName: 'shortOffset' }),
  })
  if (formats.size >= formatsMax) formats.clear()
  formats.set(name, format)
  return format
}
