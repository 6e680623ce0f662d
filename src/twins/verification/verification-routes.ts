import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { writableVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'
import type { VerificationStore } from './verification-store.ts'

const verificationSchema = s.component(
  'Verification',
  s.record({
    id: s.uuid,
    vault_id: s.uuid,
    requested_at: s.dateTime,
    status: s.typed<'pending'>({
      const: 'pending',
      description: 'The event `vault.verification_complete` reports its end.',
    }),
  }),
)

/** Seconds until some more will have had their turn. */
const retryAfterS = 10

export interface VerificationRoutesNeeds {
  readonly vaults: VaultStore
  readonly verifications: VerificationStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Vaults are compared with what is on the ledger, in the background. */
export function verificationRoutes(needs: VerificationRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Vaults'] })
    add('POST /vaults/:vaultId/verify', {
      operationId: 'verifyVault',
      summary: 'Have a vault compared with what was anchored of it.',
      description:
        'What is kept is hashed again, and the ledger is asked. A vault has one at a time: while it is under way, the answer is the same one. See docs/anchoring.md.',
      scope: 'vaults:write',
      answers: { 202: verificationSchema },
      effect: async ({ caller, params }) => {
        const { userId } = caller
        const find = () => writableVault(needs.vaults, userId, params.vaultId)
        const asked = await needs.verifications.ask(userId, await find())
        if (!asked) {
          // It may be gone by now, or the right to change it.
          await find()
          throw tooManyWait()
        }
        const { id, vaultId, requestedAtUs } = asked
        const body = {
          id,
          vault_id: vaultId,
          requested_at: formatUs(requestedAtUs),
          status: 'pending',
        } as const
        return { statusCode: 202, body, changes: [] }
      },
    })
  }
}

function tooManyWait(): DomainError {
  return new DomainError('overloaded', 'too many vaults wait to be verified', {
    retryAfter: retryAfterS,
  })
}
