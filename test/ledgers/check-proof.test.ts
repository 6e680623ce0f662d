import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkProof, checkProofText } from '../../src/ledgers/proofs/check-proof.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { inWords } from '../../src/ledgers/proofs/in-words.ts'
import { type Proof, proofOf } from '../../src/ledgers/proofs/proof.ts'
import { type MadeProof, sandboxProof } from '../support/sandbox-proof.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const metadata = Buffer.from('{"name":"a vault"}')
const payload = Buffer.from('what is in it')
let nft: MadeProof
let other: MadeProof
let batch: MadeProof
let asset: MadeProof

beforeAll(async () => {
  const files = [
    { name: '', bytes: Buffer.from('the folder') },
    { name: 'metadata.json', bytes: metadata },
    { name: 'payload.json', bytes: payload },
  ]
  nft = await sandboxProof(folder.file('one'), files, { kind: 'nft' })
  batch = await sandboxProof(folder.file('one'), [{ name: '', bytes: payload }], { others: 6 })
  asset = await sandboxProof(folder.file('one'), [{ name: '', bytes: payload }], { kind: 'token' })
  other = await sandboxProof(folder.file('other'), files, { kind: 'nft' })
})

afterAll(() => folder[Symbol.dispose]())

/** Whether a proof shows something, by whatever key. */
function shows(text: string, cids?: readonly string[]): boolean {
  const verdict = checkProofText(text, { trustedKeys: new Set([nft.keyId]), ...(cids && { cids }) })
  return verdict.is === 'proven' || verdict.is === 'proven_under_key'
}

function check(proof: unknown) {
  return checkProof(proof, { trustedKeys: new Set([nft.keyId]) })
}

/** A text with one bit that is another one. */
function flipped(bytes: Uint8Array, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return changed
}

describe('a proof', () => {
  test('of a token is proven under a key that is trusted', async () => {
    const question = { cids: [await rawCidOf(metadata)], trustedKeys: new Set([nft.keyId]) }
    const verdict = checkProof(nft.proof, question)
    expect(verdict).toMatchObject({ is: 'proven', cid: await rawCidOf(metadata), keyId: nft.keyId })
    const { result, limits } = inWords(verdict)
    expect(result).toMatch(/^proven: the bytes of bafkrei.* existed by 20.*Z, as block 1 of/)
    expect(limits).toMatch(/does not show who made them/)
  })

  test('of an asset is proven, with the name that follows from its transaction alone', () => {
    const { proof } = asset
    expect(check(proof)).toMatchObject({ is: 'proven', cid: proof.cid })
    for (const token_id of [undefined, nft.proof.token_id]) {
      expect(check({ ...proof, token_id })).toMatchObject({ is: 'contradicted' })
    }
    const transaction = proof.transaction?.replace('21000000000000', '21000000000001')
    expect(check({ ...proof, transaction })).toMatchObject({ is: 'contradicted' })
  })

  test('of one among others is proven', () => {
    expect(batch.proof.path).toMatchObject({ index: 6, size: 7 })
    expect(check(batch.proof)).toMatchObject({ is: 'proven', cid: batch.proof.cid })
  })

  test('says under which key it is proven when nobody trusts that', () => {
    const verdict = checkProof(nft.proof, { trustedKeys: new Set() })
    expect(verdict).toMatchObject({ is: 'proven_under_key', keyId: nft.keyId })
    expect(inWords(verdict).result).toMatch(new RegExp(`^proven under key ${nft.keyId}: `))
    expect(check(other.proof)).toMatchObject({ is: 'proven_under_key', keyId: other.keyId })
  })

  test('of other bytes shows nothing of these', async () => {
    const question = { cids: [await rawCidOf(Buffer.from('?'))], trustedKeys: new Set<string>() }
    expect(checkProof(nft.proof, question)).toMatchObject({ is: 'not_found' })
  })

  test.each([false, true])('of what is not final shows nothing yet (signed: %s)', (isSigned) => {
    const { transaction, tx_hash: hash } = nft.proof
    const proof = proofOf({
      status: 'METADATA_STORED',
      isFinal: false,
      profile: 'unixfs-v1-2025',
      parts: nft.proof.parts.map(({ name, cid }, leaf) => ({ name, cid, leaf })),
      leaves: isSigned ? nft.proof.parts.map(({ cid }) => cid) : [],
      ledger: 'XRPL',
      network: 'sandbox',
      transaction: isSigned ? { hash: hash ?? '', text: transaction ?? '' } : undefined,
      inclusion: undefined,
    })
    expect(check(proof)).toMatchObject({ is: 'not_found', reason: expect.stringMatching(/later/) })
  })

  test('for another network says that this one has to be asked', () => {
    const proof = { ...nft.proof, network: 'xrpl-mainnet', transaction: '1200195000' }
    expect(check(proof)).toMatchObject({ is: 'unreachable' })
    expect(check({ ...nft.proof, network: 'xrpl-mainnet' })).toMatchObject({ is: 'contradicted' })
  })

  test.each([
    ['compact', (proof: Proof) => JSON.stringify(proof)],
    ['on many lines', (proof: Proof) => `${JSON.stringify(proof, null, 2)}\n`],
  ])('with any bit that is another one shows nothing: %s', (_, print) => {
    for (const { proof } of [nft, batch]) {
      const bytes = Buffer.from(print(proof))
      expect(shows(bytes.toString())).toBe(true)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = flipped(bytes, bit)
        // What is no UTF-8 is read as something else.
        if (shows(changed.toString('utf8'))) {
          const around = bytes.subarray((bit >> 3) - 20, (bit >> 3) + 20).toString()
          throw new Error(`bit ${bit} can be another one: ...${around}...`)
        }
      }
    }
  })

  test('shows nothing of a file with any bit that is another one', async () => {
    const text = JSON.stringify(nft.proof)
    expect(shows(text, [await rawCidOf(metadata)])).toBe(true)
    for (let bit = 0; bit < metadata.length * 8; bit++) {
      expect(shows(text, [await rawCidOf(flipped(metadata, bit))])).toBe(false)
    }
  })

  test.each<[string, (proof: Proof) => unknown]>([
    ['no signature', (proof) => ({ ...proof, signatures: [] })],
    ['the block of another chain', (proof) => ({ ...proof, block: other.proof.block })],
    [
      'the block and the signatures of another chain',
      (proof) => ({ ...proof, block: other.proof.block, signatures: other.proof.signatures }),
    ],
    ['the transaction of another', (proof) => ({ ...proof, transaction: batch.proof.transaction })],
    ['no token', (proof) => ({ ...proof, token_id: undefined })],
    ['another token', (proof) => ({ ...proof, token_id: other.proof.token_id })],
    ['a part too few', (proof) => ({ ...proof, parts: proof.parts.slice(1) })],
    [
      'two parts of one name',
      (proof) => ({
        ...proof,
        parts: proof.parts.map((part, at) => (at === 1 ? { ...part, name: '' as const } : part)),
      }),
    ],
    ['no block', (proof) => ({ ...proof, block: null })],
    ['no block and no signatures', (proof) => ({ ...proof, block: null, signatures: [] })],
    ['a CID that is another one', (proof) => ({ ...proof, cid: batch.proof.cid })],
    ['another status', (proof) => ({ ...proof, status: 'FAILED' })],
    ['the path of a larger tree', (proof) => inTreeOf(4, proof)],
    ['something more', (proof) => ({ ...proof, remark: 'believe me' })],
    ['no transaction', (proof) => ({ ...proof, transaction: null })],
  ])('with %s is contradicted', (_, change) => {
    const verdict = check(change(nft.proof))
    expect(verdict).toMatchObject({ is: 'contradicted' })
    expect(inWords(verdict).result).toMatch(/^contradicted: \w/)
  })

  test('that is anything at all gets a verdict', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (value) => {
        expect(check(value)).toMatchObject({ is: 'contradicted' })
      }),
    )
    for (const text of ['', 'null', '[', '{}', ' '.repeat(300_000), '[]'.repeat(100_000)]) {
      expect(checkProofText(text, { trustedKeys: new Set() })).toMatchObject({ is: 'contradicted' })
    }
  })

  test('with any member that is anything at all gets a verdict, and shows nothing', () => {
    const places = pathsIn(nft.proof)
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.anything({ maxDepth: 2 }), (place, value) => {
        fc.pre(JSON.stringify(value) !== JSON.stringify(memberAt(nft.proof, place)))
        // A proof of a chain alone names no ledger: that says less, and nothing else.
        fc.pre(place[0] !== 'ledger' || value !== '')
        expect(check(withMember(nft.proof, place, value))).not.toMatchObject({ is: 'proven' })
      }),
      { numRuns: 20_000 },
    )
  })
})

/** The first leaf of a tree of three has the path that it would have in one of four. */
function inTreeOf(size: number, proof: Proof): Proof {
  const [first, ...rest] = proof.parts
  if (!first?.path) throw new Error('it has no path')
  const path = { ...first.path, size }
  return { ...proof, path, parts: [{ ...first, path }, ...rest] }
}

type Place = readonly string[]

/** Places of all members, however deep. */
function pathsIn(value: unknown, above: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = [...above, name]
    return [place, ...pathsIn(member, place)]
  })
}

function memberAt(value: unknown, place: Place): unknown {
  return place.reduce((within, name) => (within as Record<string, unknown>)[name], value)
}

function withMember(value: unknown, place: Place, member: unknown): unknown {
  const copy = structuredClone(value)
  const within = memberAt(copy, place.slice(0, -1)) as Record<string, unknown>
  within[place.at(-1) ?? ''] = member
  return copy
}
