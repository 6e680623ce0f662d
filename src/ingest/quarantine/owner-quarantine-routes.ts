import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { encodeCursor, type ListCursor } from '../../core/list-cursor.ts'
import { settledRange } from '../../requests/http/asked-range.ts'
import { cursorRequest } from '../../requests/http/pagination.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { OwnerQuarantine } from './owner-quarantine.ts'
import * as api from './owner-quarantine-api.ts'
import { parseEntryId, queryFilter } from './quarantine-filter.ts'
import { pageBytesMax, type QuarantineRoutesNeeds } from './quarantine-routes.ts'

interface OwnerQuarantineNeeds
  extends Pick<QuarantineRoutesNeeds, 'streams' | 'posts' | 'processing' | 'nowUs' | 'callerOf'> {
  readonly ownerQuarantine: OwnerQuarantine
}

/** It names streams, and shows what they were sent. */
const seeingBoth = { scope: ['streams:read', 'data:read'] } as const

/** Refused readings of all streams of their owner. */
export function ownerQuarantineRoutes(needs: OwnerQuarantineNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    addList(add, needs)
    addSummary(add, needs)
  }
}

function addList(add: AddOperation, needs: OwnerQuarantineNeeds): void {
  add('GET /quarantine', {
    ...seeingBoth,
    operationId: 'listQuarantineOfAll',
    summary: "List the refused readings of all one's own data streams, newest first.",
    description:
      'By their receipt. A page ends at `limit` entries or 4 MiB of payload, whichever comes first; `nextCursor` leads on.',
    query: api.ownerListQuery,
    answers: { 200: api.ownerListSchema },
    errors: ['not_found'],
    handler: async ({ caller, query }) => await list(needs, caller.userId, query),
  })
}

function addSummary(add: AddOperation, needs: OwnerQuarantineNeeds): void {
  const { processing, ownerQuarantine } = needs
  add('GET /quarantine/summary', {
    ...seeingBoth,
    operationId: 'summarizeQuarantineOfAll',
    summary: "Count the refused readings of all one's own data streams by stream and reason.",
    query: api.ownerSummaryQuery,
    answers: { 200: api.ownerSummarySchema },
    handler: async ({ caller: { userId }, query }) => {
      await processing.caughtUp()
      const [counts, groups, groupCount] = await Promise.all([
        ownerQuarantine.counts(userId),
        ownerQuarantine.groups(userId, query.limit ?? groupsDefault),
        ownerQuarantine.groupCount(userId),
      ])
      return { ...counts, groups, groupCount }
    },
  })
}

const groupsDefault = 100

async function list(
  needs: OwnerQuarantineNeeds,
  userId: UserId,
  query: Static<typeof api.ownerListQuery>,
): Promise<Static<typeof api.ownerListSchema>> {
  const { processing, ownerQuarantine, nowUs } = needs
  const { streamId } = query
  const stream = streamId === undefined ? undefined : await ownStream(needs, userId, streamId)
  const range = settledRange(query, nowUs())
  const filter = { ...queryFilter({ ...query, ...range }, nowUs()), streamId: stream?.id }
  const { limit, after } = cursorRequest({ ...query, cursor: range.cursor })
  const before = after && entryCursor(after)
  await processing.caughtUp()
  const limits = { entries: limit, payloadBytes: pageBytesMax }
  const { entries, next } = await ownerQuarantine.page(userId, filter, { before, limits })
  return {
    entries: entries.map(api.entryOfStreamBody),
    nextCursor: range.nextCursor(next ? cursorOf(next) : null),
  }
}

function cursorOf({ receivedAtUs, id }: { readonly receivedAtUs: number; readonly id: number }) {
  return encodeCursor({ createdAtUs: receivedAtUs, id: String(id) })
}

/** @throws DomainError `invalid_request` for the cursor of another list */
function entryCursor(cursor: ListCursor): ListCursor {
  if (parseEntryId(cursor.id) !== undefined) return cursor
  throw invalidParameter('cursor', 'must be a cursor from an answer of this operation')
}
