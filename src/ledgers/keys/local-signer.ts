import { createPrivateKey, type KeyObject, sign as signEd25519 } from 'node:crypto'
import type { Signer } from '../signer.ts'
import type { KeyPair } from './ledger-key.ts'

/** Signs with a key of the keystore, in this process. */
export function localSigner({
  algorithm,
  publicKey,
  privateKey,
}: Omit<KeyPair, 'account'>): Signer {
  const bytes = Buffer.from(publicKey, 'hex')
  if (algorithm === 'Ed25519') return new Ed25519Signer(bytes, Buffer.from(privateKey, 'hex'))
  return new Secp256k1Signer(bytes, Buffer.from(privateKey, 'hex'))
}

class Ed25519Signer implements Signer {
  readonly algorithm = 'Ed25519'
  readonly publicKey: Uint8Array
  readonly #key: KeyObject

  constructor(publicKey: Buffer, privateKey: Buffer) {
    this.publicKey = publicKey
    const d = privateKey.toString('base64url')
    const x = publicKey.toString('base64url')
    this.#key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' })
  }

  async sign(bytes: Uint8Array): Promise<{ readonly signature: Uint8Array }> {
    return { signature: signEd25519(null, bytes, this.#key) }
  }
}

const digestBytes = 32

class Secp256k1Signer implements Signer {
  readonly algorithm = 'secp256k1'
  readonly publicKey: Uint8Array
  readonly #privateKey: Buffer

  constructor(publicKey: Buffer, privateKey: Buffer) {
    this.publicKey = publicKey
    this.#privateKey = privateKey
  }

  /** Deterministic (RFC 6979): the same digest has the same signature. @throws Error when it is no digest */
  async sign(digest: Uint8Array): Promise<{
    readonly signature: Uint8Array
    readonly recovery: 0 | 1
  }> {
    if (digest.length !== digestBytes) throw new Error(`a digest has ${digestBytes} bytes`)
    const { secp256k1 } = await import('@noble/curves/secp256k1.js')
    // The recovery bit, then r and s; s is the lower one.
    const options = { prehash: false, lowS: true, format: 'recovered' } as const
    const [recovery, ...signature] = secp256k1.sign(digest, this.#privateKey, options)
    return { signature: Uint8Array.from(signature), recovery: recovery === 1 ? 1 : 0 }
  }
}
