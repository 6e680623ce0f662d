import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { EvmLedger } from '../../src/ledgers/evm/evm-ledger.ts'
import type { Deed } from '../../src/ledgers/ledger.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { keccakOf, readEvmCall } from '../../src/ledgers/proofs/evm-call.ts'
import { inWords } from '../../src/ledgers/proofs/in-words.ts'
import { type Proof, proofOf } from '../../src/ledgers/proofs/proof.ts'
import { readXrplMemo, xrplHashOf } from '../../src/ledgers/proofs/xrpl-memo.ts'
import { signedTransaction } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { settingsOf } from '../support/evm-ledger.ts'
import { seeds, signerOf } from '../support/xrpl-ledger.ts'

const trustedKeys = new Set<string>()
const vault = '01990000-0000-7000-8000-00000000abcd'

/** The account of `seeds.secp256k1` in hex, as its transactions have it. */
const account = 'rUCzEr6jrEyMpjhs4wSdQdz4g8Y382NxfM'

interface Family {
  readonly name: string
  readonly network: string
  readonly sign: (deed: Deed) => Promise<{ readonly hash: string; readonly text: string }>
  /** The bytes of a text, and a text with its hash of bytes. */
  readonly bytesOf: (text: string) => Buffer
  readonly named: (bytes: Buffer) => Pick<Proof, 'transaction' | 'tx_hash'>
  readonly tokenId: string
  readonly otherToken: string
}

async function signedForEvm(deed: Deed, terms: Readonly<Record<string, string>>) {
  const contract = `0x${'12'.repeat(20)}`
  const ledger = new EvmLedger({ ...settingsOf({ endpoint: 'http://127.0.0.1:1' }), contract })
  const signed = await ledger.sign(deed, 1, JSON.stringify(terms))
  await ledger.close()
  return signed
}

const evm: Family = {
  name: 'the EVM',
  network: 'eip155:31337',
  sign: (deed) => signedForEvm(deed, { gas: '30000', maxFee: '2000000000', tip: '1000000000' }),
  bytesOf: (text) => Buffer.from(text.slice(2), 'hex'),
  named: (bytes) => ({
    transaction: `0x${bytes.toString('hex')}`,
    tx_hash: `0x${keccakOf(bytes)}`,
  }),
  tokenId: BigInt(`0x${vault.replaceAll('-', '')}`).toString(),
  otherToken: '7',
}

const evmOfOnePrice: Family = {
  ...evm,
  name: 'the EVM without EIP-1559',
  sign: (deed) => signedForEvm(deed, { gas: '30000', maxFee: '2000000000' }),
}

const xrpl: Family = {
  name: 'XRPL',
  network: 'xrpl:21337',
  async sign(deed) {
    const signer = await signerOf(seeds.secp256k1)
    const terms = { fee: 10n, last: 30 }
    return await signedTransaction(
      { account, distributor: account, networkId: 21_337, signer },
      deed,
      7,
      terms,
    )
  },
  bytesOf: (text) => Buffer.from(text, 'hex'),
  named: (bytes) => ({
    transaction: bytes.toString('hex').toUpperCase(),
    tx_hash: xrplHashOf(bytes),
  }),
  tokenId: '',
  otherToken: `00080000${'AB'.repeat(20)}0000000000000007`,
}

/** A proof of the middle one of three files, as it is given out, made without a node. */
async function proofOfThree(family: Family, kind: 'root' | 'nft' = 'root'): Promise<Proof> {
  const cids = await Promise.all(['a', 'b', 'c'].map((text) => rawCidOf(Buffer.from(text))))
  const leaves = cids.map((cid) => ({ intentId: newId(), cid }))
  const { root } = MerkleTree.over(cids)
  const [, cid = ''] = cids
  const token = { uri: `ipfs://${cid}`, resourceId: vault }
  const deed = { intentId: newId(), kind, root, leaves, ...(kind === 'nft' && token) }
  const { hash, text } = await family.sign(deed)
  const header = { network: family.network, height: 7, hash: 'AB'.repeat(32) }
  return proofOf({
    status: 'COMPLETED',
    isFinal: true,
    profile: 'unixfs-v1-2025',
    parts: [{ name: '', cid, leaf: 1 }],
    leaves: cids,
    ledger: 'ETHEREUM',
    network: family.network,
    transaction: { hash, text },
    inclusion: {
      height: 7,
      timeUs: 1_700_000_000_000_000,
      header: JSON.stringify(header),
      blockHash: 'ab'.repeat(32),
      path: { index: 0, size: 1, hashes: [] },
      signatures: [],
    },
  })
}

/** Bytes of a transaction with something else in the place of some of them, under the hash of these. */
function replaced({ bytesOf, named }: Family, { transaction }: Proof, from: string, to: string) {
  const hex = bytesOf(transaction ?? '').toString('hex')
  expect(hex).toContain(from)
  return named(Buffer.from(hex.replace(from, to), 'hex'))
}

describe.each([evm, evmOfOnePrice, xrpl])('a proof of a network of $name', (family) => {
  const { network, bytesOf, named } = family
  let proof: Proof
  let other: string

  beforeAll(async () => {
    proof = await proofOfThree(family)
    other = await rawCidOf(Buffer.from('d'))
  })

  test('holds as far as that can be said without the network, and says what is left', () => {
    const verdict = checkProof(proof, { cids: [proof.cid], trustedKeys })
    const reason =
      `the bytes are committed to by the transaction ${proof.tx_hash}, which is signed for ${network}; ` +
      'that it is in block 7 of 2023-11-14T22:13:20.000000Z, only a node or an explorer of that network can say'
    expect(verdict).toEqual({ is: 'unreachable', reason })
    expect(inWords(verdict).result).toBe(`ledger not reached: ${reason}`)
  })

  test('says that there is no block yet', () => {
    const early = { ...proof, final: false, status: 'LEDGER_SUBMITTED', block: null }
    expect(checkProof(early, { trustedKeys })).toEqual({
      is: 'unreachable',
      reason: expect.stringMatching(/by this proof it is in no block yet$/),
    })
  })

  test('shows nothing as long as there is no transaction', () => {
    const parts = proof.parts.map((part) => ({ ...part, path: null }))
    const nothing = { path: null, parts, root: null, tx_hash: null, transaction: null, block: null }
    const early = { ...proof, final: false, status: 'METADATA_STORED', ...nothing }
    expect(checkProof(early, { trustedKeys })).toMatchObject({ is: 'not_found' })
    for (const name of ['root', 'tx_hash', 'block'] as const) {
      const verdict = checkProof({ ...early, [name]: proof[name] }, { trustedKeys })
      expect(verdict).toEqual({
        is: 'contradicted',
        reason: expect.stringMatching(/not the transaction/),
      })
    }
  })

  test('of a network that nobody knows is not proven, and not contradicted', () => {
    expect(checkProof({ ...proof, network: 'xrpl-mainnet' }, { trustedKeys })).toEqual({
      is: 'unreachable',
      reason: 'nothing is known here of the network xrpl-mainnet',
    })
  })

  test('shows nothing of other bytes', () => {
    expect(checkProof(proof, { cids: [other], trustedKeys })).toMatchObject({ is: 'not_found' })
  })

  test('of a token names the one that the transaction makes', async () => {
    const nft = await proofOfThree(family, 'nft')
    const issuer = readXrplMemoOf(nft, family)
    const tokenId = family.tokenId || `00080000${issuer?.toUpperCase()}0000000000000007`
    expect(checkProof({ ...nft, token_id: tokenId }, { trustedKeys }).is).toBe('unreachable')
    const contradicted = { is: 'contradicted', reason: expect.stringMatching(/token_id/) }
    const ofOther = { ...nft, token_id: family.otherToken }
    expect(checkProof(ofOther, { trustedKeys })).toEqual(contradicted)
    const ofNone = { ...proof, token_id: tokenId }
    expect(checkProof(ofNone, { trustedKeys })).toEqual(contradicted)
  })

  test.each<[string, (whole: Proof) => object, RegExp]>([
    ['of another hash', ({ tx_hash }) => ({ tx_hash: tx_hash?.replace(/.$/, 'x') }), /tx_hash is/],
    ['of no transaction', () => ({ transaction: 'nothing' }), /the transaction is not one of/],
    ['of another root', () => ({ root: 'ab'.repeat(32) }), /does not lead/],
    ['of another CID', () => ({ cid: other }), /first part/],
    [
      'whose parts are others',
      ({ parts }) => ({ cid: other, parts: parts.map((one) => ({ ...one, cid: other })) }),
      /does not lead/,
    ],
    ['without a block', () => ({ block: null }), /has no block/],
    ['of another network', () => ({ network: `${network}1` }), /for another network/],
    [
      'of another block',
      ({ block }) => ({ block: { ...block, height: 8 } }),
      /not what its header says/,
    ],
    [
      'of a block with another hash',
      ({ block }) => ({ block: { ...block, hash: 'cd'.repeat(32) } }),
      /not what its header says/,
    ],
    [
      'of a root that is not in it',
      ({ path }) => {
        const { root } = MerkleTree.over([other])
        const alone = { ...path, index: 0, size: 1, hashes: [] }
        return { cid: other, path: alone, parts: [{ name: '', cid: other, path: alone }], root }
      },
      /does not have the root/,
    ],
    [
      'of bytes that are none',
      () => named(Buffer.from('0200', 'hex')),
      /the transaction (does|has)/,
    ],
  ])('that is changed is contradicted: one %s', (_, change, reason) => {
    expect(checkProof({ ...proof, ...change(proof) }, { trustedKeys })).toEqual({
      is: 'contradicted',
      reason: expect.stringMatching(reason),
    })
  })

  test('with any bit of its transaction that is another one is contradicted', () => {
    const bytes = bytesOf(proof.transaction ?? '')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const { transaction } = named(flipped(bytes, bit))
      const verdict = checkProof({ ...proof, transaction }, { trustedKeys })
      expect(verdict.is).toBe('contradicted')
    }
  })
})

describe('a transaction of the EVM', () => {
  test('that issues an asset names an address, and commits to a root', async () => {
    const whole = await proofOfThree(evm)
    const root = whole.root ?? ''
    const asset = { streamId: vault, code: 'GOLD', amount: '12000', precision: 3 }
    const { hash, text } = await evm.sign({
      intentId: newId(),
      kind: 'token',
      root,
      leaves: [],
      asset,
    })
    const proof = { ...whole, tx_hash: hash, transaction: text }
    const verdictOf = (changed: object) => checkProof({ ...proof, ...changed }, { trustedKeys }).is
    expect(verdictOf({ token_id: `0x${'aB'.repeat(20)}` })).toBe('unreachable')
    expect(verdictOf({ token_id: '7' })).toBe('contradicted')
    expect(verdictOf({ root: 'ab'.repeat(32) })).toBe('contradicted')
  })

  test('that has the root elsewhere than where the contract takes it is contradicted', async () => {
    const proof = await proofOfThree(evm)
    const root = proof.root ?? ''
    // The first words of what is called, with another root, and the right one as the intent.
    const selector = keccakOf(Buffer.from('anchor(bytes32,bytes16)')).slice(0, 8)
    const hex = evm.bytesOf(proof.transaction ?? '').toString('hex')
    const intent = hex.slice(hex.indexOf(root) + 64, hex.indexOf(root) + 128)
    const changed = replaced(evm, proof, selector + root + intent, selector + intent + root)
    expect(checkProof({ ...proof, ...changed }, { trustedKeys })).toEqual({
      is: 'contradicted',
      reason: 'the transaction does not have the root',
    })
  })

  test('whose last member is longer than what there is is contradicted', async () => {
    const proof = await proofOfThree(evm)
    const bytes = evm.bytesOf(proof.transaction ?? '')
    const start = bytes.length - 33
    expect(bytes[start]).toBe(0x80 + 32)
    bytes[start] = 0x80 + 33
    const verdict = checkProof({ ...proof, ...evm.named(bytes) }, { trustedKeys })
    expect(verdict.is).toBe('contradicted')
  })

  test('that calls something else is contradicted', async () => {
    const proof = await proofOfThree(evm)
    const selector = keccakOf(Buffer.from('anchor(bytes32,bytes16)')).slice(0, 8)
    const changed = replaced(evm, proof, selector, '00000000')
    expect(checkProof({ ...proof, ...changed }, { trustedKeys })).toEqual({
      is: 'contradicted',
      reason: 'the transaction does not call the contract with a root',
    })
  })
})

describe('a transaction of XRPL', () => {
  test('with fields twice is contradicted', async () => {
    const proof = await proofOfThree(xrpl)
    const bytes = xrpl.bytesOf(proof.transaction ?? '')
    const [type, memos] = [bytes.subarray(0, 3), bytes.subarray(bytes.indexOf('F9EA', 'hex'))]
    for (const twice of [Buffer.concat([type, bytes]), Buffer.concat([bytes, memos])]) {
      const verdict = checkProof({ ...proof, ...xrpl.named(twice) }, { trustedKeys })
      expect(verdict.is).toBe('contradicted')
    }
  })

  test('that has the root elsewhere than in our memo is contradicted', async () => {
    const proof = await proofOfThree(xrpl)
    const type = Buffer.from('streamvault/root').toString('hex')
    const changed = replaced(xrpl, proof, type, Buffer.from('someone-else/xyz').toString('hex'))
    expect(checkProof({ ...proof, ...changed }, { trustedKeys })).toEqual({
      is: 'contradicted',
      reason: 'the transaction has no memo with a root',
    })
  })

  test('that makes an asset names it by its sequence and account, and nothing else', async () => {
    const whole = await proofOfThree(xrpl)
    const asset = { streamId: vault, code: 'GOLD', amount: '7', precision: 2 }
    const said = { intentId: newId(), root: whole.root ?? '', leaves: [], asset }
    const { hash, text } = await xrpl.sign({ ...said, kind: 'issuance' })
    const issuance = { ...whole, tx_hash: hash, transaction: text }
    const ofAccount = readXrplMemoOf(issuance, xrpl)?.toUpperCase()
    const ids = [`00000007${ofAccount}`, `00000008${ofAccount}`, `00000007${ofAccount}00`]
    const verdictOf = (id: string) => checkProof({ ...issuance, token_id: id }, { trustedKeys }).is
    expect(ids.map(verdictOf)).toEqual(['unreachable', 'contradicted', 'contradicted'])
  })

  test('of a network that is not named is of one up to 1024', async () => {
    const signer = await signerOf(seeds.secp256k1)
    const whole = await proofOfThree(xrpl)
    const deed = { intentId: newId(), kind: 'root', root: whole.root ?? '', leaves: [] } as const
    const terms = { fee: 10n, last: 30 }
    const main = { account, distributor: account, networkId: 0, signer }
    const { hash, text } = await signedTransaction(main, deed, 7, terms)
    const verdictOn = (network: string) => {
      const { block } = whole
      const header = (block?.header ?? '').replace(xrpl.network, network)
      const there = { network, tx_hash: hash, transaction: text, block: { ...block, header } }
      return checkProof({ ...whole, ...there }, { trustedKeys }).is
    }
    expect(['xrpl:0', 'xrpl:1', 'xrpl:1024'].map(verdictOn)).toEqual(Array(3).fill('unreachable'))
    expect(['xrpl:1025', 'xrpl:21337'].map(verdictOn)).toEqual(Array(2).fill('contradicted'))
  })
})

describe.each([
  ['calls', readEvmCall, evm],
  ['memos', readXrplMemo, xrpl],
] as const)('the reader of %s', (_, read, family) => {
  /** What is no RangeError is a fault of ours. */
  function ends(bytes: Buffer): void {
    try {
      read(bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError)
    }
  }

  test('comes to an end with any bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 2_048, size: 'max' })
    fc.assert(
      fc.property(bytes, fc.constantFrom('', '02', '12', '1200', 'F9EA', '02F8'), (rest, start) => {
        ends(Buffer.concat([Buffer.from(start, 'hex'), rest]))
      }),
      { numRuns: 2_000 },
    )
  })

  test('comes to an end with any transaction that is changed or cut', async () => {
    const { transaction } = await proofOfThree(family, 'nft')
    const whole = family.bytesOf(transaction ?? '')
    const at = fc.nat({ max: whole.length - 1 })
    fc.assert(
      fc.property(at, fc.nat({ max: 255 }), at, (place, byte, length) => {
        const changed = Buffer.from(whole)
        changed[place] = byte
        ends(changed)
        ends(whole.subarray(0, length))
      }),
      { numRuns: 2_000 },
    )
    expect(() => read(Buffer.concat([whole, Buffer.alloc(1)]))).toThrow(RangeError)
    for (let length = 0; length < whole.length; length++) {
      expect(() => read(whole.subarray(0, length))).toThrow(RangeError)
    }
  })
})

function flipped(bytes: Uint8Array, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return changed
}

function readXrplMemoOf({ transaction }: Proof, family: Family): string | undefined {
  if (family !== xrpl) return undefined
  return readXrplMemo(family.bytesOf(transaction ?? '')).token?.account
}
