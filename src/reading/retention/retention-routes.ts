import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { Problems } from '../../contracts/definitions/problems.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { VaultId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { keptFor } from '../../streams/data-streams/retention.ts'
import type { Vault } from '../../twins/vaults/vault.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { vaultRetentionChangeSchema, vaultRetentionSchema } from './retention-api.ts'
import { vaultRetention, vaultRetentionChange } from './retention-store.ts'

export interface RetentionRoutesNeeds {
  readonly state: StateDatabase
  readonly worker: StateWriter & {
    /** Has it looked for what is too old now. */
    wakeRetention(): void
  }
  readonly vaults: VaultStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly callerOf: CallerOf
}

/** How long the data of all streams of a vault is kept. */
export function retentionRoutes(needs: RetentionRoutesNeeds): FastifyPluginAsync {
  const { state, vaults } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Vaults'] })

    add('GET /vaults/:vaultId/retention', {
      operationId: 'readVaultRetention',
      summary: 'Read how long the data of the streams of a vault is kept.',
      description: 'For those that say nothing themselves, in `processing.retention`.',
      scope: 'vaults:read',
      answers: { 200: vaultRetentionSchema },
      handler: async ({ caller, params }) => {
        const vault = await ownVault(vaults, caller.userId, params.vaultId)
        return await shown(state, vault.id)
      },
    })

    add('PUT /vaults/:vaultId/retention', {
      operationId: 'changeVaultRetention',
      summary: 'Change how long the data of the streams of a vault is kept.',
      description:
        'What is not sent stays; null takes it away. It holds for what is stored already: what is too old is removed soon, and cannot be brought back.',
      scope: 'vaults:write',
      body: vaultRetentionChangeSchema,
      answers: { 200: vaultRetentionSchema },
      handler: async ({ caller, params, body }) => {
        const vault = await ownVault(vaults, caller.userId, params.vaultId)
        assertKept(body)
        await change(needs, { vault, actor: caller }, body)
        return await shown(state, vault.id)
      },
    })
  }
}

type RetentionChange = Static<typeof vaultRetentionChangeSchema>

async function change(
  { state, worker, lifecycle }: RetentionRoutesNeeds,
  { vault, actor }: { readonly vault: Vault; readonly actor: ReturnType<CallerOf> },
  wanted: RetentionChange,
): Promise<void> {
  const changes = vaultRetentionChange(state, vault, wanted)
  if (changes.length === 0) return
  const subject = { ownerId: vault.ownerId, resourceId: vault.id, name: vault.name }
  const event = lifecycle.record({ event: 'vault.updated', ...subject, actor })
  if (!(await worker.attempt(...changes, ...event))) {
    throw notFound('vault', vault.id)
  }
  worker.wakeRetention()
}

async function shown(
  state: StateDatabase,
  id: VaultId,
): Promise<Static<typeof vaultRetentionSchema>> {
  const { raw = null, aggregated = null } = await vaultRetention(state, id)
  return { raw, aggregated }
}

/** @throws DomainError `invalid_request` */
function assertKept(body: RetentionChange): void {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  for (const [key, value] of Object.entries(body)) {
    if (value !== null) keptFor(value, key, problems)
  }
  if (found.length === 0) return
  throw new DomainError('invalid_request', 'the retention is not valid', { details: found })
}
