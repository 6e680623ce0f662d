import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { EvmLedger } from '../../src/ledgers/evm/evm-ledger.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { type Proof, proofOf } from '../../src/ledgers/proofs/proof.ts'
import { settingsOf } from '../support/evm-ledger.ts'

const terms = JSON.stringify({ gas: '30000', maxFee: '2000000000', tip: '1000000000' })
const trustedKeys = new Set<string>()

let proof: Proof
let other: string

/** As it is given out of a file among three, without a node. */
beforeAll(async () => {
  const contract = `0x${'12'.repeat(20)}`
  const ledger = new EvmLedger({ ...settingsOf({ endpoint: 'http://127.0.0.1:1' }), contract })
  const cids = await Promise.all(['a', 'b', 'c'].map((text) => rawCidOf(Buffer.from(text))))
  other = await rawCidOf(Buffer.from('d'))
  const leaves = cids.map((cid) => ({ intentId: newId(), cid }))
  const { root } = MerkleTree.over(cids)
  const deed = { intentId: newId(), kind: 'root', root, leaves } as const
  const { hash, text } = await ledger.sign(deed, 1, terms)
  await ledger.close()
  const [, cid = ''] = cids
  proof = proofOf({
    status: 'COMPLETED',
    isFinal: true,
    profile: 'unixfs-v1-2025',
    parts: [{ name: '', cid, leaf: 1 }],
    leaves: cids,
    ledger: 'ETHEREUM',
    network: ledger.network,
    transaction: { hash, text },
    inclusion: {
      height: 7,
      timeUs: 1_700_000_000_000_000,
      header: JSON.stringify({ network: ledger.network, height: 7, hash: `0x${'ab'.repeat(32)}` }),
      blockHash: 'ab'.repeat(32),
      path: { index: 0, size: 1, hashes: [] },
      signatures: [],
    },
  })
})

describe('a proof of a network of the EVM', () => {
  test('holds as far as that can be said without the network', () => {
    expect(checkProof(proof, { cids: [proof.cid], trustedKeys })).toEqual({
      is: 'unreachable',
      reason: 'only the ledger eip155:31337 itself can say more',
    })
  })

  test('shows nothing of other bytes', () => {
    expect(checkProof(proof, { cids: [other], trustedKeys })).toMatchObject({ is: 'not_found' })
  })

  test.each<[string, (whole: Proof) => object, RegExp]>([
    ['of another hash', () => ({ tx_hash: `0x${'12'.repeat(32)}` }), /Keccak-256/],
    ['of another transaction', () => ({ transaction: '0x02' }), /Keccak-256/],
    ['of no transaction', () => ({ transaction: 'nothing' }), /none of the EVM/],
    ['of another root', () => ({ root: 'ab'.repeat(32) }), /does not lead/],
    ['of another CID', () => ({ cid: other }), /first part/],
    [
      'whose parts are others',
      ({ parts }) => ({ cid: other, parts: parts.map((one) => ({ ...one, cid: other })) }),
      /does not lead/,
    ],
    ['without a block', () => ({ block: null }), /has no block/],
    [
      'of a root that is not in it',
      ({ path }) => {
        const { root } = MerkleTree.over([other])
        const alone = { ...path, index: 0, size: 1, hashes: [] }
        return { cid: other, path: alone, parts: [{ name: '', cid: other, path: alone }], root }
      },
      /does not have the root/,
    ],
  ])('that is changed is contradicted: one %s', (_, change, reason) => {
    expect(checkProof({ ...proof, ...change(proof) }, { trustedKeys })).toEqual({
      is: 'contradicted',
      reason: expect.stringMatching(reason),
    })
  })
})
