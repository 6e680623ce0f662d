import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { formatOfMediaType } from './decode.ts'

/** What the headers of a body say about its format. */
export interface BodyHeaders {
  readonly 'content-type'?: string | undefined
}

/** Formats that have no media type of their own: what they are written in. */
const writtenIn: Readonly<Partial<Record<PayloadFormat, readonly PayloadFormat[]>>> = {
  otlp: ['protobuf', 'json'],
}

/**
 * The format of a body; undefined where its media type is not that of a format.
 *
 * @param own that of the stream: of formats with one media type it is this one
 */
export function formatOfBody(headers: BodyHeaders, own?: PayloadFormat): PayloadFormat | undefined {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
  const format = formatOfMediaType[mediaType.trim().toLowerCase()]
  if (own === undefined || format === undefined) return format
  return writtenIn[own]?.includes(format) === true ? own : format
}
