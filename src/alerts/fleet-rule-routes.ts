import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { AuditLog } from '../access/audit/audit-log.ts'
import { changedMeanwhile, noRoom } from '../core/conflict.ts'
import { DomainError } from '../core/errors.ts'
import { type AlertRuleId, parseId, type UserId } from '../core/ids.ts'
import { notFound } from '../core/not-found.ts'
import { cursorPage, cursorRequest } from '../requests/http/pagination.ts'
import { cursorListOf, cursorQuery, noContent, query } from '../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import { type AddOperation, type Exchange, operationsOf } from '../requests/operations/operation.ts'
import type { StateWriter } from '../storage/state/database.ts'
import { ownVault } from '../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../twins/vaults/vault-store.ts'
import {
  changedFleetRule,
  type FleetRule,
  type FleetRuleContent,
  fleetRulesMax,
  parseFleetRule,
} from './fleet-rule.ts'
import * as api from './fleet-rule-api.ts'
import { FleetRuleAudit } from './fleet-rule-audit.ts'
import type { FleetRuleStore } from './fleet-rule-store.ts'

export interface FleetRuleRoutesNeeds {
  readonly rules: FleetRuleStore
  readonly vaults: VaultStore
  readonly writer: StateWriter
  readonly audit: AuditLog
  readonly posts: Posts
  readonly callerOf: CallerOf
}

// Rules are a part of what streams are defined to be: who may only send readings cannot change them.
const reading = { scope: 'streams:read' } as const
const writing = { scope: 'streams:write' } as const

/** One rule for many streams: `/alert-rules`. */
export function fleetRuleRoutes(needs: FleetRuleRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Alerts'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, needs: FleetRuleRoutesNeeds): void {
  const { rules } = needs
  add('GET /alert-rules', {
    ...reading,
    operationId: 'listAlertRules',
    summary: "List one's own alert rules for many streams, in the order of their creation.",
    query: query(cursorQuery),
    answers: { 200: cursorListOf(api.fleetRuleSchema) },
    handler: async (exchange) => {
      const page = cursorRequest(exchange.query)
      const limits = { after: page.after, limit: page.limit + 1 }
      const found = await rules.list(exchange.caller.userId, limits)
      return cursorPage(found, page, exchange).map(api.fleetRuleBody)
    },
  })

  add('GET /alert-rules/:alertRuleId', {
    ...reading,
    operationId: 'readAlertRule',
    summary: 'Read an alert rule for many streams, and how its streams stand.',
    answers: { 200: api.fleetRuleWithStreamsSchema },
    handler: async (exchange) => {
      const rule = await ownRule(needs, exchange)
      const { examples: leftOut, ...streams } = await rules.streamsOf(rule)
      return { ...api.fleetRuleBody(rule), streams, leftOut }
    },
  })
}

function addChanging(add: AddOperation, needs: FleetRuleRoutesNeeds): void {
  add('POST /alert-rules', {
    ...writing,
    operationId: 'createAlertRule',
    summary:
      'Have one alert rule for all streams of a vault, or with some tags, present and future.',
    body: api.newFleetRuleSchema,
    answers: { 201: api.fleetRuleSchema },
    errors: ['conflict', 'invalid_request', 'not_found'],
    effect: (exchange) => creation(needs, exchange),
  })

  add('PUT /alert-rules/:alertRuleId', {
    ...writing,
    operationId: 'changeAlertRule',
    summary: 'Change an alert rule for many streams.',
    body: api.fleetRuleChangeSchema,
    answers: { 200: api.fleetRuleSchema },
    errors: ['conflict', 'invalid_request', 'not_found'],
    handler: async (exchange) => api.fleetRuleBody(await change(needs, exchange)),
  })

  add('DELETE /alert-rules/:alertRuleId', {
    ...writing,
    operationId: 'deleteAlertRule',
    summary: 'Delete an alert rule for many streams, which ends its alerts.',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: async (exchange) => await remove(needs, exchange),
  })
}

async function creation(
  needs: FleetRuleRoutesNeeds,
  { caller, request }: Pick<Exchange, 'caller' | 'request'>,
) {
  const { userId } = caller
  const content = parseFleetRule(request.body)
  await assertOwnVault(needs, userId, content)
  const { rule, changes } = needs.rules.plan(userId, content)
  return {
    statusCode: 201,
    body: api.fleetRuleBody(rule),
    changes: [...changes, auditOf(needs, request).created(rule)],
    refusal: async () =>
      noRoom(
        `a user can have ${fleetRulesMax} such alert rules at most`,
        'DELETE /alert-rules/{alertRuleId}',
      ),
  } as const
}

type OneRule = Pick<Exchange<'/alert-rules/:alertRuleId'>, 'caller' | 'params' | 'request'>

async function change(needs: FleetRuleRoutesNeeds, exchange: OneRule): Promise<FleetRule> {
  const { rules, writer } = needs
  const { caller, request } = exchange
  const before = await ownRule(needs, exchange)
  const content = changedFleetRule(before, request.body)
  // One that was deleted since is no reason against changing something else.
  const isElsewhere = content.vaultId !== before.vaultId
  if (isElsewhere) await assertOwnVault(needs, caller.userId, content)
  const { rule, changes } = rules.change(before, content)
  const audit = auditOf(needs, request).changed(before, rule)
  if (await writer.attempt(...changes, ...audit)) return rule
  await ownRule(needs, exchange)
  throw changedAtOnce()
}

async function remove(needs: FleetRuleRoutesNeeds, exchange: OneRule): Promise<null> {
  const { rules, writer } = needs
  const rule = await ownRule(needs, exchange)
  const audit = auditOf(needs, exchange.request).deleted(rule)
  if (await writer.attempt(...rules.remove(rule), audit)) return null
  await ownRule(needs, exchange)
  throw changedAtOnce()
}

function auditOf(
  { audit, callerOf }: Pick<FleetRuleRoutesNeeds, 'audit' | 'callerOf'>,
  request: FastifyRequest,
): FleetRuleAudit {
  return new FleetRuleAudit(audit, actorOf(request, callerOf))
}

/** @throws DomainError `not_found`, `insufficient_permissions` for a vault that others have made public */
async function assertOwnVault(
  { vaults }: FleetRuleRoutesNeeds,
  userId: UserId,
  { vaultId }: FleetRuleContent,
): Promise<void> {
  if (vaultId !== undefined) await ownVault(vaults, userId, vaultId)
}

/** @throws DomainError `not_found`, also for somebody else's */
async function ownRule(
  { rules }: FleetRuleRoutesNeeds,
  { caller, params }: OneRule,
): Promise<FleetRule> {
  const id = parseId<AlertRuleId>(params.alertRuleId)
  const rule = id && (await rules.find(caller.userId, id))
  if (!rule) throw notFound('alert rule', params.alertRuleId)
  return rule
}

function changedAtOnce(): DomainError {
  return changedMeanwhile('the alert rule', 'GET /alert-rules/{alertRuleId}')
}
