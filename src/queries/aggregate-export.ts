import type { FastifyReply } from 'fastify'
import type { UserId } from '../core/ids.ts'
import { formatUs } from '../core/time.ts'
import {
  type Exchange,
  type ExportType,
  formatOf,
  sendLines,
} from '../data-streams/export-route.ts'
import type { ReadingsExports } from '../data-streams/readings-export.ts'
import { csvHead, csvLineEnd, csvValue, type TextFormat } from '../data-streams/readings-text.ts'
import type {
  AggregateCursor,
  AggregatePoint,
  AggregateQuery,
} from '../time-series/aggregate-query.ts'
import type { QueriedStore } from './data-routes.ts'
import { aggregateBody } from './point-body.ts'

/** Points of one chunk: each may be made of many readings. */
const chunkPointsMax = 1_000

interface AggregateExportNeeds {
  readonly exports: ReadingsExports
  readonly store: Pick<QueriedStore, 'aggregate'>
}

/** Answers aggregated points of one stream as lines, up to the end of the range. */
export async function sendAggregates(
  { exports, store }: AggregateExportNeeds,
  query: AggregateQuery,
  { userId, type }: { readonly userId: UserId; readonly type: ExportType },
  exchange: Exchange,
): Promise<FastifyReply> {
  const format = formatOf(type)
  const keys = query.fields.map(({ key }) => key)
  const head = format === 'csv' ? csvHead(['timestamp', ...keys, 'count']) : ''
  const read = async (after: AggregateCursor | undefined, left: number) => {
    const limit = Math.min(chunkPointsMax, left)
    const { points, next } = await store.aggregate({ ...query, limit, after: after ?? query.after })
    const lines = points.map((point) => lineOf(format, point, { keys }))
    return { bytes: new TextEncoder().encode(lines.join('')), rows: points.length, next }
  }
  return await sendLines(exports, type, { userId, head, limit: query.limit, read }, exchange)
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
