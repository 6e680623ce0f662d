import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { problemOfEd25519, problemOfP256 } from './curves.ts'

/** How content can be signed: EdDSA of RFC 8032, and ECDSA of P-256 with SHA-256 (RFC 7518). */
export const signatureAlgorithms = ['Ed25519', 'ES256'] as const

export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

/** A public key (RFC 7517) with no more than what makes it one. */
export interface SignatureJwk {
  readonly kty: 'OKP' | 'EC'
  readonly crv: 'Ed25519' | 'P-256'
  readonly x: string
  readonly y?: string
}

/** A public key that was looked at: it is a point of its curve, and none that is weak. */
export interface SignatureKey {
  readonly algorithm: SignatureAlgorithm
  readonly jwk: SignatureJwk
  /** The members of it in the order of their names, as JSON: what its id is the SHA-256 of (RFC 7638). */
  readonly text: string
  readonly id: string
}

/** Why something is no key. Nothing of it is said again: it may be a private one. */
export interface KeyProblem {
  /** The member that is wrong; empty for the whole. */
  readonly member: string
  readonly problem: string
}

const coordinateBytes = 32

const kinds = {
  Ed25519: { kty: 'OKP', crv: 'Ed25519', algs: ['EdDSA', 'Ed25519'] },
  ES256: { kty: 'EC', crv: 'P-256', algs: ['ES256'] },
} as const

/** Members that private keys have (RFC 7518 and 8037). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Members that say what a key is called and for; they are not kept. */
const plainMembers: Readonly<
  Record<string, { readonly must: string; readonly is: (value: unknown) => boolean }>
> = {
  kid: { must: 'must be a text', is: (value) => typeof value === 'string' },
  key_ops: { must: 'must be a list of verify, or empty', is: isVerifying },
  ext: { must: 'must be true or false', is: (value) => typeof value === 'boolean' },
}

/** Takes a JWK that somebody has brought, in the one way that its points are written. */
export function parseSignatureKey(
  algorithm: SignatureAlgorithm,
  given: Readonly<Record<string, unknown>>,
): SignatureKey | KeyProblem {
  const { kty, crv, algs } = kinds[algorithm]
  const secret = privateMembers.find((name) => Object.hasOwn(given, name))
  if (secret !== undefined) {
    return wrong(secret, 'is private: send the public key only, and take another one from now on')
  }
  if (given['kty'] !== kty) return wrong('kty', `must be ${kty} for ${algorithm}`)
  if (given['crv'] !== crv) return wrong('crv', `must be ${crv} for ${algorithm}`)
  if (!isOneOf(given['alg'], algs)) return wrong('alg', `must be ${algs[0]} for ${algorithm}`)
  if (!isOneOf(given['use'], ['sig'])) return wrong('use', 'must be sig')
  const plain = plainProblem(given)
  if (plain) return plain
  const names = ['kty', 'crv', 'x', ...(kty === 'EC' ? ['y'] : []), 'alg', 'use']
  const known = [...names, ...Object.keys(plainMembers)]
  if (Object.keys(given).some((name) => !known.includes(name))) {
    return wrong('', 'has members that no public key of this kind has')
  }
  const x = coordinateIn(given['x'])
  if (!x) return wrong('x', coordinateForm)
  if (kty === 'OKP') {
    const problem = problemOfEd25519(x)
    return problem === undefined ? keyOf(algorithm, x) : wrong('x', problem)
  }
  const y = coordinateIn(given['y'])
  if (!y) return wrong('y', coordinateForm)
  const problem = problemOfP256(x, y)
  return problem === undefined ? keyOf(algorithm, x, y) : wrong('', problem)
}

function plainProblem(given: Readonly<Record<string, unknown>>): KeyProblem | undefined {
  const bad = Object.entries(plainMembers).find(
    ([name, { is }]) => given[name] !== undefined && !is(given[name]),
  )
  return bad && wrong(bad[0], bad[1].must)
}

function isVerifying(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => one === 'verify')
}

const coordinateForm = `must be ${coordinateBytes} bytes in base64url, without padding`

function wrong(member: string, problem: string): KeyProblem {
  return { member, problem }
}

function isOneOf(value: unknown, values: readonly string[]): boolean {
  return value === undefined || (typeof value === 'string' && values.includes(value))
}

function coordinateIn(value: unknown): Buffer | undefined {
  return typeof value === 'string' ? canonicalBytes(value, coordinateBytes) : undefined
}

/** The bytes of a text of base64url that is written in the one way; undefined for others, and for other lengths. */
export function canonicalBytes(text: string, length: number): Buffer | undefined {
  if (text.length > 2 * length) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : undefined
}

function keyOf(algorithm: SignatureAlgorithm, x: Buffer, y?: Buffer): SignatureKey {
  const { kty, crv } = kinds[algorithm]
  const coordinates = { x: x.toString('base64url'), ...(y && { y: y.toString('base64url') }) }
  const jwk: SignatureJwk = { kty, crv, ...coordinates }
  const text = JSON.stringify({ crv, kty, ...coordinates })
  return { algorithm, jwk, text, id: createHash('sha256').update(text).digest('base64url') }
}

/** The key of an object for OpenSSL. */
export function verifierOf({ jwk }: SignatureKey): KeyObject {
  return createPublicKey({ key: { ...jwk }, format: 'jwk' })
}
