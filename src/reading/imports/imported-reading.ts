import { parseJson } from '../../../processors/decode-json.ts'
import { timeColumnOf } from '../../../processors/mapping/row-reading.ts'
import { claimOf, timeOf } from '../../../processors/timestamp.ts'
import type { CompiledStream, RefusedReading } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { passSources, sourceOf } from '../../core/number-sources.ts'
import { digestProblem, senderOfDigest, senderOfNoDigest } from '../../ingest/pipeline/sender.ts'
import type { Row } from './row.ts'

/** Behind the names of fields in rows that an export has written: what is out of range. */
const flagEnding = ':flag'

/** The column of such a file that says what each reading is known by. */
const digestColumn = ':digest'

type Members = Readonly<Record<string, unknown>>

/** A row as a device would have sent it. */
export interface ImportedReading {
  readonly reading: unknown
  /** What the quarantine keeps of it, should it be refused. */
  readonly payload: Uint8Array
  /** Why it cannot be read. */
  readonly problem?: string
  /** Why it is refused before anybody judges it. */
  readonly refusal?: RefusedReading
  /** Stands for what it was known by where it was exported, if the file says so (see `senderOfDigest`). */
  readonly sender?: string
}

/**
 * Takes a row apart. What exports write beside the fields (the stream, flags, `extra` around unknown
 * fields, the time under another name than that of the stream) becomes what was sent. Pure.
 *
 * A row needs a time of its own: with the time of its receipt it would be another reading each time.
 */
export function importedReading(
  { payload, problem }: Row,
  { schema, map }: Pick<CompiledStream, 'schema' | 'map'>,
): ImportedReading {
  if (problem !== undefined) return { reading: undefined, payload, problem }
  const parsed = parseJson(payload)
  if (!parsed.ok) return { reading: undefined, payload, problem: parsed.problem }
  const { value } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { reading: undefined, payload, problem: 'a row must be an object' }
  }
  const given = value as Members
  const digest = Object.hasOwn(given, digestColumn) ? given[digestColumn] : undefined
  if (digest !== undefined && !isDigest(digest)) {
    return { reading: undefined, payload, problem: digestProblem, sender: senderOfNoDigest }
  }
  // A stream with a mapping may have a path to its time: the row keeps its own column then.
  const reading = asSent(given, schema, map === undefined)
  const isChanged = reading !== given
  const kept = isChanged ? Buffer.from(textOf(reading)) : payload
  const sender = digest === undefined ? undefined : senderOfDigest(digest)
  const known = { reading, payload: kept, ...(sender !== undefined && { sender }) }
  if (timeColumnOf(reading, schema) !== undefined) return known
  return { ...known, refusal: withoutTime(schema) }
}

/** JSON whose numbers have the digits that they came with: a time that is judged again is the same time. */
function textOf(reading: Members): string {
  const members = Object.entries(reading).map(([name, value]) => {
    return `${JSON.stringify(name)}:${sourceOf(reading, name) ?? JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)
}

/** The very same object where there is nothing to change. */
function asSent(given: Members, schema: StreamSchema, renames: boolean): Members {
  const { timestampField, timestampFormat } = schema
  const extra = isObject(given['extra']) ? given['extra'] : undefined
  const isRenamed =
    renames &&
    timestampField !== 'timestamp' &&
    !Object.hasOwn(given, timestampField) &&
    Object.hasOwn(given, 'timestamp')
  if (extra === undefined && !isRenamed && !Object.keys(given).some(isOwn)) return given
  const isLeft = (name: string) =>
    isOwn(name) || (name === 'extra' && extra !== undefined) || (name === 'timestamp' && isRenamed)
  const members = Object.entries(given).filter(([name]) => !isLeft(name))
  const unknown = Object.entries(extra ?? {}).filter(([name]) => !Object.hasOwn(given, name))
  const time = isRenamed ? timeOf(given['timestamp'], 'rfc3339') : undefined
  const claim = typeof time === 'number' ? claimOf(time, timestampFormat) : given['timestamp']
  const renamed = isRenamed ? [[timestampField, claim] as const] : []
  const reading = Object.fromEntries([...members, ...unknown, ...renamed])
  passSources(given, reading)
  return reading
}

/** Whether it is a column that exports write beside what was sent. */
function isOwn(name: string): boolean {
  return name === 'streamId' || name === digestColumn || name.endsWith(flagEnding)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutTime({ timestampField: path }: StreamSchema): RefusedReading {
  const message = 'is missing: a row of a file needs a time of its own'
  return {
    accepted: false,
    reason: 'timestamp_invalid',
    message: `${path} ${message}`,
    details: [{ path, message }],
    timestampUs: undefined,
  }
}
