import type { FastifyPluginAsync } from 'fastify'
import type { Judge } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { cutText } from '../../core/cut-text.ts'
import { DomainError } from '../../core/errors.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, cursorQuery, noContent, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import { type CreationNeeds, creation } from '../../streams/data-streams/data-stream-routes.ts'
import { proposedStreamOf } from './proposed-stream.ts'
import * as api from './unrouted-api.ts'
import type { UnroutedMessages, UnroutedTopic } from './unrouted-messages.ts'

/** Characters of a topic that a stream can be named after. */
const nameLengthMax = 200

export interface UnroutedRoutesNeeds extends CreationNeeds {
  readonly unrouted: UnroutedMessages
  readonly judgeOf: (schema: StreamSchema) => Judge
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Messages of one's own clients of MQTT that lead nowhere, and a stream for those of a topic. */
export function unroutedRoutes(needs: UnroutedRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })
    addShown(add, needs)
    addMade(add, needs)
  }
}

function addShown(add: AddOperation, { unrouted }: UnroutedRoutesNeeds): void {
  add('GET /mqtt/unrouted', {
    operationId: 'listUnroutedTopics',
    summary: 'List the topics that MQTT messages came on and that lead nowhere, the newest first.',
    description: [
      'Of all clients of the calling user, its devices included, since the service was started. The newest 1,000, as',
      'long as there is room for them.',
    ].join(' '),
    scope: 'data:read',
    query: query(cursorQuery),
    answers: { 200: cursorListOf(api.unroutedTopicSchema) },
    handler: async (exchange) => {
      const page = cursorRequest(exchange.query)
      const found = unrouted.of(exchange.caller.userId).map(withCursor)
      const next = found.filter((one) => isAfter(one, page.after)).slice(0, page.limit + 1)
      return cursorPage(next, page, exchange).map(api.unroutedTopicBody)
    },
  })

  add('DELETE /mqtt/unrouted', {
    operationId: 'forgetUnroutedTopics',
    summary: 'Forget what MQTT messages led nowhere, of one topic or of all.',
    scope: 'data:write',
    query: api.forgottenQuery,
    answers: { 204: noContent },
    handler: async ({ caller, query: { topic } }) => {
      unrouted.forget(caller.userId, topic)
      return null
    },
  })
}

function addMade(add: AddOperation, needs: UnroutedRoutesNeeds): void {
  add('POST /mqtt/unrouted/streams', {
    operationId: 'createStreamOfTopic',
    summary: 'Create a data stream for a topic that leads nowhere, as its messages suggest.',
    description: [
      'Its definition is what `POST /streams/infer` would propose of the newest messages of the topic. Messages that',
      'came before are not in it. A device sends to it once it is among its streams.',
    ].join(' '),
    scope: 'streams:write',
    body: api.newStreamOfTopicSchema,
    answers: api.streamOfTopicAnswers,
    errors: ['conflict', 'destination_not_allowed', 'not_found', 'unsupported_definition'],
    effect: (exchange) => madeOf(needs, exchange),
  })
}

async function madeOf(
  needs: UnroutedRoutesNeeds,
  { caller, body }: Pick<Exchange, 'caller'> & { readonly body: NewStreamOfTopic },
) {
  const { unrouted, judgeOf, nowUs } = needs
  const { topic, vaultId, name = cutText(topic, nameLengthMax), preview = false } = body
  const found = unrouted.find(caller.userId, topic)
  if (!found)
    throw new DomainError('not_found', `no messages are kept of the topic ${topic}`, {
      remedy: 'GET /mqtt/unrouted lists the topics whose messages are kept.',
    })
  const proposed = proposedStreamOf(found, { judgeOf, nowUs: nowUs() })
  if (preview) return { statusCode: 200, body: proposed, changes: [] }
  const made = await creation(needs, caller, { ...proposed.proposal, name, vaultId })
  return {
    ...made,
    afterwards: async () => {
      await made.afterwards()
      unrouted.forget(caller.userId, topic)
    },
  }
}

interface NewStreamOfTopic {
  readonly topic: string
  readonly vaultId: string
  readonly name?: string
  readonly preview?: boolean
}

function withCursor(found: UnroutedTopic) {
  return { ...found, createdAtUs: found.lastAtUs }
}

/** Whether it comes behind where a page ended: the newest stand first. */
function isAfter(found: ListCursor, after: ListCursor | undefined): boolean {
  if (after === undefined || found.createdAtUs < after.createdAtUs) return true
  return found.createdAtUs === after.createdAtUs && Number(found.id) < Number(after.id)
}
