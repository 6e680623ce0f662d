import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSignedBy, otherForm } from '../../src/ledgers/signatures/check-signature.ts'
import { parseSignatureKey } from '../../src/ledgers/signatures/signature-key.ts'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'
import { Signer } from '../support/signers.ts'

type Changed = 'text' | 'signature' | 'x' | 'y'

function flipped(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  const at = bit % (8 * bytes.length)
  changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7))
  return changed
}

describe.each(['Ed25519', 'ES256'] as const)('a signature of %s', (algorithm) => {
  const signer = new Signer(algorithm)

  function isTaken(cid: string, what: Changed | undefined, bit: number): boolean {
    const text = signingText(cid)
    const parts: Record<Changed, Buffer> = {
      text: Buffer.from(text),
      signature: Buffer.from(signer.signed(text), 'base64url'),
      x: Buffer.from(signer.jwk['x'] ?? '', 'base64url'),
      y: Buffer.from(signer.jwk['y'] ?? '', 'base64url'),
    }
    if (what !== undefined) parts[what] = flipped(parts[what], bit)
    const { x, y } = parts
    const coordinates = {
      x: x.toString('base64url'),
      ...(y.length > 0 && { y: y.toString('base64url') }),
    }
    const key = parseSignatureKey(algorithm, { ...signer.jwk, ...coordinates })
    if ('problem' in key) return false
    return isSignedBy(key, parts.text, parts.signature.toString('base64url'))
  }

  test('is none of any other bit of text, key or signature', () => {
    const changes: readonly Changed[] =
      algorithm === 'ES256' ? ['text', 'signature', 'x', 'y'] : ['text', 'signature', 'x']
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(...changes),
        fc.nat({ max: 100_000 }),
        (cid, what, bit) => {
          expect(isTaken(cid, undefined, 0)).toBe(true)
          expect(isTaken(cid, what, bit)).toBe(false)
        },
      ),
      { numRuns: 300 },
    )
  })
})

test('the other form of a signature is one, and leads back', () => {
  const signer = new Signer('ES256')
  const key = parseSignatureKey('ES256', signer.jwk)
  if ('problem' in key) throw new Error(key.problem)
  const signature = signer.signed('text')
  const other = otherForm('ES256', signature) ?? ''
  expect(other).not.toBe(signature)
  expect(isSignedBy(key, 'text', other)).toBe(true)
  expect(otherForm('ES256', other)).toBe(signature)
})
