import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../core/clock.ts'
import { DomainError, invalidParameter } from '../core/errors.ts'
import { idempotencyKeyOf } from '../core/idempotency-key.ts'
import { type AlertId, newId, parseId, type StreamId, type VaultId } from '../core/ids.ts'
import { parseRfc3339 } from '../core/time.ts'
import { cursorPage, cursorRequest } from '../requests/http/pagination.ts'
import type { QueryOf } from '../requests/http/schema.ts'
import type { CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { ownStream } from '../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../streams/data-streams/data-stream-store.ts'
import { type ActionKind, type AlertRow, actionKinds, alertBody } from './alert.ts'
import type { AlertActions } from './alert-actions.ts'
import { stepBody } from './alert-bodies.ts'
import {
  actionSchemas,
  explainAlert,
  listAlerts,
  listStreamAlerts,
  readAlert,
  readAlertHistory,
  summarizeAlerts,
} from './alert-schemas.ts'
import type { AlertFilter, AlertStore } from './alert-store.ts'
import { summaryOf } from './alert-summary.ts'
import { explain } from './explanation.ts'

export interface AlertRoutesNeeds {
  readonly state: StateDatabase
  readonly streams: DataStreamStore
  readonly alerts: AlertStore
  readonly actions: AlertActions
  readonly processing: {
    /** Waits, within bounds, until what is acknowledged by now is decided. */
    caughtUp(): Promise<boolean>
  }
  readonly posts: Posts
  readonly clock: Clock
  readonly callerOf: CallerOf
}

interface ListAlerts {
  Querystring: QueryOf<typeof listAlerts.querystring>
}

interface ListStreamAlerts {
  Params: { streamId: string }
  Querystring: QueryOf<typeof listStreamAlerts.querystring>
}

interface OneAlert {
  Params: { alertId: string }
}

interface AlertHistory extends OneAlert {
  Querystring: QueryOf<typeof readAlertHistory.querystring>
}

interface ActOnAlert extends OneAlert {
  Body: { readonly comment?: string; readonly until?: string } | null | undefined
}

const reading = { scope: 'data:read' } as const
const acting = {
  scope: 'data:write',
  errors: ['wrong_alert_state', 'disk_low', 'journal_full', 'journal_unavailable', 'overloaded'],
} as const

/**
 * Alerts of streams: what they are, what has happened to them, and what people do
 * (decisions.md#one-alert-at-a-time).
 */
export function alertRoutes(needs: AlertRoutesNeeds): FastifyPluginAsync {
  const { streams, callerOf } = needs
  return async (app) => {
    app.get<ListAlerts>(
      '/alerts',
      { schema: listAlerts, config: reading },
      async (request, reply) => {
        const { streamId, vaultId, ...rest } = request.query
        const filter = {
          ...filterOf(rest),
          ...(streamId !== undefined && { streamId: streamId.toLowerCase() as StreamId }),
          ...(vaultId !== undefined && { vaultId: vaultId.toLowerCase() as VaultId }),
        }
        return await list(needs, filter, { request, reply })
      },
    )

    app.get<ListStreamAlerts>(
      '/streams/:streamId/alerts',
      { schema: listStreamAlerts, config: reading },
      async (request, reply) => {
        const { userId } = callerOf(request)
        const stream = await ownStream({ streams }, userId, request.params.streamId)
        const filter = { ...filterOf(request.query), streamId: stream.id }
        return await list(needs, filter, { request, reply })
      },
    )

    app.get('/alerts/summary', { schema: summarizeAlerts, config: reading }, async (request) => {
      await needs.processing.caughtUp()
      return summaryOf(await needs.alerts.counts(callerOf(request).userId))
    })

    oneAlertRoutes(app, needs)
    for (const kind of actionKinds) {
      app.post<ActOnAlert>(
        `/alerts/:alertId/${kind}`,
        { schema: actionSchemas[kind], config: acting },
        (request, reply) => act(needs, kind, { request, reply }),
      )
    }
  }
}

function oneAlertRoutes(app: FastifyInstance, needs: AlertRoutesNeeds): void {
  const { state, alerts } = needs
  app.get<OneAlert>('/alerts/:alertId', { schema: readAlert, config: reading }, async (request) =>
    alertBody(await ownAlert(needs, request)),
  )

  app.get<AlertHistory>(
    '/alerts/:alertId/history',
    { schema: readAlertHistory, config: reading },
    async (request) => {
      const { limit = 100, cursor = -1 } = request.query
      const alert = await ownAlert(needs, request)
      const found = await alerts.history(alert.id, { after: cursor, limit: limit + 1 })
      const page = found.slice(0, limit)
      const nextCursor = found.length > limit ? (page.at(-1)?.step ?? null) : null
      return { alertId: alert.id, steps: page.map(stepBody), nextCursor }
    },
  )

  app.get<OneAlert>(
    '/alerts/:alertId/explain',
    { schema: explainAlert, config: reading },
    async (request) => await explain(state, alerts, await ownAlert(needs, request)),
  )
}

function filterOf({
  state,
  severity,
  ruleId,
}: Pick<AlertFilter, 'state' | 'severity' | 'ruleId'>): AlertFilter {
  return {
    ...(state !== undefined && { state }),
    ...(severity !== undefined && { severity }),
    ...(ruleId !== undefined && { ruleId }),
  }
}

async function list(
  { alerts, processing, callerOf }: AlertRoutesNeeds,
  filter: AlertFilter,
  {
    request,
    reply,
  }: {
    readonly request: FastifyRequest<{
      Querystring: { readonly limit?: number; readonly cursor?: string }
    }>
    readonly reply: FastifyReply
  },
): Promise<readonly object[]> {
  const { userId } = callerOf(request)
  const page = cursorRequest(request.query)
  await processing.caughtUp()
  const found = await alerts.list(userId, filter, { before: page.after, limit: page.limit + 1 })
  return cursorPage(found, page, { request, reply }).map(alertBody)
}

/** @throws DomainError `not_found`, also for somebody else's */
async function ownAlert(
  { alerts, processing, callerOf }: AlertRoutesNeeds,
  request: FastifyRequest<OneAlert>,
): Promise<AlertRow> {
  const id = parseId<AlertId>(request.params.alertId)
  await processing.caughtUp()
  const alert = id && (await alerts.find(callerOf(request).userId, id))
  if (!alert) throw new DomainError('not_found', `no alert ${request.params.alertId}`)
  return alert
}

async function act(
  needs: AlertRoutesNeeds,
  kind: ActionKind,
  {
    request,
    reply,
  }: { readonly request: FastifyRequest<ActOnAlert>; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { userId, apiKeyId } = needs.callerOf(request)
  const { comment, until } = request.body ?? {}
  const post = { request, reply, userId }
  return await needs.posts.answer(post, async () => {
    const alert = await ownAlert(needs, request)
    const untilUs = until === undefined ? undefined : muteEnd(until, needs.clock)
    await needs.actions.act(alert, {
      id: actionIdOf(request, userId),
      kind,
      alertId: alert.id,
      ruleId: alert.rule_id,
      userId,
      apiKeyId,
      ...(comment !== undefined && { comment }),
      ...(untilUs !== undefined && { untilUs }),
    })
    return { statusCode: 200, body: alertBody(await ownAlert(needs, request)), changes: [] }
  })
}

/** The same for a request that is repeated under its key: a crash may have come before its answer. */
function actionIdOf(request: FastifyRequest, userId: string): string {
  const key = idempotencyKeyOf(request.raw)
  if (key === undefined) return newId<AlertId>()
  return createHash('sha256')
    .update(JSON.stringify([userId, request.url, key]))
    .digest('hex')
}

/** @throws DomainError `invalid_request` */
function muteEnd(until: string, clock: Clock): number {
  const untilUs = parseRfc3339(until)
  if (typeof untilUs !== 'number') throw invalidParameter('until', untilUs.problem)
  if (untilUs <= clock.nowUs()) throw invalidParameter('until', 'must be in the future')
  // A later time in a row could be written, and then no more be read.
  if (!Number.isSafeInteger(untilUs)) throw invalidParameter('until', 'must be before June 2255')
  return untilUs
}
