import { DomainError } from '../../core/errors.ts'
import type { Caller } from './caller.ts'
import type { ConsoleSession } from './console-session.ts'
import type { ConsoleSessions } from './console-sessions.ts'
import type { ForeignTopics } from './foreign-topics.ts'
import type { ApiKey, KeyDirectory } from './key-directory.ts'
import {
  type DeviceKey,
  isLimitedId,
  type LimitedKey,
  limitsOf,
  type ProvisioningKey,
} from './limited-key.ts'
import type { LimitedKeys } from './limited-keys.ts'
import { basicKey, bearerToken, isBasic, presentedIn } from './presented.ts'
import { commonScope } from './scopes.ts'
import { isTokenOf, type Tokens, type VerifiedToken } from './tokens.ts'

/**
 * Which of the two interfaces a request speaks: its credentials decide
 * (decisions.md#two-interfaces-on-one-address).
 */
export type Interface = 'bearer' | 'header-key'

export interface AuthenticatedCaller extends Caller {
  readonly interface: Interface
  /** When these credentials end at the latest. Undefined: not by themselves. */
  readonly expiresAtUs: number | undefined
  /** Set for those who are no users: what they may do is in their key, and in nothing else. */
  readonly device?: DeviceKey
  readonly registration?: ProvisioningKey
  /** What becomes of what it does over MQTT on topics that are none of its own. */
  readonly foreignTopics?: ForeignTopics
  /** Set for who came with the cookie of the console. */
  readonly session?: CallerSession
}

/** The session of the console that a request came with. */
export interface CallerSession {
  readonly id: string
  /** Whether the browser sent nothing but the cookie: what it gets is a file. */
  readonly isAlone: boolean
}

/** What the cookie of a request says, where it counts, and what goes with it. */
export interface PresentedSession {
  readonly secret: string
  readonly interface: Interface
  readonly isAlone: boolean
}

/** Who came with a token, which always ends. */
export interface BearerCaller extends AuthenticatedCaller {
  readonly interface: 'bearer'
  readonly expiresAtUs: number
}

/** The part of a request that says who asks: header names and values, alternating, as they came. */
export interface Credentials {
  readonly rawHeaders: readonly string[]
  readonly address: string
  /** Whether a key and its secret may come as Basic authentication: only where readings are sent or read. */
  readonly takesBasic?: boolean
  /** Counts only where no header says who asks. */
  readonly session?: PresentedSession | undefined
}

/** Who tries to log in, with what they say they are. */
export interface LoginAttempt {
  readonly address: string
  /** The key that was named; undefined for a token that names none to be believed. */
  readonly apiKeyId: string | undefined
}

/** Where a limited key was used from. */
export interface Origin {
  readonly address: string
  readonly protocol: 'http' | 'mqtt'
}

/** Attempts to be let in with a key and a secret. */
export interface Logins {
  /** @throws DomainError `rate_limited` */
  assertMayLogIn(address: string, keyId: string): void
  countFailure(address: string, keyId: string): void
}

export interface AuthenticatorNeeds {
  readonly keys: Pick<KeyDirectory, 'find' | 'isUnchanged' | 'verify' | 'use'>
  readonly limited: Pick<
    LimitedKeys,
    | 'find'
    | 'findByCertificate'
    | 'isUnchanged'
    | 'lookUp'
    | 'lookUpCertificate'
    | 'lookUpId'
    | 'verify'
  >
  readonly tokens: Pick<Tokens, 'isGood' | 'verify'>
  readonly sessions: Pick<ConsoleSessions, 'find' | 'isGood' | 'termsOf' | 'use'>
  /** How often wrong secrets may come with a key (decisions.md#failed-logins). */
  readonly logins: Logins
  /** Called at each use of a limited key. */
  readonly onUse: (key: LimitedKey, origin: Origin) => void
  /** Called when credentials were not good. */
  readonly onFailure: (attempt: LoginAttempt) => void
}

/**
 * The user name that a token is sent with where only a name and a password can be
 * (decisions.md#tokens).
 */
export const bearerUsername = 'bearer'

/** What a caller is known by. */
interface Proof {
  readonly key: ApiKey | LimitedKey
  readonly token?: VerifiedToken
  readonly session?: ConsoleSession
}

export class Authenticator {
  readonly #needs: AuthenticatorNeeds
  /** Whom a token or a key has stood for: one caller as long as neither of them changes. */
  readonly #callers = new WeakMap<VerifiedToken | ApiKey | LimitedKey, AuthenticatedCaller>()
  readonly #proofs = new WeakMap<AuthenticatedCaller, Proof>()

  constructor(needs: AuthenticatorNeeds) {
    this.#needs = needs
  }

  /**
   * What has to be waited for before `authenticate` can judge: a limited key that is not at hand.
   *
   * @throws DomainError as `authenticate` does, for headers that are none; `rate_limited` after too
   *   many wrong secrets
   */
  lookUp({ rawHeaders, address, takesBasic }: Credentials): Promise<void> | undefined {
    const { authorization, apiKey, apiSecret } = presentedIn(rawHeaders)
    if (authorization !== undefined) {
      const token = bearerToken(authorization)
      if (token !== undefined || !isBasic(authorization)) return this.#lookUpToken(token ?? '')
      if (takesBasic !== true) throw basicElsewhere()
      const { id, secret } = basicKey(authorization) ?? nobody
      this.#needs.logins.assertMayLogIn(address, id)
      return this.lookUpPassword(id, secret)
    }
    if (apiKey !== undefined) this.#needs.logins.assertMayLogIn(address, apiKey)
    return this.lookUpPassword(apiKey ?? '', apiSecret ?? '')
  }

  /** Looks up what `byPassword` and `byKey` need, as `lookUp` does for `authenticate`. */
  lookUpPassword(username: string, password: string): Promise<void> | undefined {
    if (isLimitedId(username)) return this.#needs.limited.lookUp(username, password)
    return username === bearerUsername ? this.#lookUpToken(password) : undefined
  }

  /** Looks up what `byCertificate` needs. */
  lookUpCertificate(commonName: string): Promise<void> {
    return this.#needs.limited.lookUpCertificate(commonName)
  }

  /**
   * @throws DomainError `missing_credentials`, `ambiguous_credentials`, `invalid_api_key`,
   *   `token_expired` or `session_expired`
   */
  authenticate({ rawHeaders, address, takesBasic, session }: Credentials): AuthenticatedCaller {
    const { authorization, apiKey, apiSecret } = presentedIn(rawHeaders)
    const hasKey = apiKey !== undefined || apiSecret !== undefined
    if (authorization !== undefined) {
      if (hasKey) throw ambiguous()
      const token = bearerToken(authorization)
      if (token !== undefined) return this.#byToken(token, { address, protocol: 'http' })
      if (!isBasic(authorization)) {
        throw new DomainError('invalid_api_key', 'a bearer token is needed', {
          remedy: 'Write the header as Authorization: Bearer, with a token from POST /auth/token.',
        })
      }
      if (takesBasic !== true) throw basicElsewhere()
      const { id, secret } = basicKey(authorization) ?? nobody
      return this.#byHeader(id, secret, address)
    }
    if (!hasKey && session) return this.#bySession(session)
    if (!hasKey) throw new DomainError('missing_credentials', 'credentials are needed')
    if (apiKey !== undefined && apiSecret !== undefined) {
      return this.#byHeader(apiKey, apiSecret, address)
    }
    throw this.#halfAKey(apiKey, address)
  }

  #byHeader(id: string, secret: string, address: string): AuthenticatedCaller {
    try {
      return this.byKey(id, secret, { address, protocol: 'http' })
    } catch (error) {
      this.#needs.logins.countFailure(address, id)
      throw error
    }
  }

  /** Half a key counts as a wrong secret: else it would tell which keys there are, at no cost. */
  #halfAKey(apiKeyId: string | undefined, address: string): DomainError {
    this.#needs.onFailure({ address, apiKeyId: apiKeyId ?? '' })
    this.#needs.logins.countFailure(address, apiKeyId ?? '')
    const missing = apiKeyId === undefined ? 'x-api-key' : 'x-api-secret'
    return new DomainError('invalid_api_key', 'the key or its secret is not valid', {
      remedy: `Send ${missing} as well: a key is x-api-key with x-api-secret.`,
    })
  }

  /**
   * Whether the credentials of this caller are still good, as far as that can be told without them:
   * otherwise they have to be looked at again.
   */
  isStillGood(caller: AuthenticatedCaller): boolean {
    const { keys, limited, tokens, sessions } = this.#needs
    const proof = this.#proofs.get(caller)
    if (proof === undefined) return false
    const { key, token, session } = proof
    if (session !== undefined && !sessions.isGood(session)) return false
    if (!('kind' in key ? limited.isUnchanged(key) : keys.isUnchanged(key))) return false
    return token === undefined || tokens.isGood(token)
  }

  /**
   * By user name and password: a key and its secret, or `bearer` and a token (decisions.md#tokens).
   *
   * @throws DomainError `invalid_api_key` or `token_expired`
   */
  byPassword(username: string, password: string, origin: Origin): AuthenticatedCaller {
    return username === bearerUsername
      ? this.#byToken(password, origin)
      : this.byKey(username, password, origin)
  }

  /** @throws DomainError `invalid_api_key`, the same for an unknown key and for a wrong secret */
  byKey(id: string, secret: string, origin: Origin): AuthenticatedCaller {
    const { keys, limited } = this.#needs
    const key = isLimitedId(id) ? limited.verify(id, secret) : keys.verify(id, secret)
    if (!key) {
      this.#needs.onFailure({ address: origin.address, apiKeyId: id })
      throw new DomainError('invalid_api_key', 'the key or its secret is not valid')
    }
    return this.#callerOf(key, origin)
  }

  /**
   * By the common name of a certificate, which was verified.
   *
   * @throws DomainError `invalid_api_key` when it stands for no device
   */
  byCertificate(commonName: string, origin: Origin): AuthenticatedCaller {
    const key = this.#needs.limited.findByCertificate(commonName)
    if (key) return this.#callerOf(key, origin)
    this.#needs.onFailure({ address: origin.address, apiKeyId: undefined })
    throw new DomainError('invalid_api_key', 'the certificate stands for no device', {
      remedy:
        'Give the device the name in the certificate as certificateName: PUT /devices/{deviceId}.',
    })
  }

  /** Whom a key that was proved stands for. */
  #callerOf(key: ApiKey | LimitedKey, origin: Origin): AuthenticatedCaller {
    if ('kind' in key) this.#needs.onUse(key, origin)
    const known = this.#callers.get(key)
    if (known !== undefined) return known
    const { id: apiKeyId, userId, scope, expiresAtUs, foreignTopics } = key
    const caller = { userId, apiKeyId, scope, interface: 'header-key', expiresAtUs } as const
    return this.#remember({ ...caller, foreignTopics, ...limitsOf(key) }, { key })
  }

  #lookUpToken(text: string): Promise<void> | undefined {
    let apiKeyId: string
    try {
      apiKeyId = this.#needs.tokens.verify(text).apiKeyId
    } catch {
      // The one who judges it meets the same error, and says so.
      return undefined
    }
    return isLimitedId(apiKeyId) ? this.#needs.limited.lookUpId(apiKeyId) : undefined
  }

  /**
   * A token has never more than its key has now (decisions.md#tokens): the key is looked at every
   * time.
   */
  #byToken(text: string, origin: Origin): AuthenticatedCaller {
    const token = this.#verified(text, origin.address)
    const key = this.#keyOf(token)
    if (key === undefined || key.userId !== token.userId) {
      this.#needs.onFailure({ address: origin.address, apiKeyId: token.apiKeyId })
      throw new DomainError('invalid_api_key', 'the access token is not valid')
    }
    if ('kind' in key) this.#needs.onUse(key, origin)
    else this.#needs.keys.use(key)
    const known = this.#callers.get(token)
    if (known !== undefined && this.#proofs.get(known)?.key === key) return known
    const caller: BearerCaller = {
      userId: key.userId,
      apiKeyId: key.id,
      scope: commonScope(token.scope, key.scope),
      interface: 'bearer',
      expiresAtUs: Math.min(token.expiresAtUs, key.expiresAtUs ?? Number.POSITIVE_INFINITY),
      foreignTopics: key.foreignTopics,
      ...limitsOf(key),
    }
    return this.#remember(caller, { key, token })
  }

  /** A session has what its key has now, in either interface: its page says which one it speaks. */
  #bySession({ secret, interface: spoken, isAlone }: PresentedSession): AuthenticatedCaller {
    const { keys, sessions } = this.#needs
    const session = sessions.find(secret)
    const key = session && keys.find(session.apiKeyId)
    if (key === undefined || key.userId !== session?.userId) {
      throw new DomainError('session_expired', 'the session is over: sign in again')
    }
    sessions.use(session)
    keys.use(key)
    const { expiresAtUs } = sessions.termsOf(session)
    const caller: AuthenticatedCaller = {
      userId: key.userId,
      apiKeyId: key.id,
      scope: key.scope,
      interface: spoken,
      expiresAtUs: Math.min(expiresAtUs, key.expiresAtUs ?? Number.POSITIVE_INFINITY),
      foreignTopics: key.foreignTopics,
      session: { id: session.id, isAlone },
    }
    this.#proofs.set(caller, { key, session })
    return caller
  }

  #keyOf({ apiKeyId, expiresAtUs }: VerifiedToken): ApiKey | LimitedKey | undefined {
    if (!isLimitedId(apiKeyId)) return this.#needs.keys.find(apiKeyId)
    const key = this.#needs.limited.find(apiKeyId)
    return key && isTokenOf(key, expiresAtUs) ? key : undefined
  }

  #remember(caller: AuthenticatedCaller, proof: Proof): AuthenticatedCaller {
    this.#callers.set(proof.token ?? proof.key, caller)
    this.#proofs.set(caller, proof)
    return caller
  }

  #verified(text: string, address: string): VerifiedToken {
    try {
      return this.#needs.tokens.verify(text)
    } catch (error) {
      // Tokens expire every hour: that is no sign of an attack.
      if (error instanceof DomainError && error.code !== 'token_expired') {
        this.#needs.onFailure({ address, apiKeyId: undefined })
        if (looksLikeKey(text)) throw keyAsToken()
      }
      throw error
    }
  }
}

/** What Basic authentication says that is none: no key has this id. */
const nobody = { id: '', secret: '' } as const

function basicElsewhere(): DomainError {
  const message = [
    'Basic authentication is only taken where readings are sent or read (/data, /streams/{streamId}/data, /latest,',
    '/seals, /receipts and /validate, /fleets/{fleetId}/data, /write and the like): send a bearer token, or x-api-key and x-api-secret',
  ].join(' ')
  const remedy = 'Send Authorization: Bearer with a token, or x-api-key with x-api-secret.'
  return new DomainError('invalid_api_key', message, { remedy })
}

/** What has the beginning of our keys is none of our tokens. */
function looksLikeKey(text: string): boolean {
  return /^sv_[a-z]/.test(text)
}

function keyAsToken(): DomainError {
  return new DomainError('invalid_api_key', 'the access token is not valid', {
    remedy:
      'This is a key and not a token: send it in x-api-key, with x-api-secret, or get a token for both with POST /auth/token.',
  })
}

function ambiguous(): DomainError {
  return new DomainError(
    'ambiguous_credentials',
    'send either an authorization header or x-api-key and x-api-secret, not both',
  )
}
