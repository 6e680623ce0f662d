import type { Readable } from 'node:stream'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import type {
  AggregateCursor,
  AggregatePoint,
  AggregateQuery,
} from '../../storage/time-series/aggregate-query.ts'
import {
  type Answering,
  type ExportType,
  formatOf,
  openLines,
} from '../../streams/data-streams/export-route.ts'
import type { ReadingsExports } from '../../streams/data-streams/readings-export.ts'
import {
  csvHead,
  csvLineEnd,
  csvValue,
  type TextFormat,
} from '../../streams/data-streams/readings-text.ts'
import { aggregateBody } from './data-api.ts'
import type { QueriedStore } from './queried-store.ts'

/** Points of one chunk, each of which may be made of many readings, and about how many bytes. */
const chunkPointsMax = 1_000
const chunkBytesMax = 512 * 1024

interface AggregateExportNeeds {
  readonly exports: ReadingsExports
  readonly store: Pick<QueriedStore, 'aggregate'>
}

/** Aggregated points of one stream as lines, up to the end of the range. */
export async function exportedAggregates(
  { exports, store }: AggregateExportNeeds,
  query: AggregateQuery,
  { userId, type }: { readonly userId: UserId; readonly type: ExportType },
  answering: Answering,
): Promise<Readable> {
  const format = formatOf(type)
  const keys = query.fields.map(({ key }) => key)
  const head = format === 'csv' ? csvHead(['timestamp', ...keys, 'count']) : ''
  const read = async (after: AggregateCursor | undefined, left: number) => {
    const size = { limit: Math.min(chunkPointsMax, left), bytesMax: chunkBytesMax }
    const { points, next } = await store.aggregate({
      ...query,
      ...size,
      after: after ?? query.after,
    })
    const lines = points.map((point) => lineOf(format, point, { keys }))
    return { bytes: new TextEncoder().encode(lines.join('')), rows: points.length, next }
  }
  return await openLines(exports, type, { userId, head, limit: query.limit, read }, answering)
}

/** What the line of a point has; a stream stands in front where it is to say whose it is. */
export interface PointColumns {
  readonly keys: readonly string[]
  readonly streamId?: string
}

/** A point as a line, with its end. */
export function lineOf(
  format: TextFormat,
  point: AggregatePoint,
  { keys, streamId }: PointColumns,
): string {
  const own = streamId === undefined ? {} : { streamId }
  if (format === 'ndjson') return `${JSON.stringify({ ...own, ...aggregateBody(point) })}\n`
  const cells = [formatUs(point.timestampUs), ...keys.map((key) => csvValue(point.values[key]))]
  const line = `${cells.join(',')},${point.count}${csvLineEnd}`
  return streamId === undefined ? line : `${streamId},${line}`
}
