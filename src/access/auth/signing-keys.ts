import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { type Compilable, type SqlBool, sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { Actor, AuditLog } from '../audit/audit-log.ts'
import type { MasterKey } from './master-key.ts'

/** After this a new key signs, without anybody asking for it. */
const signingDays = 90

/**
 * A key that no longer signs is accepted for this long: twice as long as a token lives
 * (decisions.md#tokens).
 */
export const signingOverlapS = 7_200

/**
 * Keys that can be accepted at one time: nobody can fill the memory by rotating. One more is refused,
 * because to forget the oldest would end tokens before their time.
 */
export const acceptedMax = 10

const usPerSecond = 1_000_000
const usPerDay = 86_400 * usPerSecond

/** A key that tokens are checked with. */
export interface AcceptedKey {
  readonly kid: string
  readonly publicKey: KeyObject
  /** In steady time: nobody is told of it. Infinite for the one that signs. */
  readonly acceptedUntilUs: number
}

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  /** In steady time. */
  readonly sinceUs: number
}

/** A new key that signs, and what makes it do so. */
export interface PlannedRotation {
  readonly kid: string
  /** None can be made while as many keys are accepted as can be. */
  readonly changes: readonly Compilable[]
  readonly refusal: () => Promise<DomainError>
  readonly afterwards: () => Promise<void>
}

export interface SigningKeysNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: MasterKey
  readonly clock: Clocks
  readonly audit: AuditLog
}

/** The keys that tokens are signed and checked with: one signs, those before it are accepted. */
export class SigningKeys {
  readonly #needs: SigningKeysNeeds
  #accepted: ReadonlyMap<string, AcceptedKey> = new Map()
  #current: SigningKey | undefined

  private constructor(needs: SigningKeysNeeds) {
    this.#needs = needs
  }

  /** Opens what is stored, and makes the first key when there is none. */
  static async open(needs: SigningKeysNeeds): Promise<SigningKeys> {
    const keys = new SigningKeys(needs)
    await keys.#load()
    if (keys.#current === undefined) await keys.#rotate(0)
    return keys
  }

  /** The key that signs now. */
  get current(): SigningKey {
    if (!this.#current) throw new Error('the signing keys are not open')
    return this.#current
  }

  /**
   * The accepted key of this name. The name only looks it up: it is no reason to trust
   * (decisions.md#tokens).
   */
  find(kid: string): AcceptedKey | undefined {
    const key = this.#accepted.get(kid)
    return key && this.isAccepted(key) ? key : undefined
  }

  /** Whether this very key is still accepted: what it has signed may be remembered elsewhere. */
  isAccepted(key: AcceptedKey): boolean {
    const untilUs = this.#accepted.get(key.kid)?.acceptedUntilUs
    // The clock is not asked for the one that signs: this runs several times for each request.
    if (untilUs === Number.POSITIVE_INFINITY) return true
    return untilUs !== undefined && untilUs > this.#needs.clock.steadyUs()
  }

  /** The public halves of all accepted keys: a JSON Web Key Set (RFC 7517). */
  publicKeys(): object {
    const keys = [...this.#accepted.values()].filter((key) => this.isAccepted(key))
    return {
      keys: keys.map(({ kid, publicKey }) => {
        const { kty, crv, x, y } = publicKey.export({ format: 'jwk' })
        return { kty, crv, x, y, kid, use: 'sig', alg: 'ES256' }
      }),
    }
  }

  /**
   * From now on a new key signs. The one before is accepted for `overlapS` seconds more; 0 is for a
   * key that has come into wrong hands, and ends all tokens.
   */
  planRotation(actor: Actor | undefined, overlapS = signingOverlapS): PlannedRotation {
    const { state, writer, masterKey, clock, audit } = this.#needs
    const nowUs = clock.steadyUs()
    const { publicKey, privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const kid = nameOf(publicKey)
    const untilUs = nowUs + overlapS * usPerSecond
    return {
      kid,
      changes: [
        ...(this.#current === undefined ? [] : [this.#ending(untilUs)]),
        state
          .insertInto('signing_keys')
          .columns(['kid', 'public_key', 'private_key_encrypted', 'created_at', 'signing_since'])
          .expression(
            sql`SELECT ${kid}, ${publicKey}, ${masterKey.encrypt(privateKey)}, ${clock.nowUs()},
                  ${nowUs} WHERE (SELECT count(*) FROM signing_keys WHERE accepted_until > ${nowUs})
                    <= ${acceptedMax}`,
          ),
        audit.entry({
          action: 'signing_key.rotated',
          actor,
          subjectId: kid,
          details: { overlapS },
        }),
      ],
      refusal: async () => this.#tooMany(),
      afterwards: async () => {
        await this.#load()
        await writer.commit(state.deleteFrom('signing_keys').where('accepted_until', '<=', nowUs))
      },
    }
  }

  /** Ends those that are accepted for longer, the one that signs included. */
  #ending(untilUs: number): Compilable {
    return (
      this.#needs.state
        .updateTable('signing_keys')
        .set({ accepted_until: untilUs })
        // With no overlap the older ones end as well: one of them may be the one that leaked.
        .where(sql<SqlBool>`(accepted_until is null or accepted_until > ${untilUs})`)
    )
  }

  /** Rotates when it is time to. To be called now and then. */
  async rotateWhenDue(): Promise<void> {
    const signedUs = this.#needs.clock.steadyUs() - this.current.sinceUs
    if (signedUs > signingDays * usPerDay) await this.#rotate(signingOverlapS)
  }

  async #rotate(overlapS: number): Promise<void> {
    const { changes, refusal, afterwards } = this.planRotation(undefined, overlapS)
    if (!(await this.#needs.writer.attempt(...changes))) throw await refusal()
    await afterwards()
  }

  #tooMany(): DomainError {
    const nowUs = this.#needs.clock.steadyUs()
    const ends = [...this.#accepted.values()].map((key) => key.acceptedUntilUs)
    const nextUs = Math.min(...ends.filter((untilUs) => untilUs > nowUs))
    return new DomainError(
      'rate_limited',
      `${acceptedMax} signing keys before the current one are still accepted, for tokens that they have signed`,
      { retryAfter: Math.ceil((nextUs - nowUs) / usPerSecond) },
    )
  }

  async #load(): Promise<void> {
    const { state, masterKey, clock } = this.#needs
    const rows = await state
      .selectFrom('signing_keys')
      .selectAll()
      .where((where) =>
        where.or([
          where('accepted_until', 'is', null),
          where('accepted_until', '>', clock.steadyUs()),
        ]),
      )
      .orderBy('created_at', 'desc')
      .execute()
    this.#accepted = new Map(
      rows.map(({ kid, public_key, accepted_until }) => [
        kid,
        {
          kid,
          publicKey: createPublicKey(public_key),
          acceptedUntilUs: accepted_until ?? Number.POSITIVE_INFINITY,
        },
      ]),
    )
    const [newest] = rows.filter((row) => row.accepted_until === null)
    this.#current = newest && {
      kid: newest.kid,
      privateKey: createPrivateKey(decrypted(masterKey, newest.private_key_encrypted)),
      sinceUs: newest.signing_since,
    }
  }
}

/** @throws Error that says which setting is wrong: that of OpenSSL would not */
function decrypted(masterKey: MasterKey, bytes: Uint8Array): string {
  try {
    return masterKey.decrypt(bytes)
  } catch (error) {
    const message = 'the master key is not the one that this data folder was made with'
    throw new Error(message, { cause: error })
  }
}

/** The name of a key: a digest of its public half. */
function nameOf(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('base64url').slice(0, 16)
}
