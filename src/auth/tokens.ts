import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto'
import jwt from 'jsonwebtoken'
import type { Clock } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import type { UserId } from '../core/ids.ts'
import { LruMap } from '../core/lru-map.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import type { Caller } from './api-keys.ts'
import type { MasterKey } from './master-key.ts'

/** Seconds that an access token lives. */
export const tokenLifetimeS = 3600

const issuer = 'streamvault'
const audience = 'streamvault'

/** Verified tokens that are remembered: a signature check costs a tenth of a millisecond. */
const verifiedMax = 10_000

interface SigningKey {
  readonly kid: string
  readonly privateKey: string
  readonly publicKey: string
}

interface Verified {
  readonly caller: Caller
  readonly expiresAtS: number
}

/** Issues and checks access tokens: JWT, ES256 (RFC 7519, RFC 7518 section 3.4). */
export class Tokens {
  readonly #key: SigningKey
  readonly #clock: Clock
  readonly #verified = new LruMap<string, Verified>(verifiedMax)

  private constructor(key: SigningKey, clock: Clock) {
    this.#key = key
    this.#clock = clock
  }

  static async open(needs: TokensNeeds): Promise<Tokens> {
    return new Tokens(await ensureSigningKey(needs), needs.clock)
  }

  issue({ userId, apiKeyId, scope }: Caller): string {
    const nowS = Math.floor(this.#clock.nowUs() / 1_000_000)
    return jwt.sign({ iat: nowS, scope, api_key_id: apiKeyId }, this.#key.privateKey, {
      algorithm: 'ES256',
      keyid: this.#key.kid,
      issuer,
      audience,
      subject: userId,
      expiresIn: tokenLifetimeS,
    })
  }

  /** @throws DomainError `token_expired` or `invalid_api_key` */
  verify(token: string): Caller {
    const nowS = this.#clock.nowUs() / 1_000_000
    const known = this.#verified.get(token)
    const verified = known ?? this.#check(token, nowS)
    if (verified.expiresAtS <= nowS) throw new DomainError('token_expired', 'the token has expired')
    if (!known) this.#verified.set(token, verified)
    return verified.caller
  }

  #check(token: string, nowS: number): Verified {
    let decoded: jwt.Jwt
    try {
      decoded = jwt.verify(token, this.#key.publicKey, {
        algorithms: ['ES256'],
        issuer,
        audience,
        complete: true,
        clockTimestamp: Math.floor(nowS),
      })
    } catch (error) {
      if (error instanceof jwt.TokenExpiredError) {
        throw new DomainError('token_expired', 'the token has expired')
      }
      throw invalidToken()
    }
    const { header, payload } = decoded
    if (typeof payload === 'string' || header.typ !== 'JWT' || header.kid !== this.#key.kid) {
      throw invalidToken()
    }
    const { sub, exp } = payload
    const { scope, api_key_id: apiKeyId } = payload as { scope?: unknown; api_key_id?: unknown }
    if (sub === undefined || exp === undefined) throw invalidToken()
    if (typeof scope !== 'string' || typeof apiKeyId !== 'string') throw invalidToken()
    return { caller: { userId: sub as UserId, apiKeyId, scope }, expiresAtS: exp }
  }
}

function invalidToken(): DomainError {
  return new DomainError('invalid_api_key', 'the access token is not valid')
}

export interface TokensNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: MasterKey
  readonly clock: Clock
}

/** The newest signing key, made at the first start. Its private half is stored encrypted only. */
async function ensureSigningKey(needs: TokensNeeds): Promise<SigningKey> {
  const { state, writer, masterKey, clock } = needs
  const row = await state
    .selectFrom('signing_keys')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row) {
    const privateKey = masterKey.decrypt(row.private_key_encrypted)
    return { kid: row.kid, publicKey: row.public_key, privateKey }
  }
  const made = makeSigningKey()
  await writer.commit(
    state.insertInto('signing_keys').values({
      kid: made.kid,
      public_key: made.publicKey,
      private_key_encrypted: masterKey.encrypt(made.privateKey),
      created_at: clock.nowUs(),
    }),
  )
  return made
}

function makeSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  const kid = createHash('sha256').update(der).digest('base64url').slice(0, 16)
  return { kid, privateKey, publicKey }
}
