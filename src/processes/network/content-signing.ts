import type { FastifyPluginAsync } from 'fastify'
import type { Logger } from 'pino'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import { systemClock } from '../../core/clock.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { contentKeyRoutes, contentKeysRoute } from '../../twins/signatures/content-key-routes.ts'
import { ContentKeys } from '../../twins/signatures/content-keys.ts'
import { signatureRoutes } from '../../twins/signatures/signature-routes.ts'
import { SigningPass } from '../../twins/signatures/signing-pass.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'

export interface ContentSigningNeeds {
  readonly domains: Domains
  readonly logger: Logger
  readonly masterKey: MasterKey
  readonly audit: AuditLog
}

export interface ContentSigning {
  readonly openRoutes: readonly FastifyPluginAsync[]
  readonly routes: (posts: Posts) => readonly GuardedRoutes[]
  /** There may be something to sign or to check. */
  readonly wake: () => void
  readonly start: () => void
  readonly stop: () => Promise<void>
}

/** Composition of what signs what is attached, and checks what others have signed. */
export async function openContentSigning(
  engine: Engine,
  { domains, logger, masterKey, audit }: ContentSigningNeeds,
): Promise<ContentSigning> {
  const { state, worker: writer, lifecycle } = engine
  const stored = { state, writer, clock: systemClock }
  const contentKeys = await ContentKeys.open({ ...stored, masterKey, audit })
  const pass = new SigningPass({
    ...stored,
    keys: contentKeys,
    lifecycle,
    onFailure: (error) => logger.error({ err: error }, 'what waits for its content was not signed'),
  })
  const onAsked = () => pass.wake()
  return {
    openRoutes: [contentKeysRoute(contentKeys)],
    routes: (posts) => [
      (callerOf) => signatureRoutes({ ...domains, contentKeys, onAsked, posts, callerOf }),
      (callerOf) => contentKeyRoutes({ contentKeys, posts, callerOf }),
    ],
    wake: onAsked,
    start: () => pass.start(),
    stop: () => pass.stop(),
  }
}
