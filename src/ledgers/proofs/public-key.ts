import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

/** A public key of Ed25519 (RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** 32 bytes in base64url. */
  readonly x: string
}

/** A key as it is published: a JWK (RFC 7517) with what it is for. */
export interface PublishedKey extends PublicJwk {
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  /** What it signs: `blocks`, or transactions of an `account`, or those of the `distribution` wallet. */
  readonly role: string
}

/** A JWK Set. */
export interface PublishedKeys {
  readonly keys: readonly PublishedKey[]
}

const bytesOfKey = 32

/** Whether a text is a public key of Ed25519 in base64url, in the one way that it is written. */
export function isKeyText(x: string): boolean {
  if (!/^[\w-]{43}$/.test(x)) return false
  const bytes = Buffer.from(x, 'base64url')
  return bytes.length === bytesOfKey && bytes.toString('base64url') === x
}

/** What a key is known by: the SHA-256 of its members in the order of their names (RFC 7638). */
export function keyIdOf({ crv, kty, x }: PublicJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}

export function jwkOf(x: string): PublicJwk {
  return { kty: 'OKP', crv: 'Ed25519', x }
}

/** @throws Error when it is no key */
export function verifierOf({ kty, crv, x }: PublicJwk): KeyObject {
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
}
