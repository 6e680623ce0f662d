import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type Compilable, type Selectable, sql } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Clocks } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { parseSignatureKey, type SignatureKey } from '../../ledgers/signatures/signature-key.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** After this a new key signs, without anybody asking for it. */
const signingDays = 90

/** All that were ever made are published, and each for ever: so many last for two hundred years. */
const contentKeysMax = 1_000

const usPerDay = 86_400_000_000

/** The key that signs content now. */
export interface ContentKey {
  readonly key: SignatureKey
  readonly privateKey: KeyObject
  /** In steady time. */
  readonly sinceUs: number
}

/** A new key that signs, and what makes it do so. */
interface PlannedRotation {
  readonly kid: string
  readonly changes: readonly Compilable[]
  readonly refusal: () => Promise<DomainError>
  readonly afterwards: () => Promise<void>
}

export interface ContentKeysNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: Pick<MasterKey, 'encrypt' | 'decrypt'>
  readonly clock: Clocks
  readonly audit: Pick<AuditLog, 'entry'>
}

type Row = Selectable<StateSchema['content_keys']>

/**
 * The keys that the service signs content with, and nothing else: one signs. The private half of one that signs no more is
 * gone; the public halves stay, because what they have signed is to be checked for ever.
 */
export class ContentKeys {
  readonly #needs: ContentKeysNeeds
  #rows: readonly Row[] = []
  #current: ContentKey | undefined

  private constructor(needs: ContentKeysNeeds) {
    this.#needs = needs
  }

  /** Opens what is stored, and makes the first key when there is none. */
  static async open(needs: ContentKeysNeeds): Promise<ContentKeys> {
    const keys = new ContentKeys(needs)
    await keys.#load()
    if (keys.#current === undefined) await keys.#rotate()
    return keys
  }

  /** The key that signs now. */
  get current(): ContentKey {
    if (!this.#current) throw new Error('the keys for content are not open')
    return this.#current
  }

  /** Whether a key is, or was, one of the service. */
  isOwn(kid: string): boolean {
    return this.#rows.some((row) => row.kid === kid)
  }

  /** The public halves of all keys there ever were, the one that signs first: a JSON Web Key Set (RFC 7517). */
  publicKeys() {
    return {
      keys: this.#rows.map(({ kid, x, created_at, retired_at }) => ({
        kty: 'OKP' as const,
        crv: 'Ed25519' as const,
        x,
        kid,
        alg: 'EdDSA' as const,
        use: 'sig' as const,
        role: 'content' as const,
        created_at: formatUs(created_at),
        retired_at: retired_at === null ? null : formatUs(retired_at),
      })),
    }
  }

  /** From now on a new key signs. What the one before has signed stays good, and it signs nothing any more. */
  planRotation(actor: Actor | undefined): PlannedRotation {
    const { state, masterKey, clock, audit } = this.#needs
    const { privateKey, key } = newKey()
    const nowUs = clock.nowUs()
    return {
      kid: key.id,
      changes: [
        optional(
          state
            .updateTable('content_keys')
            .set({ retired_at: nowUs, private_key_encrypted: null })
            .where('retired_at', 'is', null),
        ),
        state
          .insertInto('content_keys')
          .columns(['kid', 'x', 'private_key_encrypted', 'created_at', 'signing_since'])
          .expression(
            sql`SELECT ${key.id}, ${key.jwk.x}, ${masterKey.encrypt(privateKey)}, ${nowUs},
                  ${clock.steadyUs()}
                WHERE (SELECT count(*) FROM content_keys) < ${contentKeysMax}`,
          ),
        audit.entry({ action: 'content_key.rotated', actor, subjectId: key.id }),
      ],
      refusal: async () =>
        conflict(
          `there can be ${contentKeysMax} keys for content at most`,
          'Keep the newest key: it goes on signing, and earlier signatures need the keys that there are. GET /.well-known/signing-keys.json lists them.',
        ),
      afterwards: () => this.#load(),
    }
  }

  /** Rotates when it is time to. To be called now and then. */
  async rotateWhenDue(): Promise<void> {
    const signedUs = this.#needs.clock.steadyUs() - this.current.sinceUs
    const isRoom = this.#rows.length < contentKeysMax
    if (signedUs > signingDays * usPerDay && isRoom) await this.#rotate()
  }

  async #rotate(): Promise<void> {
    const { changes, refusal, afterwards } = this.planRotation(undefined)
    if (!(await this.#needs.writer.attempt(...changes))) throw await refusal()
    await afterwards()
  }

  async #load(): Promise<void> {
    const { state, masterKey } = this.#needs
    this.#rows = await state
      .selectFrom('content_keys')
      .selectAll()
      .orderBy(sql`retired_at IS NOT NULL`)
      // A wall clock that is set back changes nothing in this order.
      .orderBy('signing_since', 'desc')
      .orderBy('kid')
      .execute()
    const newest = this.#rows.find((row) => row.retired_at === null)
    this.#current = newest && signingKeyOf(newest, masterKey)
  }
}

function newKey(): { readonly key: SignatureKey; readonly privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { kty, crv, x } = publicKey.export({ format: 'jwk' })
  const key = keyOf({ kty, crv, x })
  return { key, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function signingKeyOf(
  { x, private_key_encrypted: encrypted, signing_since: sinceUs }: Row,
  masterKey: ContentKeysNeeds['masterKey'],
): ContentKey {
  const privateKey = createPrivateKey(masterKey.decrypt(encrypted ?? new Uint8Array()))
  return { key: keyOf({ kty: 'OKP', crv: 'Ed25519', x }), privateKey, sinceUs }
}

function keyOf(jwk: Readonly<Record<string, unknown>>): SignatureKey {
  const key = parseSignatureKey('Ed25519', jwk)
  if ('problem' in key) throw new Error(`a key of our own ${key.problem}`)
  return key
}
