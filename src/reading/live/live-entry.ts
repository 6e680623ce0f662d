import { isUtf8 } from 'node:buffer'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import { formatUs } from '../../core/time.ts'
import type { EntryReader } from '../../ingest/pipeline/entry-reader.ts'
import type { DataPoint } from '../../storage/time-series/readings-query.ts'

/** What a reading shows, its values and what stands beside them as JSON. */
interface PointParts {
  readonly timestampUs: number
  readonly values: string
  readonly flagged: readonly string[]
  /** Empty: there is none. */
  readonly extra: string
}

/**
 * A reading as a data point (decisions.md#answers-with-readings), in the form in which
 * `GET /streams/{id}/data` shows it.
 */
function pointJson({ timestampUs, values, flagged, extra }: PointParts): string {
  const members = [
    `"timestamp":"${formatUs(timestampUs)}"`,
    values.slice(1, -1),
    ...flagged.map((name) => `"${name}:flag":"out_of_range"`),
    extra === '' ? '' : `"extra":${extra}`,
  ]
  return `{${members.filter((member) => member !== '').join(',')}}`
}

/** An accepted reading as JSON. Its values are canonical JSON already, so nothing of it is parsed. */
export function readingJson(entry: EntryReader): string {
  const { timestampUs, values, acceptedNotes } = entry
  const { extra = '', flagged = [] } = acceptedNotes
  return pointJson({ timestampUs, values, flagged, extra })
}

/** A stored reading as JSON. */
export function storedJson({ timestampUs, values, flagged = [], extra }: DataPoint): string {
  return pointJson({
    timestampUs,
    values: JSON.stringify(values),
    flagged,
    extra: extra === undefined ? '' : JSON.stringify(extra),
  })
}

/** A refused reading as JSON: what the list of the quarantine shows of it, without an id. */
export function quarantinedJson(entry: EntryReader): string {
  const { notes, payload, timestampUs, receivedAtUs } = entry.quarantinedEntry()
  const { reason, message, details, source, context } = notes
  const encoding = isUtf8(payload) ? 'utf8' : 'base64'
  return JSON.stringify({
    reason,
    message,
    remedy: refusalRemedy(reason),
    details,
    payload: Buffer.from(payload).toString(encoding),
    encoding,
    timestamp: timestampUs === undefined ? null : formatUs(timestampUs),
    receivedAt: formatUs(receivedAtUs),
    source,
    topic: context?.topic ?? null,
  })
}
