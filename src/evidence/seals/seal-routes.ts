import type { FastifyPluginAsync } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'
import { timeRange } from '../../reading/queries/time-range.ts'
import { settledRange } from '../../requests/http/asked-range.ts'
import { cursorRemedy } from '../../requests/http/request-remedies.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { sealBody, sealsDefault, sealsQuery, sealsSchema, waitingBody } from './seal-api.ts'
import type { SealPlace, SealStore } from './seal-store.ts'

export interface SealRoutesNeeds {
  readonly streams: DataStreamStore
  readonly seals: Pick<SealStore, 'list' | 'progressOf' | 'waiting'>
  readonly sealGraceUs: number
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** What is sealed of a stream, with the proofs (decisions.md#seals). */
export function sealRoutes(needs: SealRoutesNeeds): FastifyPluginAsync {
  const { seals, sealGraceUs, nowUs } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })

    add('GET /streams/:streamId/seals', {
      operationId: 'listSeals',
      summary:
        'List the seals of a data stream, with all of their revisions, oldest stretch first.',
      description:
        'A seal is a root over the readings that were stored in a stretch of time, as long as `processing.seal` says. The proof leads from it to a ledger.',
      scope: 'data:read',
      takesBasic: true,
      query: sealsQuery,
      answers: { 200: sealsSchema },
      handler: async ({ caller, params, query: asked }) => {
        const { id } = await ownStream(needs, caller.userId, params.streamId)
        const { limit = sealsDefault } = asked
        const { start, end, cursor, nextCursor } = settledRange(asked, nowUs())
        const range = timeRange(start, end)
        const after = cursor === undefined ? undefined : placeOf(cursor)
        const found = await seals.list(id, { ...range, after, limit: limit + 1 })
        const page = found.slice(0, limit)
        const progress = await seals.progressOf(page)
        const waiting = after === undefined ? await seals.waiting(id, range) : []
        const last = found.length > limit ? page.at(-1) : undefined
        return {
          streamId: id,
          seals: progress.map((one, at) => sealBody(page[at] as (typeof page)[number], one)),
          waiting: waiting.map((stretch) => waitingBody(stretch, sealGraceUs)),
          nextCursor: nextCursor(last ? cursorOf(last) : null),
        }
      },
    })
  }
}

function cursorOf({ startUs, endUs, revision }: SealPlace): string {
  return Buffer.from(`${startUs} ${endUs} ${revision}`).toString('base64url')
}

/** @throws DomainError `invalid_request` for a text that `cursorOf` has not made */
function placeOf(cursor: string): SealPlace {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, startUs, endUs, revision] = /^(-?\d{1,16}) (-?\d{1,16}) (\d{1,9})$/.exec(text) ?? []
  const place = { startUs: Number(startUs), endUs: Number(endUs), revision: Number(revision) }
  // One spelling only: Buffer skips what is not base64.
  if (cursorOf(place) === cursor) return place
  const message = 'must be a cursor from an answer of this operation'
  throw invalidParameter('cursor', message, cursorRemedy)
}
