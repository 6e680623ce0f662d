import type { FastifyPluginAsync } from 'fastify'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { VaultId } from '../../core/ids.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { Problems } from '../../streams/data-streams/definition-problems.ts'
import { keptFor } from '../../streams/data-streams/retention.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { changeVaultRetention, readVaultRetention } from './retention-schemas.ts'
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

interface OneVault {
  Params: { vaultId: string }
}

interface ChangeRetention extends OneVault {
  Body: { raw?: string | null; aggregated?: string | null }
}

/** How long the data of all streams of a vault is kept. */
export function retentionRoutes(needs: RetentionRoutesNeeds): FastifyPluginAsync {
  const { state, worker, vaults, lifecycle, callerOf } = needs
  return async (app) => {
    app.get<OneVault>(
      '/vaults/:vaultId/retention',
      { schema: readVaultRetention, config: { scope: 'vaults:read' } },
      async (request) => {
        const vault = await ownVault(vaults, callerOf(request).userId, request.params.vaultId)
        return await shown(state, vault.id)
      },
    )

    app.put<ChangeRetention>(
      '/vaults/:vaultId/retention',
      { schema: changeVaultRetention, config: { scope: 'vaults:write' } },
      async (request) => {
        const actor = callerOf(request)
        const vault = await ownVault(vaults, actor.userId, request.params.vaultId)
        assertKept(request.body)
        const changes = vaultRetentionChange(state, vault, request.body)
        if (changes.length > 0) {
          const subject = { ownerId: vault.ownerId, resourceId: vault.id, name: vault.name }
          const event = lifecycle.record({ event: 'vault.updated', ...subject, actor })
          if (!(await worker.attempt(...changes, ...event))) {
            throw new DomainError('not_found', `no vault ${vault.id}`)
          }
          worker.wakeRetention()
        }
        return await shown(state, vault.id)
      },
    )
  }
}

async function shown(state: StateDatabase, id: VaultId): Promise<object> {
  const { raw = null, aggregated = null } = await vaultRetention(state, id)
  return { raw, aggregated }
}

/** @throws DomainError `invalid_request` */
function assertKept(body: ChangeRetention['Body']): void {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  for (const [key, value] of Object.entries(body)) {
    if (value !== null) keptFor(value, key, problems)
  }
  if (found.length === 0) return
  throw new DomainError('invalid_request', 'the retention is not valid', { details: found })
}
