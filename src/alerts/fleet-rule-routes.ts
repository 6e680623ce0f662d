import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditLog } from '../access/audit/audit-log.ts'
import { DomainError } from '../core/errors.ts'
import { type AlertRuleId, parseId, type UserId } from '../core/ids.ts'
import { cursorPage, cursorRequest } from '../requests/http/pagination.ts'
import type { QueryOf } from '../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../requests/http/server.ts'
import type { Posts } from '../requests/idempotency/posts.ts'
import type { StateWriter } from '../storage/state/database.ts'
import { ownVault } from '../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../twins/vaults/vault-store.ts'
import {
  changedFleetRule,
  type FleetRule,
  type FleetRuleContent,
  fleetRuleBody,
  fleetRulesMax,
  parseFleetRule,
} from './fleet-rule.ts'
import { FleetRuleAudit } from './fleet-rule-audit.ts'
import {
  changeFleetRule,
  createFleetRule,
  deleteFleetRule,
  listFleetRules,
  readFleetRule,
} from './fleet-rule-schemas.ts'
import type { FleetRuleStore } from './fleet-rule-store.ts'

export interface FleetRuleRoutesNeeds {
  readonly rules: FleetRuleStore
  readonly vaults: VaultStore
  readonly writer: StateWriter
  readonly audit: AuditLog
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface ListRules {
  Querystring: QueryOf<typeof listFleetRules.querystring>
}

interface OneRule {
  Params: { alertRuleId: string }
}

// Rules are a part of what streams are defined to be: who may only send readings cannot change them.
const reading = { scope: 'streams:read' } as const
const writing = {
  scope: 'streams:write',
  errors: ['conflict', 'invalid_request', 'not_found'],
} as const

/** One rule for many streams: `/alert-rules`. */
export function fleetRuleRoutes(needs: FleetRuleRoutesNeeds): FastifyPluginAsync {
  const { rules, callerOf } = needs
  return async (app) => {
    app.post(
      '/alert-rules',
      { schema: createFleetRule, config: writing },
      async (request, reply) => await create(needs, request, reply),
    )

    app.get<ListRules>(
      '/alert-rules',
      { schema: listFleetRules, config: reading },
      async (request, reply) => {
        const page = cursorRequest(request.query)
        const { userId } = callerOf(request)
        const found = await rules.list(userId, { after: page.after, limit: page.limit + 1 })
        return cursorPage(found, page, { request, reply }).map(fleetRuleBody)
      },
    )

    oneRuleRoutes(app, needs)
  }
}

function oneRuleRoutes(app: FastifyInstance, needs: FleetRuleRoutesNeeds): void {
  const { rules, writer, callerOf } = needs
  const path = '/alert-rules/:alertRuleId'
  app.get<OneRule>(path, { schema: readFleetRule, config: reading }, async (request) => {
    const rule = await ownRule(needs, request)
    const { examples: leftOut, ...streams } = await rules.streamsOf(rule)
    return { ...fleetRuleBody(rule), streams, leftOut }
  })

  app.put<OneRule>(path, { schema: changeFleetRule, config: writing }, async (request) => {
    const before = await ownRule(needs, request)
    const content = changedFleetRule(before, request.body)
    // One that was deleted since is no reason against changing something else.
    const isElsewhere = content.vaultId !== before.vaultId
    if (isElsewhere) await assertOwnVault(needs, callerOf(request).userId, content)
    const { rule, changes } = rules.change(before, content)
    const audit = auditOf(needs, request).changed(before, rule)
    if (await writer.attempt(...changes, ...audit)) return fleetRuleBody(rule)
    await ownRule(needs, request)
    throw changedMeanwhile()
  })

  app.delete<OneRule>(
    path,
    { schema: deleteFleetRule, config: { scope: 'streams:write', errors: ['conflict'] } },
    async (request, reply) => {
      const rule = await ownRule(needs, request)
      const audit = auditOf(needs, request).deleted(rule)
      if (await writer.attempt(...rules.remove(rule), audit)) return reply.code(204).send()
      await ownRule(needs, request)
      throw changedMeanwhile()
    },
  )
}

async function create(
  needs: FleetRuleRoutesNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { userId } = needs.callerOf(request)
  return await needs.posts.answer({ request, reply, userId }, async () => {
    const content = parseFleetRule(request.body)
    await assertOwnVault(needs, userId, content)
    const { rule, changes } = needs.rules.plan(userId, content)
    return {
      statusCode: 201,
      body: fleetRuleBody(rule),
      changes: [...changes, auditOf(needs, request).created(rule)],
      refusal: async () =>
        new DomainError('conflict', `a user can have ${fleetRulesMax} such alert rules at most`),
    }
  })
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
  { rules, callerOf }: FleetRuleRoutesNeeds,
  request: FastifyRequest<OneRule>,
): Promise<FleetRule> {
  const id = parseId<AlertRuleId>(request.params.alertRuleId)
  const rule = id && (await rules.find(callerOf(request).userId, id))
  if (!rule) throw new DomainError('not_found', `no alert rule ${request.params.alertRuleId}`)
  return rule
}

function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'the alert rule was changed meanwhile: try again')
}
