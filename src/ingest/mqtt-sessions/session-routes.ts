import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, cursorQuery, noContent, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import * as api from './session-api.ts'
import type { SessionName, SessionView } from './session-view.ts'

/** The sessions of users, as the broker knows them. */
export interface SessionsOfUsers {
  /** Sessions of a user in the order of their beginning. */
  of(userId: UserId): readonly SessionView[]
  find(userId: UserId, name: SessionName): SessionView | undefined
  /** Resolves with whether there was one. */
  end(userId: UserId, name: SessionName): Promise<boolean>
}

export interface SessionRoutesNeeds {
  /** Undefined where MQTT is off. */
  readonly sessions: SessionsOfUsers | undefined
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** MQTT sessions over HTTP: one's own, those of one's devices included. */
export function mqttSessionRoutes(needs: SessionRoutesNeeds): FastifyPluginAsync {
  const { sessions } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })

    add('GET /mqtt/sessions', {
      operationId: 'listMqttSessions',
      summary: "List one's own MQTT sessions, connected or kept, in the order of their beginning.",
      scope: 'data:read',
      query: query(cursorQuery),
      answers: { 200: cursorListOf(api.sessionSchema) },
      handler: async (exchange) => {
        const page = cursorRequest(exchange.query)
        const own = sessions?.of(exchange.caller.userId) ?? []
        const next = own.filter((one) => isAfter(one, page.after)).slice(0, page.limit + 1)
        return cursorPage(next, page, exchange).map(api.sessionBody)
      },
    })

    add('GET /mqtt/sessions/:clientId', {
      operationId: 'readMqttSession',
      summary: 'Read an MQTT session with its filters.',
      scope: 'data:read',
      params: { clientId: api.clientId },
      query: api.deviceQuery,
      answers: { 200: api.sessionWithFiltersSchema },
      handler: async ({ caller, params: { clientId }, query: { deviceId } }) => {
        const found = sessions?.find(caller.userId, { clientId, deviceId })
        if (!found) throw unknown(clientId)
        return api.sessionWithFiltersBody(found)
      },
    })

    add('DELETE /mqtt/sessions/:clientId', {
      operationId: 'endMqttSession',
      summary: 'End an MQTT session and its connection; what waits in it is gone.',
      description:
        'Its client can connect again, as its credentials stay. A will is published, as when a network breaks.',
      scope: 'data:write',
      params: { clientId: api.clientId },
      query: api.deviceQuery,
      answers: { 204: noContent },
      handler: async ({ caller, params: { clientId }, query: { deviceId } }) => {
        const isEnded = await sessions?.end(caller.userId, { clientId, deviceId })
        if (isEnded !== true) throw unknown(clientId)
        return null
      },
    })
  }
}

function isAfter({ createdAtUs, id }: SessionView, after: ListCursor | undefined): boolean {
  if (after === undefined || createdAtUs > after.createdAtUs) return true
  return createdAtUs === after.createdAtUs && id > after.id
}

function unknown(clientId: string): DomainError {
  return notFound('MQTT session', clientId)
}
