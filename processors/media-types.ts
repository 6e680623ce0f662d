import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { isSnappy } from '../src/core/snappy-coding.ts'
import { formatOfMediaType } from './decode.ts'

/** What the headers of a body say about its format. */
export interface BodyHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'content-encoding'?: string | undefined
}

/** Formats whose media type is that of another one, too: a parameter, or the stream, says which one it is. */
const sharedTypes: Readonly<Record<string, readonly SharingFormat[]>> = {
  'text/plain': [
    { format: 'prometheus', parameter: /;\s*version\s*=\s*"?(?:0\.0\.4|1\.0\.0)\b/i },
    // Clients of InfluxDB call lines plain text.
    { format: 'line-protocol' },
  ],
  'application/x-protobuf': [
    {
      format: 'prometheus-remote-write',
      parameter:
        /;\s*proto\s*=\s*"?(?:prometheus\.WriteRequest|io\.prometheus\.write\.v2\.Request)\b/i,
    },
    { format: 'otlp' },
  ],
  'application/protobuf': [{ format: 'otlp' }],
  'application/json': [{ format: 'otlp' }],
}

interface SharingFormat {
  readonly format: PayloadFormat
  /** What says in the type that it is this format; undefined: only the stream does. */
  readonly parameter?: RegExp
}

/**
 * The format of a body; undefined where its media type is not that of a format.
 *
 * @param own that of the stream: of formats with one media type it is this one
 */
export function formatOfBody(headers: BodyHeaders, own?: PayloadFormat): PayloadFormat | undefined {
  const type = headers['content-type'] ?? ''
  const mediaType = mediaTypeOf(type)
  const sharing = sharedTypes[mediaType] ?? []
  // Remote write 1.0 names no message, but nothing else of this type comes in Snappy.
  if (mediaType === 'application/x-protobuf' && isSnappy(headers['content-encoding']))
    return 'prometheus-remote-write'
  const named = sharing.find(
    ({ format, parameter }) => parameter?.test(type) === true || format === own,
  )
  return named?.format ?? formatOfMediaType[mediaType]
}

function mediaTypeOf(header: string): string {
  const [mediaType = ''] = header.split(';')
  return mediaType.trim().toLowerCase()
}
