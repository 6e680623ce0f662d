import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { type AlertRule, compileAlertRules, fieldsOfRules } from '../../processors/alert-rules.ts'
import { DomainError, type ErrorDetail, invalidParameter } from '../core/errors.ts'
import { type TimeRange, timeRange } from '../reading/queries/time-range.ts'
import { settledRange } from '../requests/http/asked-range.ts'
import type { CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import { operationsOf } from '../requests/operations/operation.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { alertRulesOf, parseProposedRules } from '../streams/data-streams/alert-definition.ts'
import { ownStream } from '../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../streams/data-streams/data-stream-store.ts'
import { storedFieldsOf } from '../streams/data-streams/transform-definition.ts'
import type { BacktestPlan } from './backtest.ts'
import { backtestBody, backtestRequestSchema, backtestSchema } from './backtest-api.ts'
import type { Backtests } from './backtests.ts'
import { fleetRulesInForce } from './fleet-rule-store.ts'
import { runnableRules } from './runnable-rules.ts'

/** A leap year. */
const daysMax = 366
const usPerDay = 86_400_000_000

export interface BacktestRoutesNeeds {
  readonly backtests: Backtests
  readonly state: StateDatabase
  readonly streams: DataStreamStore
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** `POST /streams/{streamId}/alerts/backtest` */
export function backtestRoutes(needs: BacktestRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Alerts'] })
    add('POST /streams/:streamId/alerts/backtest', {
      operationId: 'backtestAlerts',
      summary: 'See which alerts rules would have raised.',
      description:
        'Runs rules over the readings that are stored, up to a million, and saves nothing. Without rules those of the stream are run.',
      scope: 'data:read',
      body: backtestRequestSchema,
      answers: { 200: backtestSchema },
      errors: [
        'invalid_request',
        'overloaded',
        'query_too_slow',
        'rate_limited',
        'store_unavailable',
        'too_many_readings',
      ],
      effect: async ({ caller, params, body, reply }) => {
        const { userId } = caller
        const stream = await ownStream(needs, userId, params.streamId)
        const range = rangeOf(body, needs.nowUs())
        const fleetRules = await fleetRulesInForce(needs.state, stream.id)
        const plan = planOf(stream, fleetRules, body.rules)
        const signal = goneSignal(reply)
        const asked = { userId, streamId: stream.id, ...range, plan, signal }
        const result = await needs.backtests.run(asked)
        const shown = backtestBody(stream.id, range, result)
        return { statusCode: 200, body: shown, changes: [] } as const
      },
    })
  }
}

/** Rules cannot say anything of times that have not come. @throws DomainError `invalid_request` */
function rangeOf(asked: Static<typeof backtestRequestSchema>, nowUs: number): TimeRange {
  const { start, end } = settledRange({ start: asked.start, end: asked.end }, nowUs)
  const { startUs, endUs } = timeRange(start, end)
  if (endUs - startUs > daysMax * usPerDay) {
    throw invalidParameter('end', `must not be more than ${daysMax} days after start`)
  }
  return { startUs, endUs: Math.max(startUs, Math.min(endUs, nowUs)) }
}

/** @throws DomainError `invalid_request` naming what is wrong with the proposed rules */
function planOf(
  stream: DataStream,
  fleetRules: readonly AlertRule[],
  rules: unknown,
): BacktestPlan {
  const fields = storedFieldsOf(stream)
  const own = alertRulesOf(stream.processing, fields)
  const inForce = runnableRules({ rules: own, fields }, fleetRules, compileAlertRules)
  const proposed = rules === undefined ? inForce : proposedRules(rules, fields)
  const current = rules === undefined ? undefined : inForce
  const columns = fieldsOfRules([...proposed, ...(current ?? [])], fields)
  return { proposed, current, fields, columns }
}

function proposedRules(
  rules: unknown,
  fields: ReturnType<typeof storedFieldsOf>,
): readonly AlertRule[] {
  const details: ErrorDetail[] = []
  const proposed = parseProposedRules(rules, { fields, path: 'rules' }, details)
  if (details.length > 0) {
    throw new DomainError('invalid_request', 'the rules are not valid', { details })
  }
  return proposed
}

/** Aborted when the client has gone: nobody waits for the answer then. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
