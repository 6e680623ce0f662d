import type { FastifyPluginAsync } from 'fastify'
import { comparableUs } from '../../core/time.ts'
import type { QueryShare } from '../../reading/queries/query-share.ts'
import { askedInstant } from '../../requests/http/asked-range.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { type ReceiptNeeds, receiptOf } from './receipt.ts'
import { receiptQuery, receiptSchema } from './receipt-api.ts'

export interface ReceiptRoutesNeeds extends ReceiptNeeds {
  readonly share: QueryShare
  readonly streams: DataStreamStore
  readonly callerOf: CallerOf
}

/** `GET /streams/{id}/receipts`: what happened to the readings of one time. */
export function receiptRoutes(needs: ReceiptRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('GET /streams/:streamId/receipts', {
      operationId: 'readReceipt',
      summary: 'Read what happened to the readings of one time.',
      description: [
        'For each of them: how it came in, its verdict, whether it is stored, its windows, the alerts that it moved,',
        'their events with every delivery, and its seal. `missing` names what is not known any more, and why.',
      ].join(' '),
      scope: 'data:read',
      takesBasic: true,
      query: receiptQuery,
      answers: { 200: receiptSchema },
      errors: ['overloaded', 'query_too_slow', 'rate_limited', 'store_unavailable'],
      handler: async ({ caller: { userId }, params, query }) => {
        const timestampUs = comparableUs(askedInstant('timestamp', query.timestamp, needs.nowUs()))
        return await needs.share.during(userId, async () => {
          const stream = await ownStream(needs, userId, params.streamId)
          return await receiptOf(needs, { stream, ownerId: userId, timestampUs })
        })
      },
    })
  }
}
