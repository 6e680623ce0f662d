import * as fc from 'fast-check'
import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { callOf, numberOfUuid } from '../../src/ledgers/evm/anchors-contract.ts'
import { ContractAssets } from '../../src/ledgers/evm/contract-assets.ts'
import type { EvmLedger } from '../../src/ledgers/evm/evm-ledger.ts'
import { EvmNode } from '../../src/ledgers/evm/evm-node.ts'
import { addressOf } from '../../src/ledgers/evm/evm-transaction.ts'
import type { IssuedAsset } from '../../src/ledgers/ledger.ts'
import { signerOf } from '../support/evm-account.ts'
import { contractBeforeAssets, openEvmLedger, settingsOf } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { tokenAt } from '../support/evm-token.ts'
import { deedOf, gold, putOn, signedBy } from '../support/sandbox-ledger.ts'

/** Bytes that a contract may have (EIP-170). */
const codeBytesMax = 24_576

/** Gas that an asset may take: it is a contract of its own. */
const assetGasMax = 600_000

/** What an asset is refused with where its stream has another one. */
const another = /^the contract refuses it: it has an asset of the stream [0-9a-f-]{36} already$/

function assetOf(said: Partial<IssuedAsset> = {}): IssuedAsset {
  return { ...gold, streamId: newId(), ...said }
}

async function issueOf(said: Partial<IssuedAsset> = {}) {
  return await deedOf({ kind: 'token', asset: assetOf(said) })
}

describe.skipIf(areNodesMissing).each([
  { hardfork: 'cancun', ledger: 'ETHEREUM' },
  { hardfork: 'london', ledger: 'POLYGON_ZKEVM' },
  { hardfork: 'berlin', ledger: 'POLYGON_ZKEVM' },
] as const)('an asset on a network of $hardfork', ({ hardfork, ledger: name }) => {
  let node: Anvil
  let ledger: EvmLedger

  beforeAll(async () => {
    node = await Anvil.start('--hardfork', hardfork)
    ledger = await openEvmLedger(node, { ledger: name })
  })

  afterAll(async () => {
    await ledger?.close()
    await node?.[Symbol.asyncDispose]()
  })

  async function gasOf(hash: string): Promise<number> {
    const receipt = await node.call('eth_getTransactionReceipt', hash)
    return Number((receipt as { gasUsed: string }).gasUsed)
  }

  test.each([
    { code: 'GOLD', amount: '100000', precision: 2 },
    { code: '$', amount: '1', precision: 0 },
    { code: '!"#$%&\'()*+,-.09:;<~', amount: '9223372036854775807', precision: 0 },
    { code: 'A'.repeat(20), amount: '9223372036854775807', precision: 10 },
  ])('is all where it is distributed from: $amount of $code', async (said) => {
    const { transaction, inclusion } = await putOn(ledger, await issueOf(said))
    const address = inclusion.tokenId ?? ''
    expect(address).toBe(getAddress(address))
    const { code, amount, precision } = said
    expect(await tokenAt(node, address, ledger.distributionWallet)).toEqual({
      name: code,
      symbol: code,
      decimals: String(precision),
      supply: amount,
      balance: amount,
    })
    expect(await gasOf(transaction.hash)).toBeLessThan(assetGasMax)
  })

  test('leaves room in the contract for code, and takes nothing from what else there is', async () => {
    const code = (await node.call('eth_getCode', ledger.contract, 'latest')) as string
    expect((code.length - 2) / 2).toBeLessThan(codeBytesMax)
    // What they took when there were no assets yet; bytes that happen to be zero are cheaper.
    const root = await putOn(ledger, await deedOf())
    expect(await gasOf(root.transaction.hash)).toBeLessThan(26_000)
    const vault = await putOn(ledger, await deedOf({ kind: 'nft' }))
    expect(await gasOf(vault.transaction.hash)).toBeLessThan(96_000)
  })

  test('is never more than it was, not even for the owner', async () => {
    const { inclusion } = await putOn(ledger, await issueOf())
    const to = inclusion.tokenId ?? ''
    const more = `${ledger.account.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
    // mint(address,uint256), burn(address,uint256), and what a contract says that it issues.
    for (const selector of ['40c10f19', '9dc29fac', '096faae4']) {
      const call = { from: ledger.account, to, data: `0x${selector}${more}` }
      await expect(node.call('eth_call', call, 'latest')).rejects.toThrow(/revert/)
    }
  })

  test('is issued by the owner of the contract alone', async () => {
    const data = await callOf(await issueOf())
    const call = (from: unknown) => node.call('eth_call', { from, to: ledger.contract, data })
    const [, other] = (await node.call('eth_accounts')) as readonly string[]
    await expect(call(other)).rejects.toThrow(/118cdaa7/)
    expect(await call(ledger.account)).toBe('0x')
  })

  test('of the same stream and the same numbers is done where the first one is', async () => {
    const asset = assetOf()
    const first = await putOn(ledger, await deedOf({ kind: 'token', asset }))
    const second = await putOn(ledger, await deedOf({ kind: 'token', asset }))
    expect(second.inclusion.height).toBeGreaterThan(first.inclusion.height)
    expect(second.inclusion.tokenId).toBe(first.inclusion.tokenId)
  })

  test.each([{ code: 'SILVER' }, { amount: '100001' }, { precision: 3 }])(
    'of the same stream and with another %j is refused, before and after it is signed',
    async (other) => {
      const asset = assetOf()
      const second = await deedOf({ kind: 'token', asset: { ...asset, ...other } })
      const sequence = await ledger.nextSequence()
      const first = await deedOf({ kind: 'token', asset })
      const one = await signedBy(ledger, first, sequence)
      const two = await signedBy(ledger, second, sequence + 1)
      expect(await ledger.submit(one.blob)).toEqual({ is: 'accepted' })
      expect(await ledger.prepare(second)).toEqual({ refused: expect.stringMatching(another) })
      expect(await ledger.submit(two.blob)).toEqual({ is: 'accepted' })
      const reason = expect.stringMatching(another)
      await expect.poll(async () => await ledger.sight(two.hash)).toEqual({ is: 'refused', reason })
    },
  )

  test('is where contract and stream alone put it', async () => {
    const evmNode = new EvmNode(settingsOf(node))
    const assets = new ContractAssets(evmNode, ledger.contract)
    await fc.assert(
      fc.asyncProperty(fc.uuid(), async (streamId) => {
        // tokenOf(uint128)
        const data = `0x6c348f8d${numberOfUuid(streamId).toString(16).padStart(64, '0')}`
        const answer = await node.call('eth_call', { to: ledger.contract, data }, 'latest')
        const asked = getAddress(`0x${String(answer).slice(-40)}`)
        expect(await assets.addressOf(streamId)).toBe(asked)
      }),
      { numRuns: 50 },
    )
    evmNode.close()
  })

  test('has no deed of another kind', async () => {
    const deed = { ...(await issueOf()), kind: 'issuance' } as const
    expect(await ledger.prepare(deed)).toEqual({ refused: 'an asset takes no issuance here' })
  })
})

describe.skipIf(areNodesMissing)('a contract that was made before there were assets', () => {
  test('refuses them, says what is to be done, and takes all else', async () => {
    await using node = await Anvil.start()
    const contract = await contractBeforeAssets(node, addressOf(signerOf()))
    const ledger = await openEvmLedger(node, { contract })
    expect(await ledger.prepare(await issueOf())).toEqual({
      refused: `the contract ${contract} is from before there were assets: a new one is needed (ledger deploy)`,
    })
    await putOn(ledger, await deedOf())
    await ledger.close()
  })
})
