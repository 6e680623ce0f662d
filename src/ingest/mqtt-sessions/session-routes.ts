import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { formatUs } from '../../core/time.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import * as schemas from './session-schemas.ts'
import type { SessionName, SessionView } from './session-view.ts'

/** Text of filters that one answer has: a session may have a thousand long ones. */
const filtersLengthMax = 256 * 1024

/** The sessions of users, as the broker knows them. */
export interface SessionsOfUsers {
  /** In the order of their beginning. */
  of(userId: UserId): readonly SessionView[]
  find(userId: UserId, name: SessionName): SessionView | undefined
  /** Resolves with whether there was one. */
  end(userId: UserId, name: SessionName): Promise<boolean>
}

export interface SessionRoutesNeeds {
  /** Undefined where MQTT is off. */
  readonly sessions: SessionsOfUsers | undefined
  readonly callerOf: CallerOf
}

interface ListSessions {
  Querystring: QueryOf<typeof schemas.listMqttSessions.querystring>
}

interface OneSession {
  Params: { clientId: string }
  Querystring: { deviceId?: string }
}

/** MQTT sessions over HTTP: one's own, those of one's devices included. */
export function mqttSessionRoutes({ sessions, callerOf }: SessionRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get<ListSessions>(
      '/mqtt/sessions',
      { schema: schemas.listMqttSessions, config: { scope: 'data:read' } },
      async (request, reply) => {
        const page = cursorRequest(request.query)
        const own = sessions?.of(callerOf(request).userId) ?? []
        const next = own.filter((one) => isAfter(one, page.after)).slice(0, page.limit + 1)
        return cursorPage(next, page, { request, reply }).map(sessionBody)
      },
    )

    app.get<OneSession>(
      '/mqtt/sessions/:clientId',
      { schema: schemas.readMqttSession, config: { scope: 'data:read' } },
      async (request) => {
        const name = nameIn(request)
        const found = sessions?.find(callerOf(request).userId, name)
        if (!found) throw unknown(name)
        return { ...sessionBody(found), filters: filtersOf(found) }
      },
    )

    app.delete<OneSession>(
      '/mqtt/sessions/:clientId',
      { schema: schemas.endMqttSession, config: { scope: 'data:write' } },
      async (request, reply) => {
        const name = nameIn(request)
        const { userId } = callerOf(request)
        if ((await sessions?.end(userId, name)) !== true) throw unknown(name)
        return reply.code(204).send()
      },
    )
  }
}

function isAfter({ createdAtUs, id }: SessionView, after: ListCursor | undefined): boolean {
  if (after === undefined || createdAtUs > after.createdAtUs) return true
  return createdAtUs === after.createdAtUs && id > after.id
}

function nameIn({ params, query }: FastifyRequest<OneSession>): SessionName {
  return { clientId: params.clientId, deviceId: query.deviceId }
}

function unknown({ clientId }: SessionName): DomainError {
  return new DomainError('not_found', `no session ${clientId}`)
}

function sessionBody(session: SessionView): object {
  const { clientId, deviceId, isKept, connection, expiresAtUs } = session
  return {
    clientId,
    deviceId: deviceId ?? null,
    kept: isKept,
    connected: connection !== undefined,
    since: formatUs(session.sinceUs),
    createdAt: formatUs(session.createdAtUs),
    expiresAt: expiresAtUs === undefined ? null : formatUs(expiresAtUs),
    apiKeyId: connection?.apiKeyId ?? null,
    address: connection?.address ?? null,
    subscriptions: session.filters.count,
    queuedMessages: session.queued,
    queuedBytes: session.queuedBytes,
  }
}

function filtersOf({ filters }: SessionView): readonly object[] {
  const shown: object[] = []
  let length = 0
  for (const one of filters.all()) {
    length += one.filter.length
    if (length > filtersLengthMax) break
    shown.push(one)
  }
  return shown
}
