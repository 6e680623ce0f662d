import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isSignedBy } from '../../src/ledgers/signatures/check-signature.ts'
import {
  parseSignatureKey,
  type SignatureAlgorithm,
  type SignatureKey,
} from '../../src/ledgers/signatures/signature-key.ts'

interface Group {
  /** Hex: the 32 bytes of Ed25519, or an uncompressed point of P-256. */
  readonly key: string
  readonly tests: readonly {
    readonly tcId: number
    readonly comment: string
    readonly msg: string
    readonly sig: string
    readonly result: 'valid' | 'invalid' | 'acceptable'
  }[]
}

const files = [
  ['Ed25519', 'ed25519.json', 150],
  ['ES256', 'p256.json', 250],
] as const

function keyOf(algorithm: SignatureAlgorithm, hex: string): SignatureKey {
  const bytes = Buffer.from(hex, 'hex')
  const text = (from: number, to: number) => bytes.subarray(from, to).toString('base64url')
  const jwk =
    algorithm === 'Ed25519'
      ? { kty: 'OKP', crv: 'Ed25519', x: text(0, 32) }
      : { kty: 'EC', crv: 'P-256', x: text(1, 33), y: text(33, 65) }
  const key = parseSignatureKey(algorithm, jwk)
  if ('problem' in key) throw new Error(`${hex}: ${key.problem}`)
  return key
}

describe.each(files)('signatures of %s', (algorithm, file, atLeast) => {
  test('are taken and refused as Project Wycheproof says', () => {
    const path = new URL(`wycheproof/${file}`, import.meta.url)
    const groups = JSON.parse(readFileSync(path, 'utf8')) as readonly Group[]
    const results = groups.flatMap(({ key, tests }) => {
      const publicKey = keyOf(algorithm, key)
      return tests.map(({ tcId, comment, msg, sig, result }) => {
        // The messages of Wycheproof are bytes; texts are what is signed here.
        const message = Buffer.from(msg, 'hex')
        const signature = Buffer.from(sig, 'hex').toString('base64url')
        const isTaken = isSignedBy(publicKey, message, signature)
        return { tcId, comment, isTaken, result }
      })
    })
    expect(results.length).toBeGreaterThanOrEqual(atLeast)
    expect(results.some(({ isTaken }) => isTaken)).toBe(true)
    expect(results.filter(({ isTaken, result }) => isTaken !== (result === 'valid'))).toEqual([])
  })
})
