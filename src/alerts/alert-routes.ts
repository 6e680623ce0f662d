import { createHash } from 'node:crypto'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Clock } from '../core/clock.ts'
import { invalidParameter } from '../core/errors.ts'
import { idempotencyKeyOf } from '../core/idempotency-key.ts'
import { type AlertId, newId, parseId, type StreamId, type VaultId } from '../core/ids.ts'
import { notFound } from '../core/not-found.ts'
import { parseRfc3339 } from '../core/time.ts'
import { timeRange } from '../reading/queries/time-range.ts'
import { type SettledRange, settledRange } from '../requests/http/asked-range.ts'
import { cursorPage, cursorRequest } from '../requests/http/pagination.ts'
import { cursorListOf } from '../requests/http/schema.ts'
import type { CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import { type AddOperation, type Exchange, operationsOf } from '../requests/operations/operation.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { ownStream } from '../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../streams/data-streams/data-stream-store.ts'
import type { ActionKind, AlertRow } from './alert.ts'
import type { AlertActions } from './alert-actions.ts'
import * as api from './alert-api.ts'
import { alertBody, stepBody } from './alert-body.ts'
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

const reading = { scope: 'data:read' } as const
const acting = {
  scope: 'data:write',
  answers: { 200: api.alertSchema },
  errors: ['wrong_alert_state', 'disk_low', 'journal_full', 'journal_unavailable', 'overloaded'],
} as const

/**
 * Alerts of streams: what they are, what has happened to them, and what people do
 * (decisions.md#one-alert-at-a-time).
 */
export function alertRoutes(needs: AlertRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Alerts'] })
    addLists(add, needs)
    addReading(add, needs)
    addActing(add, needs)
  }
}

function addLists(add: AddOperation, needs: AlertRoutesNeeds): void {
  add('GET /alerts', {
    ...reading,
    operationId: 'listAlerts',
    summary: "List the alerts of one's own streams, newest first.",
    query: api.alertsQuery,
    answers: { 200: cursorListOf(api.alertSchema) },
    handler: async (exchange) => {
      const { streamId, vaultId, ...rest } = exchange.query
      const filter = {
        ...filterOf(rest),
        ...(streamId !== undefined && { streamId: streamId.toLowerCase() as StreamId }),
        ...(vaultId !== undefined && { vaultId: vaultId.toLowerCase() as VaultId }),
      }
      return await list(needs, filter, exchange)
    },
  })

  add('GET /streams/:streamId/alerts', {
    ...reading,
    operationId: 'listStreamAlerts',
    summary: 'List the alerts of a data stream, newest first.',
    query: api.streamAlertsQuery,
    answers: { 200: cursorListOf(api.alertSchema) },
    handler: async (exchange) => {
      const { caller, params, query } = exchange
      const stream = await ownStream(needs, caller.userId, params.streamId)
      const asked = settledRange(query, needs.clock.nowUs())
      const { start, end } = asked
      const isRanged = start !== undefined || end !== undefined
      const filter = {
        ...filterOf(query),
        streamId: stream.id,
        ...(isRanged && { range: timeRange(start, end) }),
      }
      return await list(needs, filter, exchange, asked)
    },
  })

  add('GET /alerts/summary', {
    ...reading,
    operationId: 'summarizeAlerts',
    summary: 'Count the alerts that go on, by state and severity, in all and for each vault.',
    answers: { 200: api.summarySchema },
    handler: async ({ caller }) => {
      await needs.processing.caughtUp()
      return summaryOf(await needs.alerts.counts(caller.userId))
    },
  })
}

function addReading(add: AddOperation, needs: AlertRoutesNeeds): void {
  const { state, alerts } = needs
  add('GET /alerts/:alertId', {
    ...reading,
    operationId: 'readAlert',
    summary: 'Read an alert.',
    answers: { 200: api.alertSchema },
    handler: async (exchange) => alertBody(await ownAlert(needs, exchange)),
  })

  add('GET /alerts/:alertId/history', {
    ...reading,
    operationId: 'readAlertHistory',
    summary: 'List what has happened to an alert, oldest first.',
    query: api.historyQuery,
    answers: { 200: api.historySchema },
    handler: async (exchange) => {
      const { limit = 100, cursor = -1 } = exchange.query
      const alert = await ownAlert(needs, exchange)
      const found = await alerts.history(alert.id, { after: cursor, limit: limit + 1 })
      const page = found.slice(0, limit)
      const nextCursor = found.length > limit ? (page.at(-1)?.step ?? null) : null
      return { alertId: alert.id, steps: page.map(stepBody), nextCursor }
    },
  })

  add('GET /alerts/:alertId/explain', {
    ...reading,
    operationId: 'explainAlert',
    summary: 'Explain an alert: which reading moved it when, and what was delivered of it.',
    description:
      'The newest 100 steps, each with the deliveries that followed; and what the rule waits for now.',
    answers: { 200: api.explanationSchema },
    handler: async (exchange) => await explain(state, alerts, await ownAlert(needs, exchange)),
  })
}

function addActing(add: AddOperation, needs: AlertRoutesNeeds): void {
  add('POST /alerts/:alertId/acknowledge', {
    ...acting,
    operationId: 'acknowledgeAlert',
    summary: 'Say that a person takes care of a firing alert.',
    body: api.optionalCommentSchema,
    effect: (exchange) => act(needs, 'acknowledge', exchange),
  })

  add('POST /alerts/:alertId/comment', {
    ...acting,
    operationId: 'commentAlert',
    summary: 'Write something down in the history of an alert.',
    body: api.commentSchema,
    effect: (exchange) => act(needs, 'comment', exchange),
  })

  add('POST /alerts/:alertId/mute', {
    ...acting,
    operationId: 'muteAlert',
    summary: 'Notify no one of what a rule finds on a stream, until a time.',
    body: api.muteSchema,
    effect: (exchange) => act(needs, 'mute', exchange),
  })

  add('POST /alerts/:alertId/unmute', {
    ...acting,
    operationId: 'unmuteAlert',
    summary: 'Notify again of what a rule finds on a stream.',
    body: api.optionalCommentSchema,
    effect: (exchange) => act(needs, 'unmute', exchange),
  })

  add('POST /alerts/:alertId/clear', {
    ...acting,
    operationId: 'clearAlert',
    summary: 'End an alert by hand: it begins again only when its rule was not broken meanwhile.',
    body: api.optionalCommentSchema,
    effect: (exchange) => act(needs, 'clear', exchange),
  })
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

type AskedAlerts = Pick<
  Exchange<string, typeof api.alertsQuery>,
  'caller' | 'query' | 'request' | 'reply'
>

async function list(
  { alerts, processing }: AlertRoutesNeeds,
  filter: AlertFilter,
  { caller, query, request, reply }: AskedAlerts,
  range?: SettledRange,
) {
  const cursor = range === undefined ? query.cursor : range.cursor
  const page = { ...cursorRequest({ ...query, cursor }), nextCursor: range?.nextCursor }
  await processing.caughtUp()
  const limits = { before: page.after, limit: page.limit + 1 }
  const found = await alerts.list(caller.userId, filter, limits)
  return cursorPage(found, page, { request, reply }).map(alertBody)
}

type OneAlert = Pick<Exchange<'/alerts/:alertId'>, 'caller' | 'params'>

/** @throws DomainError `not_found`, also for somebody else's */
async function ownAlert(
  { alerts, processing }: AlertRoutesNeeds,
  { caller, params }: OneAlert,
): Promise<AlertRow> {
  const id = parseId<AlertId>(params.alertId)
  await processing.caughtUp()
  const alert = id && (await alerts.find(caller.userId, id))
  if (!alert) throw notFound('alert', params.alertId)
  return alert
}

interface Acting extends OneAlert {
  readonly request: FastifyRequest
  readonly body: { readonly comment?: string; readonly until?: string } | null | undefined
}

async function act(
  needs: AlertRoutesNeeds,
  kind: ActionKind,
  { caller, params, request, body }: Acting,
) {
  const { userId, apiKeyId } = caller
  const { comment, until } = body ?? {}
  const alert = await ownAlert(needs, { caller, params })
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
  const acted = await ownAlert(needs, { caller, params })
  return { statusCode: 200, body: alertBody(acted), changes: [] } as const
}

/**
 * Makes the id of an action, the same one when a request is repeated under its key: a crash may
 * have come before its answer.
 */
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
