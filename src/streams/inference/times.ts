import type { TimestampFormat } from '../../contracts/stream-schema.ts'
import { parseRfc3339 } from '../../core/time.ts'
import { folded } from './names.ts'

/** How times are written, and what has to be said of that. */
export interface FoundFormat {
  readonly format: TimestampFormat
  /** The times name no zone. */
  readonly isLocal: boolean
}

/** Why values that look like times are none that can be read. */
export interface UnsureFormat {
  readonly problem: string
}

/** A number that means a time between 2000 and 2100 does so in one unit only. */
const firstSecond = 946_684_800
const endSecond = 4_102_444_800

const units: readonly (readonly [TimestampFormat, number])[] = [
  ['epoch_s', 1],
  ['epoch_ms', 1e3],
  ['epoch_us', 1e6],
  ['epoch_ns', 1e9],
]

/** Times that have to be past, as a part of all: forecasts are ahead of the server. */
const pastShareMin = 0.5

const localTime = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(:\d\d([.,]\d{1,9})?)?$/

/** Names that fields with the time of a measurement have, the surest classes first; in any case, without `_` and the like. */
const nameClasses: readonly (readonly string[])[] = [
  [
    'measuredat',
    'measurementtime',
    'measurementtimestamp',
    'observedat',
    'observationtime',
    'resulttime',
    'phenomenontime',
    'sampledat',
    'sampletime',
    'recordedat',
    'recordtime',
    'readingtime',
    'readat',
    'eventtime',
    'sourcetimestamp',
    'fixtime',
    'devicetime',
    'tst',
    'timeunixnano',
    'systemtime',
    'frametime',
    'obstime',
    'obstimeutc',
    'observationtimeutc',
    'measuretime',
    'datatimestamp',
    'eventtimestamp',
  ],
  [
    'timestamp',
    'ts',
    'time',
    'datetime',
    'timestampms',
    'tsms',
    'timems',
    'utc',
    'utctime',
    'timeutc',
    'dateutc',
    'datetimeutc',
    'unixtime',
    'timestamputc',
    'unixtimestamp',
    'epoch',
    'epochms',
    'localtime',
    'observedtimeunixnano',
    'date',
    'at',
    'dt',
    't',
    'when',
    'clock',
  ],
  [
    'lastseen',
    'lastupdated',
    'lastupdate',
    'updated',
    'updatedat',
    'lastchanged',
    'lastreported',
    'lastreporttime',
    'lastreport',
    'lastmeasurement',
    'lastmessage',
    'lastcontact',
    'lastcommunication',
  ],
  [
    'created',
    'createdat',
    'receivedat',
    'receivedtime',
    'servertime',
    'servertimestamp',
    'enqueuedtime',
    'iothubenqueuedtime',
    'publishedat',
    'sentat',
    'ingestedat',
    'gatewaytime',
    'gwtime',
    'nstime',
    'timeserver',
    'creationtime',
    'createtime',
    'sendtime',
    'senttime',
    'uploadtime',
    'generatedat',
    'generationtime',
    'processedat',
  ],
]

/** The rank of a text that is a time, whatever it is called. */
export const unnamedRank = nameClasses.length * 100

/** Names of times that are not those of a measurement. */
const otherTimes =
  /start|begin|stop|end|expir|next|until|since|boot|setup|install|build|born|sunrise|sunset|due|deadline|valid|min|max|first|modified|changed|trigger/

/** Whether a text that is another time in most readings may be theirs, of whatever language its name is. */
export function mayBeUnnamed(name: string, values: readonly unknown[]): boolean {
  const times = new Set(values)
  const areTexts = values.every((value) => typeof value === 'string')
  return (
    areTexts && times.size > 1 && times.size * 2 > values.length && !otherTimes.test(folded(name))
  )
}

/** How likely a name is that of a time: less is likelier. Undefined: it is none. */
export function rankOfName(name: string): number | undefined {
  const plain = folded(name)
  for (const [index, names] of nameClasses.entries()) {
    const place = names.indexOf(plain)
    if (place >= 0) return index * 100 + place
  }
  return undefined
}

/** The class of a rank: 0 for times of measurements, 3 for those of transport. */
export function classOfRank(rank: number): number {
  return Math.floor(rank / 100)
}

/** The one format that all values are times in; undefined where there is none. */
export function timeFormatOf(
  values: readonly unknown[],
  latestUs: number,
): FoundFormat | UnsureFormat | undefined {
  if (values.length === 0) return undefined
  if (values.every((value) => typeof value === 'number')) return epochOf(values, latestUs)
  if (!values.every((value) => typeof value === 'string')) return undefined
  const instants = values.map((text) => parseRfc3339(text))
  if (instants.every((us) => typeof us === 'number' && us >= 0)) {
    return isMostlyPast(instants as number[], latestUs) ? found('rfc3339', false) : undefined
  }
  if (values.every((text) => /^\d{9,20}(\.\d{1,9})?$/.test(text))) {
    const epoch = epochOf(values.map(Number), latestUs)
    if (epoch !== undefined) return epoch
  }
  if (values.every((text) => isLocal(text))) {
    const times = values.map((text) => (parseRfc3339(normal(text)) as number) - dayUs)
    return isMostlyPast(times, latestUs) ? found('local', true) : undefined
  }
  return patternOf(values)
}

const dayUs = 86_400_000_000

function found(format: TimestampFormat, isLocalTime: boolean): FoundFormat {
  return { format, isLocal: isLocalTime }
}

function isMostlyPast(times: readonly number[], latestUs: number): boolean {
  return times.filter((us) => us <= latestUs).length >= times.length * pastShareMin
}

function epochOf(values: readonly number[], latestUs: number): FoundFormat | undefined {
  const unit = units.find(([, perSecond]) =>
    values.every((value) => value / perSecond >= firstSecond && value / perSecond < endSecond),
  )
  if (unit === undefined) return undefined
  const [format, perSecond] = unit
  const times = values.map((value) => (value / perSecond) * 1e6)
  return isMostlyPast(times, latestUs) ? found(format, false) : undefined
}

function isLocal(text: string): boolean {
  return localTime.test(text) && typeof parseRfc3339(normal(text)) === 'number'
}

/** RFC 3339 of what the same clock means in UTC. */
function normal(text: string): string {
  const [, year, month, day, hour, minute, seconds = ':00'] = localTime.exec(text) ?? []
  return `${year}-${month}-${day}T${hour}:${minute}${seconds.replace(',', '.')}Z`
}

const clock = String.raw`(\d{1,2}):(\d\d)(:\d\d)?(\.\d{1,6})?`

interface Order {
  readonly shape: RegExp
  /** The pattern of the date, by the digits of its first part. */
  readonly date: (isPadded: boolean) => string
}

const dotted: Order = {
  shape: new RegExp(String.raw`^(\d{1,2})\.(\d{1,2})\.\d{4}([ T])${clock}$`),
  date: (isPadded) => (isPadded ? 'dd.MM.yyyy' : 'd.M.yyyy'),
}

const yearFirst = new RegExp(String.raw`^\d{4}/(\d\d)/(\d\d)([ T])${clock}$`)
const slashed = new RegExp(
  String.raw`^(\d{1,2})([/-])(\d{1,2})\2\d{4}([ T])${clock}( ?[AaPp][Mm])?$`,
)
const withOffset = /^\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{1,9})?([+-]\d{4})$/
const digitsOnly = /^(19|20)\d{12}$/

/** Times in patterns: an order of day and month that no sample proves is not guessed. */
function patternOf(texts: readonly string[]): FoundFormat | UnsureFormat | undefined {
  const [first = ''] = texts
  if (texts.every((text) => digitsOnly.test(text))) return found('yyyyMMddHHmmss', true)
  if (texts.every((text) => withOffset.test(text))) return offsetPattern(texts)
  if (texts.every((text) => dotted.shape.test(text))) {
    const isPadded = texts.every((text) => /^\d\d\.\d\d\./.test(text))
    return found(`${dotted.date(isPadded)}${clockPattern(texts, first.includes('T'))}`, true)
  }
  if (texts.every((text) => yearFirst.test(text))) {
    return found(`yyyy/MM/dd${clockPattern(texts, first.includes('T'))}`, true)
  }
  if (texts.every((text) => slashed.test(text))) return slashedPattern(texts)
  return undefined
}

function offsetPattern(texts: readonly string[]): FoundFormat | undefined {
  const places = new Set(texts.map((text) => withOffset.exec(text)?.[2]?.length ?? 0))
  const separators = new Set(texts.map((text) => text[10]))
  if (places.size > 1 || separators.size > 1) return undefined
  const [length = 0] = places
  const decimals = length === 0 ? '' : `.${'S'.repeat(length - 1)}`
  const between = separators.has('T') ? "'T'" : ' '
  return found(`yyyy-MM-dd${between}HH:mm:ss${decimals}XX`, false)
}

function slashedPattern(texts: readonly string[]): FoundFormat | UnsureFormat | undefined {
  const parts = texts.map((text) => slashed.exec(text) ?? [])
  const separators = new Set(parts.map(([, , separator]) => separator))
  const halves = new Set(parts.map((part) => part.at(-1) !== undefined))
  if (separators.size > 1 || halves.size > 1) return undefined
  const isDayFirst = parts.some(([, one]) => Number(one) > 12)
  const isMonthFirst = parts.some(([, , , two]) => Number(two) > 12)
  if (isDayFirst && isMonthFirst) return undefined
  if (!isDayFirst && !isMonthFirst) {
    return { problem: 'no sample shows whether the day or the month comes first' }
  }
  const isPadded = texts.every((text) => /^\d\d[/-]\d\d/.test(text))
  const [day, month] = isPadded ? ['dd', 'MM'] : ['d', 'M']
  const [separator = '/'] = separators
  const date = (isDayFirst ? [day, month] : [month, day]).join(separator)
  const [first = ''] = texts
  const rest = clockPattern(texts, first.includes('T'), halves.has(true))
  return found(`${date}${separator}yyyy${rest}`, true)
}

function clockPattern(texts: readonly string[], hasT: boolean, hasHalves = false): string {
  const isPadded = texts.every((text) => /[ T]\d\d:/.test(text))
  const letter = hasHalves ? 'h' : 'H'
  const hours = isPadded ? letter.repeat(2) : letter
  const decimals = Math.max(
    ...texts.map((text) => /\.(\d+)( |$)/.exec(text.slice(10))?.[1]?.length ?? 0),
  )
  const seconds = texts.every((text) => /:\d\d:\d\d/.test(text)) ? ':ss' : '[:ss]'
  const fraction = decimals === 0 ? '' : `[.${'S'.repeat(decimals)}]`
  const half = hasHalves ? (texts[0]?.match(/ [AaPp][Mm]$/) ? ' a' : 'a') : ''
  return `${hasT ? "'T'" : ' '}${hours}:mm${seconds}${fraction}${half}`
}
