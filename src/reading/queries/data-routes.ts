import type { Readable } from 'node:stream'
import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { UserId } from '../../core/ids.ts'
import { chooseType } from '../../requests/http/accept.ts'
import { type SettledRange, settledRange } from '../../requests/http/asked-range.ts'
import { attachmentNamed } from '../../requests/http/sent-bytes.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { type Exchange, operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import {
  type Answering,
  type ExportNeeds,
  type ExportType,
  exportedReadings,
  readingsTypes,
} from '../../streams/data-streams/export-route.ts'
import { pointBody } from '../../streams/data-streams/readings-text.ts'
import { exportedAggregates } from './aggregate-export.ts'
import { encodeAggregateCursor, encodeReadingsCursor } from './cursors.ts'
import {
  aggregateBody,
  dataParameters,
  readingsAnswer,
  type readingsPageSchema,
} from './data-api.ts'
import { type DataQuery, dataQuery } from './data-query.ts'
import type { QueriedStore } from './queried-store.ts'
import type { QueriedStreams } from './queried-streams.ts'
import type { QueryShare } from './query-share.ts'
import { rangeBody } from './time-range.ts'
import { timeWeights } from './time-weights.ts'
import { exportedWindows } from './window-export.ts'
import { encodeWindowCursor, windowBody } from './window-query.ts'

export interface DataRoutesNeeds extends ExportNeeds {
  readonly share: QueryShare
  readonly streams: DataStreamStore
  readonly queried: QueriedStreams
  readonly store: QueriedStore
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Failures of whatever asks the store. */
export const storeErrors = [
  'overloaded',
  'query_too_slow',
  'rate_limited',
  'store_unavailable',
  'too_many_points',
  'unsupported_query',
] as const

/** Reads back what is stored of one stream: as it was sent, or aggregated. */
export function dataRoutes(needs: DataRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('GET /streams/:streamId/data', {
      operationId: 'readReadings',
      summary: 'Read the readings of a data stream, or what they amount to, in the order of time.',
      scope: 'data:read',
      takesBasic: true,
      takesCookieAlone: true,
      query: dataParameters,
      answers: { 200: readingsAnswer },
      errors: [...storeErrors, 'not_acceptable'],
      handler: async (exchange) =>
        await needs.share.during(exchange.caller.userId, () => answer(needs, exchange)),
    })
  }
}

async function answer(
  needs: DataRoutesNeeds,
  { caller, params, query, request, reply }: Exchange<'/:streamId', typeof dataParameters>,
): Promise<Static<typeof readingsPageSchema> | Readable> {
  const { queried } = needs
  const { userId } = caller
  const stream = await ownStream(needs, userId, params.streamId)
  const fields = await queried.fieldsOf(stream)
  const isFile = caller.session?.isAlone === true
  const type = chooseType(request.headers.accept, isFile ? linesTypes : readingsTypes)
  if (isFile) void reply.header('content-disposition', attachmentNamed(fileNameOf(stream, type)))
  const form = type === 'application/json' ? 'page' : 'export'
  const weights = timeWeights([[stream]], needs.nowUs())
  const hasWindows = query.aggregation === 'window' && (await queried.hasWindows(stream))
  const about = { id: stream.id, fields, timeWeights: weights, hasWindows }
  const range = settledRange(query, needs.nowUs())
  const asked = dataQuery(about, { ...query, ...range }, form)
  if (type !== 'application/json') {
    const wanted = { userId, type, stream, known: fields.keys() }
    return await linesOf(needs, asked, wanted, { request, reply })
  }
  return {
    streamId: stream.id,
    ...rangeBody(range),
    aggregation: query.aggregation ?? 'raw',
    ...(await page(needs.store, asked, range)),
  }
}

/** What a file of readings can be: a browser that saves one says nothing of what it likes. */
const linesTypes = ['text/csv', 'application/x-ndjson'] as const

function fileNameOf({ name }: DataStream, type: string): string {
  return `${name}.${type === 'text/csv' ? 'csv' : 'ndjson'}`
}

interface WantedLines {
  readonly userId: UserId
  readonly type: ExportType
  readonly stream: DataStream
  readonly known: Iterable<string>
}

async function linesOf(
  needs: DataRoutesNeeds,
  asked: DataQuery,
  wanted: WantedLines,
  answering: Answering,
): Promise<Readable> {
  switch (asked.kind) {
    case 'raw':
      return await exportedReadings(needs, asked.query, wanted, answering)
    case 'aggregated':
      return await exportedAggregates(needs, asked.query, wanted, answering)
    case 'windows':
      return await exportedWindows(needs, asked.query, wanted, answering)
    default:
      return asked satisfies never
  }
}

async function page(store: QueriedStore, asked: DataQuery, { nextCursor }: SettledRange) {
  if (asked.kind === 'raw') {
    const { fields } = asked.query
    const { points, next } = await store.query(asked.query)
    return {
      data: points.map((point) => pointBody(point, { fields, withExtra: fields.length === 0 })),
      nextCursor: nextCursor(next ? encodeReadingsCursor(next) : null),
    }
  }
  if (asked.kind === 'windows') {
    const { points, next } = await store.windows(asked.query)
    return {
      data: points.map((point) => windowBody(point, asked.query.fields)),
      nextCursor: nextCursor(next ? encodeWindowCursor(next) : null),
    }
  }
  const { points, next } = await store.aggregate(asked.query)
  return {
    data: points.map((point) => aggregateBody(point)),
    nextCursor: nextCursor(next ? encodeAggregateCursor(next) : null),
  }
}
