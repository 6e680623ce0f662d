import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { parseId, type TemplateId, type UserId, type VaultId } from '../core/ids.ts'
import {
  envelope,
  integerParameter,
  invalidParameter,
  pageRequest,
  refuseUnknownParameters,
} from '../http/pagination.ts'
import type { CallerOf } from '../http/server.ts'
import type { TemplateStore } from '../templates/template-store.ts'
import { bearerVaultBody, type Ledger, vaultBody } from './vault.ts'
import { createVault, listVaults, readVault } from './vault-schemas.ts'
import type { VaultCursor, VaultStore } from './vault-store.ts'

export interface VaultRoutesNeeds {
  readonly vaults: VaultStore
  readonly templates: TemplateStore
  readonly callerOf: CallerOf
}

type Query = Record<string, unknown>

export function vaultRoutes(needs: VaultRoutesNeeds): FastifyPluginAsync {
  const { vaults, templates, callerOf } = needs
  return async (app) => {
    app.post<CreateVault>(
      '/vaults',
      {
        schema: createVault,
        config: { scope: 'vaults:write', errors: ['missing_required_streams', 'not_found'] },
      },
      async (request, reply) => {
        const { userId } = callerOf(request)
        const { body } = request
        const templateId = await usableTemplate(templates, userId, body.template_id)
        const vault = await vaults.create(userId, {
          templateId,
          name: body.name,
          description: body.description ?? null,
          ledger: body.ledger ?? 'XRPL',
          jsonPayload: body.json_payload ?? null,
          public: body.public ?? true,
        })
        return reply.code(201).send(vaultBody(vault))
      },
    )

    app.get<{ Querystring: Query }>(
      '/vaults',
      { schema: listVaults, config: { scope: 'vaults:read' } },
      async (request, reply) => {
        const caller = callerOf(request)
        return caller.interface === 'bearer'
          ? bearerList(vaults, caller.userId, { query: request.query, reply })
          : pagedList(vaults, caller.userId, request.query)
      },
    )

    app.get<{ Params: { vaultId: string } }>(
      '/vaults/:vaultId',
      { schema: readVault, config: { scope: 'vaults:read' } },
      async (request) => {
        const caller = callerOf(request)
        const id = parseId<VaultId>(request.params.vaultId)
        const vault = id && (await vaults.findVisible(caller.userId, id))
        if (!vault) throw new DomainError('not_found', `no vault ${request.params.vaultId}`)
        return vaultBody(vault)
      },
    )
  }
}

/** @throws DomainError `not_found`, or `missing_required_streams` naming them (D49) */
async function usableTemplate(
  templates: TemplateStore,
  userId: UserId,
  text: string,
): Promise<TemplateId> {
  const id = parseId<TemplateId>(text)
  const template = id && (await templates.findVisible(userId, id))
  if (!template) throw new DomainError('not_found', `no template ${text}`)
  // Asset streams come in a later version: until then nobody has one, so every one is missing.
  if (template.requiredStreams.length > 0) {
    const names = template.requiredStreams.join(', ')
    throw new DomainError(
      'missing_required_streams',
      `the template needs asset streams that you do not have: ${names}`,
    )
  }
  return template.id
}

async function pagedList(vaults: VaultStore, userId: UserId, query: Query): Promise<object> {
  refuseUnknownParameters(query, ['page', 'page_size'])
  const page = pageRequest(query)
  const content = await vaults.listPage(userId, (page.page - 1) * page.pageSize, page.pageSize)
  return envelope(content.map(vaultBody), await vaults.count(userId), page)
}

/** A JSON array; the next page is in the Link header (D54). */
async function bearerList(
  vaults: VaultStore,
  userId: UserId,
  { query, reply }: { readonly query: Query; readonly reply: FastifyReply },
): Promise<object> {
  refuseUnknownParameters(query, ['limit', 'cursor'])
  const limit = integerParameter(query, 'limit', { fallback: 100, min: 1, max: 1_000 })
  const found = await vaults.listAfter(userId, parseCursor(query['cursor']), limit + 1)
  const page = found.slice(0, limit)
  const last = page.at(-1)
  if (last && found.length > limit) {
    const cursor = Buffer.from(`${last.createdAtUs} ${last.id}`).toString('base64url')
    void reply.header('link', `</vaults?limit=${limit}&cursor=${cursor}>; rel="next"`)
  }
  return page.map(bearerVaultBody)
}

function parseCursor(text: unknown): VaultCursor | undefined {
  if (typeof text !== 'string') return undefined
  const [time = '', id = ''] = Buffer.from(text, 'base64url').toString().split(' ')
  if (!/^\d{1,16}$/.test(time) || parseId(id) === undefined) {
    throw invalidParameter('cursor', 'must be a cursor from an answer of this operation')
  }
  return { createdAtUs: Number(time), id }
}

interface CreateVault {
  Body: {
    template_id: string
    name: string
    description?: string | null
    ledger?: Ledger | null
    json_payload?: string | null
    public?: boolean | null
  }
}
