import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type AlertRule, compileAlertRules, fieldsOfRules } from '../../processors/alert-rules.ts'
import { DomainError, type ErrorDetail, invalidParameter } from '../core/errors.ts'
import { formatUs } from '../core/time.ts'
import { type TimeRange, timeRange } from '../reading/queries/time-range.ts'
import type { CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { alertRulesOf, parseProposedRules } from '../streams/data-streams/alert-definition.ts'
import { ownStream } from '../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../streams/data-streams/data-stream-store.ts'
import { storedFieldsOf } from '../streams/data-streams/transform-definition.ts'
import type { BacktestAlert, BacktestPlan, BacktestResult } from './backtest.ts'
import { diffOf } from './backtest-diff.ts'
import { backtestAlerts } from './backtest-schemas.ts'
import type { Backtests } from './backtests.ts'
import { isFleetRuleId } from './fleet-rule.ts'
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

interface BacktestBody {
  readonly start: string
  readonly end: string
  readonly rules?: unknown
}

const options = {
  schema: backtestAlerts,
  config: {
    scope: 'data:read',
    errors: [
      'invalid_request',
      'overloaded',
      'query_too_slow',
      'rate_limited',
      'store_unavailable',
      'too_many_readings',
    ],
  },
} as const

/** `POST /streams/{streamId}/alerts/backtest` */
export function backtestRoutes(needs: BacktestRoutesNeeds): FastifyPluginAsync {
  const { backtests, state, posts, nowUs, callerOf } = needs
  return async (app) => {
    app.post<{ Params: { streamId: string }; Body: BacktestBody }>(
      '/streams/:streamId/alerts/backtest',
      options,
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const stream = await ownStream(needs, userId, request.params.streamId)
          const range = rangeOf(request.body, nowUs())
          const fleetRules = await fleetRulesInForce(state, stream.id)
          const plan = planOf(stream, fleetRules, request.body.rules)
          const signal = goneSignal(reply)
          const asked = { userId, streamId: stream.id, ...range, plan, signal }
          const body = bodyOf(await backtests.run(asked))
          const shown = { start: formatUs(range.startUs), end: formatUs(range.endUs) }
          return { statusCode: 200, body: { streamId: stream.id, ...shown, ...body }, changes: [] }
        })
      },
    )
  }
}

/** Rules cannot say anything of times that have not come. @throws DomainError `invalid_request` */
function rangeOf({ start, end }: BacktestBody, nowUs: number): TimeRange {
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

function bodyOf({ readings, proposed, current }: BacktestResult) {
  const diff = current === undefined ? null : diffOfOwn(proposed.alerts, current.alerts)
  return {
    readings,
    count: proposed.count,
    alerts: proposed.alerts.map(alertBody),
    diff: diff && {
      both: diff.both.map(shortBody),
      onlyProposed: diff.onlyProposed.map(shortBody),
      onlyCurrent: diff.onlyCurrent.map(shortBody),
    },
  }
}

/** Rules of fleets go on whatever the stream's own ones are: both raise what those raise. */
function diffOfOwn(proposed: readonly BacktestAlert[], current: readonly BacktestAlert[]) {
  const ofFleets = current.filter(({ ruleId }) => isFleetRuleId(ruleId))
  const own = current.filter(({ ruleId }) => !isFleetRuleId(ruleId))
  const { both, ...rest } = diffOf(proposed, own)
  const all = [...both, ...ofFleets]
  return { ...rest, both: all.toSorted((left, right) => left.triggeredAtUs - right.triggeredAtUs) }
}

function alertBody(alert: BacktestAlert) {
  const { sinceUs, value, threshold, isFlapping, flaps, readings } = alert
  return {
    ...shortBody(alert),
    since: formatUs(sinceUs),
    value,
    threshold,
    flapping: isFlapping,
    flaps,
    readings: readings.map(({ timestampUs, values }) => ({
      timestamp: formatUs(timestampUs),
      ...values,
    })),
  }
}

function shortBody({ ruleId, severity, triggeredAtUs, clearedAtUs }: BacktestAlert) {
  return {
    ruleId,
    severity,
    triggeredAt: formatUs(triggeredAtUs),
    clearedAt: clearedAtUs === null ? null : formatUs(clearedAtUs),
  }
}

/** Aborted when the client has gone: nobody waits for the answer then. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
