import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeMetadata } from '../../src/anchors/metadata/encode-metadata.ts'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { streamvault } from '../support/command-line.ts'
import { sandboxProof } from '../support/sandbox-proof.ts'
import { Signer } from '../support/signers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const [report, other] = [folder.file('report.txt'), folder.file('other.txt')]
const [good, changed] = [folder.file('signature.json'), folder.file('changed.json')]
const [own, foreign] = [folder.file('signing-keys.json'), folder.file('other-keys.json')]
let keyId: string

beforeAll(async () => {
  writeFileSync(report, 'the report')
  writeFileSync(other, 'another report')
  const signer = new Signer('Ed25519')
  const cid = cidOf('the report')
  const { kty = '', crv = '', x = '' } = signer.jwk
  const said = (signature: string) => ({
    cid,
    algorithm: 'Ed25519',
    public_key: JSON.stringify({ crv, kty, x }),
    signature,
    signed_text: signingText(cid),
    created_at: '2026-11-27T10:00:00.000000Z',
  })
  const texts = [signingText(cid), 'another text']
  for (const [at, text] of texts.entries()) {
    const { bytes } = await encodeMetadata('signature', said(signer.signed(text)))
    const files = [{ name: '', bytes: Buffer.from(bytes) }]
    const made = await sandboxProof(folder.file(`ledger-${at}`), files, { others: 2 })
    const metadata = Buffer.from(bytes).toString()
    const proof = { format: 'streamvault-signature-proof-1', metadata, proof: made.proof }
    writeFileSync(at === 0 ? good : changed, JSON.stringify(proof))
    if (at === 0) keyId = made.keyId
  }
  writeFileSync(own, JSON.stringify({ keys: [signer.jwk] }))
  writeFileSync(foreign, JSON.stringify({ keys: [new Signer('Ed25519').jwk] }))
})

afterAll(() => folder[Symbol.dispose]())

test('streamvault verify says who has signed a file, offline', async () => {
  const verify = (...words: readonly string[]) => streamvault(['verify', ...words])
  const results = [
    await verify(report, '--signature', good, '--key', keyId, '--signing-keys', own),
    await verify(report, '--signature', good, '--signing-keys', foreign),
    await verify(good, '--key', keyId),
    await verify(other, '--signature', good, '--key', keyId),
    await verify(report, '--signature', changed, '--key', keyId),
  ]

  expect(results.map(({ code }) => code)).toEqual([0, 3, 0, 4, 5])
  expect(results[0]?.stdout).toMatch(/^signed: \w+ with the key \S+ \(Ed25519\) of the service\./)
  expect(results[1]?.stdout).toContain('which is none of the service')
  expect(results[3]?.stdout).toContain('the signature is of other content')
  expect(results[4]?.stdout).toContain('metadata.signature is not that of the key')
})
