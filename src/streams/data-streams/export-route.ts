import type { Readable } from 'node:stream'
import { streamOf } from '../../core/heard-streams.ts'
import type { UserId } from '../../core/ids.ts'
import type { Exchange } from '../../requests/operations/operation.ts'
import type { ReadingsCursor, ReadingsQuery } from '../../storage/time-series/readings-query.ts'
import type { DataStream } from './data-stream-store.ts'
import type { Chunk, ExportRequest, ReadingsExports } from './readings-export.ts'
import { headOf, type TextColumns, type TextFormat } from './readings-text.ts'
import { storedFieldsOf } from './transform-definition.ts'

/**
 * Readings of one chunk, and about how many bytes: as long as it is read, nobody else is served. With twice as
 * many, acknowledgements wait longer beside a fast reader, who gets hardly more of them in a second
 * (`npm run bench:export`).
 */
const chunkRowsMax = 2_000
const chunkBytesMax = 512 * 1024

export interface ExportNeeds {
  readonly exports: ReadingsExports
  /** The fields that readings of a stream have had, by name. */
  readonly fieldsOf: (streamId: string) => Promise<readonly string[]>
  /** @throws DomainError `store_unavailable` */
  readonly readLines: (request: {
    readonly query: ReadingsQuery
    readonly format: TextFormat
    readonly columns: TextColumns
  }) => Promise<Chunk<ReadingsCursor>>
}

/**
 * Media types that readings can be answered as, the one for everybody who has no wish first
 * (decisions.md#answers-with-readings).
 */
export const readingsTypes = ['application/json', 'text/csv', 'application/x-ndjson'] as const

const formats = {
  'text/csv': { format: 'csv', contentType: 'text/csv; charset=utf-8; header=present' },
  'application/x-ndjson': { format: 'ndjson', contentType: 'application/x-ndjson' },
} as const

export type ExportType = keyof typeof formats

/** What lines are asked for by, and go out through. */
export type Answering = Pick<Exchange, 'request' | 'reply'>

interface Wanted {
  readonly userId: UserId
  readonly type: ExportType
  readonly stream: DataStream
}

/** Raw readings as lines, up to the end of the range, however many there are. */
export async function exportedReadings(
  { exports, fieldsOf, readLines }: ExportNeeds,
  query: ReadingsQuery,
  { userId, type, stream }: Wanted,
  answering: Answering,
): Promise<Readable> {
  const format = formatOf(type)
  const withExtra = query.fields.length === 0
  const all = async () =>
    [...Object.keys(storedFieldsOf(stream)), ...(await fieldsOf(stream.id))].sort()
  const fields = new Set(withExtra ? await all() : query.fields)
  const columns: TextColumns = { fields: [...fields], withExtra }
  const read = (after: ReadingsCursor | undefined, left: number) => {
    const size = { limit: Math.min(chunkRowsMax, left), bytesMax: chunkBytesMax }
    return readLines({ query: { ...query, ...size, after: after ?? query.after }, format, columns })
  }
  const { limit } = query
  return await openLines(
    exports,
    type,
    { userId, head: headOf(format, columns), limit, read },
    answering,
  )
}

export function formatOf(type: ExportType): TextFormat {
  return formats[type].format
}

/** Begins an answer of lines, for a handler to return. @throws DomainError as `ReadingsExports.open` */
export async function openLines<Cursor>(
  exports: ReadingsExports,
  type: ExportType,
  lines: ExportRequest<Cursor>,
  { request, reply }: Answering,
): Promise<Readable> {
  void reply.type(formats[type].contentType)
  // Fastify would read all of it, only to throw it away.
  if (request.method === 'HEAD') return streamOf([])
  return await exports.open(lines)
}
