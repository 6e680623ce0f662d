import type { FastifyPluginAsync } from 'fastify'
import type { MqttCaller } from '../connectors/mqtt-sessions.ts'
import { AuditLog } from './audit/audit-log.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { type Auth, type AuthOptions, openAuth } from './auth/auth.ts'
import { authRoutes, tokenRoutes } from './auth/auth-routes.ts'
import { grants } from './auth/scopes.ts'
import type { Clock } from './core/clock.ts'
import { DomainError } from './core/errors.ts'
import type { GuardedRoutes } from './http/server.ts'
import { AnswerStore } from './idempotency/answer-store.ts'
import { Posts } from './idempotency/posts.ts'
import { keyRoutes } from './keys/key-routes.ts'
import { KeyStore } from './keys/key-store.ts'
import type { LifecycleEvents } from './lifecycle/lifecycle-events.ts'
import type { StateDatabase, StateWriter } from './state/database.ts'
import { profileRoutes } from './users/profile-routes.ts'
import { ProfileStore } from './users/profile-store.ts'
import { userRoutes } from './users/user-routes.ts'
import { UserStore } from './users/user-store.ts'

export interface AccessNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
  readonly lifecycle: LifecycleEvents
  readonly onFailure: (error: unknown) => void
}

export interface Access {
  readonly auth: Auth
  /** How every POST is done and answered. */
  readonly posts: Posts
  readonly answers: AnswerStore
  readonly openRoutes: readonly FastifyPluginAsync[]
  readonly routes: readonly GuardedRoutes[]
}

/** Composition of everything that is about who asks: users, keys, tokens, and the audit log. */
export async function openAccess(needs: AccessNeeds, options: AuthOptions): Promise<Access> {
  const { state, writer, clock, lifecycle } = needs
  const audit = new AuditLog(state, clock)
  const auth = await openAuth({ ...needs, audit }, options)
  const { directory, masterKey, signingKeys } = auth
  const answers = new AnswerStore({ state, writer, cipher: masterKey })
  const posts = new Posts({ answers, writer, clock })
  const users = new UserStore({ state, writer, clock, audit })
  const profiles = new ProfileStore(state, writer, clock)
  const keys = new KeyStore({ state, writer, masterKey, clock, audit, directory, lifecycle })
  return {
    auth,
    posts,
    answers,
    openRoutes: [tokenRoutes({ ...auth, clock })],
    routes: [
      (callerOf) => authRoutes({ signingKeys, posts, callerOf }),
      (callerOf) =>
        userRoutes({
          users,
          profiles,
          onDeleted: (userId) => directory.refreshUser(userId),
          posts,
          callerOf,
        }),
      (callerOf) => profileRoutes({ users, profiles, posts, callerOf }),
      (callerOf) =>
        keyRoutes({
          keys,
          directory,
          hasUser: async (id) => (await users.find(id)) !== undefined,
          clock,
          posts,
          callerOf,
        }),
      () => auditRoutes({ audit }),
    ],
  }
}

/** Who a user name and a password of MQTT stand for, or nothing. */
export function mqttAuthentication({ authenticator }: Auth) {
  return (username: string, password: string, address: string): MqttCaller | undefined => {
    try {
      const caller = authenticator.byPassword(username, password, address)
      const { userId, apiKeyId, scope, expiresAtUs } = caller
      return {
        userId,
        apiKeyId,
        mayPublish: grants(scope, 'data:write'),
        maySubscribe: grants(scope, 'data:read'),
        expiresAtUs,
      }
    } catch (error) {
      if (error instanceof DomainError) return undefined
      throw error
    }
  }
}
