import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'

export interface ShownSignature {
  readonly id: string
  readonly status: string
  readonly algorithm: string
  readonly public_key: Readonly<Record<string, string>> | null
  readonly signature: string
  readonly signed_text: string
  readonly signed_by: string | null
  readonly cid: string
  readonly failure: { readonly error: string; readonly message: string } | null
  readonly [field: string]: unknown
}

/** Somebody with a key of their own. */
export class Signer {
  readonly algorithm: 'Ed25519' | 'ES256'
  readonly jwk: Readonly<Record<string, string>>
  readonly #privateKey: KeyObject

  constructor(algorithm: 'Ed25519' | 'ES256') {
    const { publicKey, privateKey } =
      algorithm === 'Ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.algorithm = algorithm
    this.jwk = publicKey.export({ format: 'jwk' }) as Readonly<Record<string, string>>
    this.#privateKey = privateKey
  }

  /** The private key as a JWK. */
  get secret(): Readonly<Record<string, string>> {
    return this.#privateKey.export({ format: 'jwk' }) as Readonly<Record<string, string>>
  }

  /** base64url. */
  signed(text: string): string {
    const key = { key: this.#privateKey, dsaEncoding: 'ieee-p1363' } as const
    const hash = this.algorithm === 'ES256' ? 'sha256' : null
    return sign(hash, Buffer.from(text), key).toString('base64url')
  }

  /** What is sent to have a signature of content taken. */
  bodyFor(cid: string) {
    const { algorithm, jwk } = this
    return { algorithm, public_key: jwk, signature: this.signed(signingText(cid)) }
  }
}
