import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isSignedBy, signatureProblem } from '../../src/ledgers/signatures/check-signature.ts'
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

/** The orders of the two curves. */
const orders = {
  Ed25519: 2n ** 252n + 27742317777372353535851937790883648493n,
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
}

/** Whether numbers of a signature are beyond what they may be, whoever checks it. */
function isBeyond(algorithm: SignatureAlgorithm, signature: Buffer): boolean {
  const [first, second] = [signature.subarray(0, 32), signature.subarray(32)]
  if (algorithm === 'Ed25519') {
    return BigInt(`0x${Buffer.from(second.toReversed()).toString('hex')}`) >= orders.Ed25519
  }
  const numbers = [first, second].map((half) => BigInt(`0x${half.toString('hex')}`))
  return numbers.some((one) => one === 0n || one >= orders.ES256)
}

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

  test('whose numbers are too large are none, without any key being asked', () => {
    const path = new URL(`wycheproof/${file}`, import.meta.url)
    const groups = JSON.parse(readFileSync(path, 'utf8')) as readonly Group[]
    const whole = groups.flatMap(({ tests }) =>
      tests.map(({ sig }) => Buffer.from(sig, 'hex')).filter(({ length }) => length === 64),
    )
    const beyond = whole.filter((one) => isBeyond(algorithm, one))
    expect(beyond.length).toBeGreaterThan(5)
    for (const one of whole) {
      const isRefused = signatureProblem(algorithm, one.toString('base64url')) !== undefined
      expect(isRefused).toBe(isBeyond(algorithm, one))
    }
  })
})
