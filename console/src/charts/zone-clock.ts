const formats = new Map<string, Intl.DateTimeFormat>()
const formatsMax = 20

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
export function offsetMs(atMs: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(atMs)
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0)
  const shown = Date.UTC(
    of('year'),
    of('month') - 1,
    of('day'),
    of('hour'),
    of('minute'),
    of('second'),
  )
  return shown - Math.floor(atMs / 1000) * 1000
}

/** The instant at which the clocks of a zone show this; what they skip is counted from before the jump. */
export function instantOf(shownMs: number, zone: string): number {
  const first = shownMs - offsetMs(shownMs, zone)
  const second = shownMs - offsetMs(first, zone)
  return second === first ? first : shownMs - offsetMs(second, zone)
}

/** What the clocks of a zone show, as a date whose UTC fields are read. */
export function shownAt(atMs: number, zone: string): Date {
  return new Date(atMs + offsetMs(atMs, zone))
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  if (formats.size >= formatsMax) formats.clear()
  formats.set(zone, format)
  return format
}
