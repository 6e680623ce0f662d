import { privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { readEvmCall } from '../../src/ledgers/proofs/evm-call.ts'
import { type Proof, proofOf } from '../../src/ledgers/proofs/proof.ts'

const abi = parseAbi([
  'function anchor(bytes32 root, bytes16 intent)',
  'function issue(uint128 stream, string code, uint8 precision, uint256 supply, bytes32 root, bytes16 intent)',
])
const intent = `0x${'ab'.repeat(16)}` as const
const cid = await rawCidOf(Buffer.from('a'))
const root = `0x${MerkleTree.over([cid]).root}` as const

const anchorCall = encodeFunctionData({ abi, functionName: 'anchor', args: [root, intent] })

type Kind = 'legacy' | 'eip1559'

/** A transaction of either kind, as another library signs it. */
async function signed(type: Kind, data: `0x${string}`, chainId = 31_337): Promise<`0x${string}`> {
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
  const priced =
    type === 'legacy' ? ({ type, gasPrice: 2n } as const) : ({ type, ...fees } as const)
  const to = `0x${'12'.repeat(20)}` as const
  const deed = { ...priced, to, data, nonce: 3, gas: 50_000n, chainId }
  return await privateKeyToAccount(`0x${'7'.repeat(64)}`).signTransaction(deed)
}

function bytesOf(transaction: `0x${string}`): Buffer {
  return Buffer.from(transaction.slice(2), 'hex')
}

describe.each(['legacy', 'eip1559'] as const)('a transaction of the kind %s', (type) => {
  test.each([1, 137, 31_337, 11_155_111, 2 ** 48])('is read with its chain %i', async (chainId) => {
    const bytes = bytesOf(await signed(type, anchorCall, chainId))
    const said = { chainId, root: root.slice(2), tokenId: undefined, isIssue: false }
    expect(readEvmCall(bytes)).toEqual(said)
  })

  test('that calls nothing of the contract is none', async () => {
    for (const data of ['0x', '0x12345678', `${anchorCall}00`, anchorCall.slice(0, -2)]) {
      const bytes = bytesOf(await signed(type, data as `0x${string}`))
      expect(() => readEvmCall(bytes)).toThrow(RangeError)
    }
  })
})

test('a transaction for all chains is none', async () => {
  const { chainId: _, ...deed } = { type: 'legacy', data: anchorCall, gas: 9n, chainId: 0 } as const
  const transaction = await privateKeyToAccount(`0x${'7'.repeat(64)}`).signTransaction(deed)
  expect(() => readEvmCall(bytesOf(transaction))).toThrow(/for no chain/)
})

test('a proof of an asset names an address at most', async () => {
  const args = [7n, 'GOLD'.repeat(20), 2, 9n, root, intent] as const
  const text = await signed('eip1559', encodeFunctionData({ abi, functionName: 'issue', args }))
  const proof: Proof = proofOf({
    status: 'LEDGER_SUBMITTED',
    isFinal: false,
    profile: 'unixfs-v1-2025',
    parts: [{ name: '', cid, leaf: 0 }],
    leaves: [cid],
    ledger: 'ETHEREUM',
    network: 'eip155:31337',
    transaction: { hash: keccak256(text), text },
    inclusion: undefined,
  })
  const verdictOf = (token: object) =>
    checkProof({ ...proof, ...token }, { trustedKeys: new Set() }).is
  expect(verdictOf({})).toBe('unreachable')
  expect(verdictOf({ token_id: `0x${'Ab'.repeat(20)}` })).toBe('unreachable')
  expect(verdictOf({ token_id: '7' })).toBe('contradicted')
})
