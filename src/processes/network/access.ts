import type { FastifyPluginAsync } from 'fastify'
import type { MqttCaller, MqttCredentials } from '../../../connectors/mqtt-broker/caller.ts'
import type { MqttClientCertificate } from '../../../connectors/mqtt-broker/guard/client-certificates.ts'
import { AuditLog } from '../../access/audit/audit-log.ts'
import { type Auth, type AuthOptions, openAuth } from '../../access/auth/auth.ts'
import {
  type AuthenticatedCaller,
  bearerUsername,
  type Origin,
} from '../../access/auth/authenticate.ts'
import { isLimitedId, limitsOf } from '../../access/auth/limited-key.ts'
import { grants } from '../../access/auth/scopes.ts'
import { ledgerKeyRoutes } from '../../anchors/keys/ledger-key-routes.ts'
import { LedgerKeyStore } from '../../anchors/keys/ledger-key-store.ts'
import type { LedgerNetworks } from '../../config/ledgers.ts'
import type { Clocks } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { SignedPaths } from '../../files/signing/signed-paths.ts'
import type { FileStore } from '../../files/store/file-store.ts'
import { UploadUrls } from '../../files/uploads/upload-urls.ts'
import { auditRoutes } from '../../identity/audit/audit-routes.ts'
import { keyRoutes } from '../../identity/keys/key-routes.ts'
import { KeyStore } from '../../identity/keys/key-store.ts'
import { authRoutes, tokenRoutes } from '../../identity/tokens/auth-routes.ts'
import { profileRoutes } from '../../identity/users/profile-routes.ts'
import { ProfileStore } from '../../identity/users/profile-store.ts'
import { userRoutes } from '../../identity/users/user-routes.ts'
import { UserStore } from '../../identity/users/user-store.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import { AnswerStore } from '../../requests/idempotency/answer-store.ts'
import { hideKeys } from '../../requests/idempotency/keys-in-clear.ts'
import { Posts } from '../../requests/idempotency/posts.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { LastSeen } from '../../streams/devices/last-seen.ts'
import { type Devices, openDevices } from './device-access.ts'

export interface AccessNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
  readonly lifecycle: LifecycleEvents
  readonly onFailure: (error: unknown) => void
  readonly store: Pick<FileStore, 'uploadUrl'>
  /** Takes away what a deleted user has elsewhere. */
  readonly forgetUser: (userId: UserId) => Promise<void>
}

export interface AccessOptions extends AuthOptions {
  /** Base of the addresses that we hand out. */
  readonly publicUrl: string
  readonly ledgerNetworks: LedgerNetworks
}

export interface Access {
  readonly auth: Auth
  readonly audit: AuditLog
  /** How every POST is done and answered. */
  readonly posts: Posts
  readonly answers: AnswerStore
  readonly lastSeen: LastSeen
  readonly devices: Devices
  readonly users: UserStore
  /** Addresses that are credentials by themselves. */
  readonly signed: SignedPaths
  readonly uploadUrls: UploadUrls
  readonly openRoutes: readonly FastifyPluginAsync[]
  readonly routes: readonly GuardedRoutes[]
}

/** Composition of everything that is about who asks: users, keys, tokens, and the audit log. */
export async function openAccess(needs: AccessNeeds, options: AccessOptions): Promise<Access> {
  const { state, writer, clock } = needs
  const audit = new AuditLog(state, clock)
  const lastSeen = new LastSeen({ state, writer, clock })
  const auth = await openAuth(
    {
      ...needs,
      audit,
      onUse({ kind, id }, origin) {
        if (kind === 'device') lastSeen.note(id, origin)
      },
      alsoFlush: () => lastSeen.flush(),
    },
    options,
  )
  const { directory, limitedKeys, masterKey, signingKeys, droppedPublishes } = auth
  const answers = new AnswerStore({ state, writer, cipher: masterKey })
  await hideKeys({ state, writer, digests: masterKey })
  const posts = new Posts({ answers, writer, clock })
  const users = new UserStore({ state, writer, clock, audit })
  const signed = new SignedPaths({ digests: masterKey, clock, ...options })
  const uploadUrls = new UploadUrls({ ...needs, signed })
  const profiles = new ProfileStore({ state, writer, clock })
  const keys = new KeyStore({ ...needs, masterKey, audit, directory, droppedPublishes })
  const networks = options.ledgerNetworks
  const ledgerKeys = new LedgerKeyStore({ state, cipher: masterKey, clock, audit, networks })
  const devices = openDevices({ ...needs, audit, auth, posts })
  const onDeleted = async (userId: UserId) => {
    limitedKeys.endUser(userId)
    await directory.refreshUser(userId)
    await needs.forgetUser(userId)
  }
  const ofUsers = { users, profiles, uploadUrls, signed, onDeleted, posts }
  return {
    auth,
    audit,
    posts,
    answers,
    lastSeen,
    devices,
    users,
    signed,
    uploadUrls,
    openRoutes: [tokenRoutes({ ...auth, clock })],
    routes: [
      (callerOf) => authRoutes({ signingKeys, posts, callerOf }),
      (callerOf) => userRoutes({ ...ofUsers, callerOf }),
      (callerOf) => profileRoutes({ users, profiles, posts, callerOf }),
      (callerOf) =>
        keyRoutes({ keys, directory, hasUser: (id) => users.has(id), clock, posts, callerOf }),
      ...devices.routes,
      (callerOf) => ledgerKeyRoutes({ keys: ledgerKeys, posts, callerOf }),
      (callerOf) => auditRoutes({ audit, callerOf }),
    ],
  }
}

/**
 * Who credentials of MQTT stand for, in two steps: what is not at hand is waited for first. The
 * limits of failed logins are those of `POST /auth/token` (decisions.md#failed-logins).
 */
export function mqttAuthentication({ authenticator, limits }: Auth) {
  return {
    /** @throws DomainError `rate_limited` */
    lookUp(credentials: MqttCredentials): Promise<void> | undefined {
      const { username, password, address, certificate } = credentials
      if (certificate !== undefined) return authenticator.lookUpCertificate(certificate.commonName)
      // Tokens of all clients come with one user name: they must not shut out each other.
      if (username !== bearerUsername) limits.assertMayLogIn(address, username)
      return authenticator.lookUpPassword(username, password)
    },

    authenticate(credentials: MqttCredentials): MqttCaller | undefined {
      const { username, password, address, certificate } = credentials
      const origin = { address, protocol: 'mqtt' } as const
      try {
        return certificate === undefined
          ? mqttCaller(authenticator.byPassword(username, password, origin))
          : byCertificate(authenticator, certificate, origin)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        // Tokens expire every hour: that is no sign of an attack.
        if (certificate === undefined && error.code !== 'token_expired') {
          limits.countFailure(address, username)
        }
        return undefined
      }
    },
  }
}

/** A session that was opened with a certificate ends with it. */
function byCertificate(
  authenticator: Auth['authenticator'],
  { commonName, expiresAtUs: certificateEndsUs }: MqttClientCertificate,
  origin: Origin,
): MqttCaller | undefined {
  const caller = mqttCaller(authenticator.byCertificate(commonName, origin))
  const ownEndUs = caller?.expiresAtUs ?? Number.POSITIVE_INFINITY
  return caller && { ...caller, expiresAtUs: Math.min(ownEndUs, certificateEndsUs) }
}

function mqttCaller(caller: AuthenticatedCaller): MqttCaller | undefined {
  const { userId, apiKeyId, scope, expiresAtUs, foreignTopics, device, registration } = caller
  if (registration !== undefined) return undefined
  return {
    userId,
    apiKeyId,
    mayPublish: grants(scope, 'data:write'),
    // A device may have what is its own: what it sends, and what is sent to it.
    maySubscribe: device !== undefined || grants(scope, 'data:read'),
    expiresAtUs,
    ignoresForeignTopics: foreignTopics === 'ignore',
    ...(device && { device }),
  }
}

/** What a key may do over MQTT now; undefined when it is good no more. */
export function mqttCallerOfKey({ directory, limitedKeys }: Auth) {
  return async (apiKeyId: string): Promise<MqttCaller | undefined> => {
    if (isLimitedId(apiKeyId)) await limitedKeys.lookUpId(apiKeyId)
    const key = isLimitedId(apiKeyId) ? limitedKeys.find(apiKeyId) : directory.find(apiKeyId)
    return key && mqttCaller({ ...key, ...limitsOf(key), apiKeyId, interface: 'header-key' })
  }
}
