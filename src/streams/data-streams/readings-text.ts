import { formatUs } from '../../core/time.ts'
import type { DataPoint } from '../../storage/time-series/readings-query.ts'

/** How readings are written, one after the other. */
export type TextFormat = 'csv' | 'ndjson'

/**
 * The columns of a CSV answer, which has to name them before it has seen a reading: the time, the
 * fields, and then what has no field. No field can have the name of one of ours
 * (decisions.md#definitions).
 */
export interface TextColumns {
  readonly fields: readonly string[]
  /** Whether `extra` and all flags are asked for, or only the fields. */
  readonly withExtra: boolean
  /** Stands in front of each line, where it is to say whose reading it is. */
  readonly streamId?: string
  /** Whether each line ends with what its reading is known by, where its content does not say that. */
  readonly withDigest?: boolean
}

/** The column with what a reading is known by: the digest of its entry in the journal, as 16 digits in hex. */
export const digestColumn = ':digest'

/** Lines end as RFC 4180 says. */
export const csvLineEnd = '\r\n'

/** The first line of a CSV answer; nothing for the other formats. */
export function headOf(format: TextFormat, columns: TextColumns): string {
  if (format !== 'csv') return ''
  const { fields, withExtra, streamId, withDigest } = columns
  const own = streamId === undefined ? ['timestamp'] : ['streamId', 'timestamp']
  const last = withDigest === true ? [':flag', digestColumn] : [':flag']
  return csvHead([...own, ...fields, ...(withExtra ? ['extra'] : []), ...last])
}

export function csvHead(names: readonly string[]): string {
  return names.join(',') + csvLineEnd
}

/** Readings as lines, in UTF-8 and in memory of their own. */
export function linesOf(
  format: TextFormat,
  points: readonly DataPoint[],
  columns: TextColumns,
): Uint8Array<ArrayBuffer> {
  const lines =
    format === 'csv'
      ? points.map((point) => csvLine(point, columns))
      : points.map((point) => `${JSON.stringify(pointBody(point, columns))}\n`)
  return new TextEncoder().encode(lines.join(''))
}

/** A reading as JSON answers have it. A flagged field is told by a key that no field can have. */
export function pointBody(
  { timestampUs, values, extra, flagged, digest }: DataPoint,
  columns: TextColumns,
): object {
  const flags = shownFlags(flagged, columns).map((name) => [`${name}:flag`, 'out_of_range'])
  const { streamId } = columns
  return {
    ...(streamId !== undefined && { streamId }),
    timestamp: formatUs(timestampUs),
    ...values,
    ...(Object.fromEntries(flags) as object),
    ...(extra !== undefined && { extra }),
    ...(columns.withDigest === true && { [digestColumn]: digestText(digest) }),
  }
}

/** In the order of its bytes in the journal, where the number is little-endian. */
export function digestText(digest = 0n): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(digest)
  return bytes.toString('hex')
}

function csvLine(point: DataPoint, columns: TextColumns): string {
  const { timestampUs, values, extra, flagged, digest } = point
  let line = columns.streamId === undefined ? '' : `${columns.streamId},`
  line += formatUs(timestampUs)
  for (const name of columns.fields) line += `,${csvValue(values[name])}`
  if (columns.withExtra) line += `,${csvValue(extra)}`
  line += `,${shownFlags(flagged, columns).join(' ')}`
  if (columns.withDigest === true) line += `,${digestText(digest)}`
  return line + csvLineEnd
}

function shownFlags(
  flagged: readonly string[] | undefined,
  { fields, withExtra }: TextColumns,
): readonly string[] {
  if (flagged === undefined) return noFlags
  return withExtra ? flagged : flagged.filter((name) => fields.includes(name))
}

const noFlags: readonly string[] = []

/**
 * Numbers, true and false are written as in JSON, objects and arrays are JSON, and texts are what
 * they are (decisions.md#answers-with-readings). What is absent is empty; an empty text is two
 * quotes, so that they can be told apart.
 */
export function csvValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') return csvText(JSON.stringify(value))
  return value === '' ? '""' : csvText(value)
}

/** RFC 4180: what has a comma, a quote or an end of line stands in quotes, with its quotes doubled. */
function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
