import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeMetadata } from '../../src/anchors/metadata/encode-metadata.ts'
import {
  checkSignatureProof,
  isSignatureProof,
} from '../../src/ledgers/signatures/check-signature-proof.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { type MadeSignatureProof, saidOf, signatureProofOf } from '../support/signature-proofs.ts'
import { Signer } from '../support/signers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const cid = cidOf('hello')

afterAll(() => folder[Symbol.dispose]())

/** What a text shows, by whatever key. */
async function checked(text: string, trusted = '') {
  return await checkSignatureProof(text, { trustedKeys: new Set([trusted]) })
}

/** Whether a text shows a signature, and which. */
async function shows(text: string): Promise<string | undefined> {
  const { verdict, signed } = await checked(text)
  return verdict.is === 'proven' || verdict.is === 'proven_under_key'
    ? `${signed?.cid} ${signed?.keyId}`
    : undefined
}

describe.each(['Ed25519', 'ES256'] as const)('the proof of a signature of %s', (algorithm) => {
  const signer = new Signer(algorithm)
  let made: MadeSignatureProof

  beforeAll(async () => {
    made = await signatureProofOf(folder.file(algorithm), saidOf(signer, cid))
  })

  test('is proven under a key that is trusted', async () => {
    const { verdict, signed } = await checked(JSON.stringify(made.proof), made.keyId)
    expect(verdict.is).toBe('proven')
    expect(signed).toMatchObject({ cid, algorithm })
  })

  test('shows nothing else with any bit that is another one', async () => {
    const bytes = Buffer.from(JSON.stringify(made.proof))
    const good = await shows(bytes.toString())
    expect(good).toMatch(cid)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const shown = await shows(changed.toString('utf8'))
      const around = bytes.subarray((bit >> 3) - 20, (bit >> 3) + 20).toString()
      if (shown !== undefined) throw new Error(`bit ${bit} can be another one: ...${around}...`)
    }
  })

  test('with any member that is anything at all gets a verdict, and shows nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('format', 'metadata', 'proof', 'remark'),
        fc.anything({ maxDepth: 2 }),
        async (name, value) => {
          const text = JSON.stringify({ ...made.proof, [name]: value })
          fc.pre(text !== JSON.stringify(made.proof))
          expect((await checked(text, made.keyId)).verdict.is).toBe('contradicted')
        },
      ),
      { numRuns: 300 },
    )
  })

  test('that was anchored with any member of its own changed is contradicted', async () => {
    const said = saidOf(signer, cid)
    const other = saidOf(new Signer(algorithm), cidOf('x'))
    const names = ['cid', 'algorithm', 'public_key', 'signature', 'signed_text'] as const
    const changes = [
      ...names.map((name) => ({ ...said, [name]: other[name] })),
      ...names.map((name) => ({ ...said, [name]: '' })),
      { ...said, remark: 'believe me' },
      { ...said, algorithm: algorithm === 'ES256' ? 'Ed25519' : 'ES256' },
      { ...said, public_key: JSON.stringify(signer.jwk).replace('{', '{ ') },
      { ...said, public_key: JSON.stringify({ ...signer.jwk, kid: 'x' }) },
      { ...said, public_key: 'null' },
      { ...said, cid: `${cid}\nCID: ${cidOf('x')}` },
    ].filter((one) => JSON.stringify(one) !== JSON.stringify(said))
    for (const [at, one] of changes.entries()) {
      const { proof } = await signatureProofOf(
        folder.file(`${algorithm}-${at}`),
        one as typeof said,
      )
      expect((await checked(JSON.stringify(proof))).verdict.is).toBe('contradicted')
    }
  })

  test('that was anchored in two readings is contradicted', async () => {
    const metadata = Buffer.from(
      (await encodeMetadata('signature', saidOf(signer, cid))).bytes,
    ).toString()
    const readings = [
      metadata.replace('"cid":', `"cid":"${cidOf('x')}","cid":`),
      metadata.replace('"cid":', '"\\u0063id":'),
      metadata.replace('{', '{ '),
      `${metadata}\n`,
    ]
    for (const [at, one] of readings.entries()) {
      const { proof } = await signatureProofOf(folder.file(`${algorithm}-read-${at}`), one)
      expect((await checked(JSON.stringify(proof))).verdict).toMatchObject({ is: 'contradicted' })
    }
  })
})

test('what names no CID names no content', async () => {
  const signer = new Signer('Ed25519')
  for (const [at, one] of ['', 'x', 'bafk', cid.toUpperCase(), `${cid} `].entries()) {
    const { proof } = await signatureProofOf(folder.file(`none-${at}`), saidOf(signer, one))
    expect((await checked(JSON.stringify(proof))).verdict.is).toBe('contradicted')
  }
})

test('anything at all is a proof or not, and gets a verdict', async () => {
  const texts = ['', 'null', '[', '{}', '7', '[]'.repeat(200_000), ' '.repeat(300_000)]
  for (const text of texts) {
    expect(isSignatureProof(text)).toBe(false)
    expect((await checked(text)).verdict.is).toBe('contradicted')
  }
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      expect((await checked(text)).verdict.is).toBe('contradicted')
    }),
  )
})
