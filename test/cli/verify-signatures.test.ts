import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jwkOf, keyIdOf } from '../../src/ledgers/proofs/public-key.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { streamvault } from '../support/command-line.ts'
import { saidOf, signatureProofOf } from '../support/signature-proofs.ts'
import { Signer } from '../support/signers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const [report, other] = [folder.file('report.txt'), folder.file('other.txt')]
const [good, changed] = [folder.file('signature.json'), folder.file('changed.json')]
const [own, foreign] = [folder.file('signing-keys.json'), folder.file('other-keys.json')]
let keyId: string
let key: Readonly<Record<string, string>>

beforeAll(async () => {
  writeFileSync(report, 'the report')
  writeFileSync(other, 'another report')
  const signer = new Signer('Ed25519')
  const cid = cidOf('the report')
  const right = await signatureProofOf(folder.file('ledger-0'), saidOf(signer, cid))
  keyId = right.keyId
  writeFileSync(good, JSON.stringify(right.proof))
  const wrong = await signatureProofOf(folder.file('ledger-1'), saidOf(signer, cid, 'another text'))
  writeFileSync(changed, JSON.stringify(wrong.proof))
  writeFileSync(own, JSON.stringify({ keys: [signer.jwk] }))
  key = signer.jwk
  writeFileSync(foreign, JSON.stringify({ keys: [new Signer('Ed25519').jwk] }))
})

afterAll(() => folder[Symbol.dispose]())

test('streamvault verify says who has signed a file, offline', async () => {
  const results = [
    await verify(report, '--signature', good, '--key', keyId, '--signing-keys', own),
    await verify(report, '--signature', good, '--signing-keys', foreign),
    await verify(good, '--key', keyId),
    await verify(other, '--signature', good, '--key', keyId),
    await verify(report, '--signature', changed, '--key', keyId),
  ]

  expect(results.map(({ code }) => code)).toEqual([0, 3, 0, 4, 5])
  expect(results[0]?.stdout).toMatch(/^signed: \w+ with the key \S+ \(Ed25519\) of the service\./)
  expect(results[1]?.stdout).toContain('which is not a key of the service')
  expect(results[3]?.stdout).toContain('the signature is of other content')
  expect(results[4]?.stdout).toContain('metadata.signature is not that of the key')
})

test('keys are those of the service by what they are, and for content', async () => {
  const { x = '', ...rest } = key
  const id = keyIdOf(jwkOf(x))
  const foreignX = new Signer('Ed25519').jwk['x']
  const thousand = Array.from({ length: 999 }, () => publishedLike(new Signer('Ed25519').jwk))
  const files = [
    [{ ...rest, x: foreignX, kid: id }],
    [{ ...key, kid: 'another name' }],
    [...thousand, publishedLike(key)],
  ]
  const says: string[] = []
  for (const [at, keys] of files.entries()) {
    const path = folder.file(`keys-${at}.json`)
    writeFileSync(path, JSON.stringify({ keys }))
    const { stdout } = await verify(good, '--signing-keys', path)
    says.push(/, which is not a key of the service|\) of the service/.exec(stdout)?.[0] ?? '')
  }
  expect(says).toEqual([
    ', which is not a key of the service',
    ') of the service',
    ') of the service',
  ])
})

test('keys for content are none of a ledger, and keys of a ledger none for content', async () => {
  const [content, blocks] = [folder.file('content.json'), folder.file('blocks.json')]
  writeFileSync(content, JSON.stringify({ keys: [publishedLike(key)] }))
  writeFileSync(blocks, JSON.stringify({ keys: [{ ...key, role: 'blocks' }] }))

  const results = [
    await verify(good, '--key', content),
    await verify(good, '--signing-keys', blocks),
  ]

  expect(results.map(({ code }) => code)).toEqual([2, 2])
  expect(results.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining('has no public key of Ed25519'),
    expect.stringContaining('has no public key of Ed25519'),
  ])
})

/** As the service publishes its keys. */
function publishedLike(jwk: object) {
  const times = { created_at: '2026-11-27T10:00:00.000000Z', retired_at: null }
  return { ...jwk, kid: 'k'.repeat(43), alg: 'EdDSA', use: 'sig', role: 'content', ...times }
}

async function verify(...words: readonly string[]) {
  return await streamvault(['verify', ...words])
}
