import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  artifactFile,
  artifactText,
  compileContract,
  targets,
} from '../../scripts/contracts/compile-contract.ts'
import { newId } from '../../src/core/ids.ts'
import type { EvmLedger } from '../../src/ledgers/evm/evm-ledger.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { otherRichKey, signerOf } from '../support/evm-account.ts'
import { openEvmLedger } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { deedOf, putOn, signedBy } from '../support/sandbox-ledger.ts'

/** Gas that a root with all its attachments may take: 50 for each. */
const rootGasMax = 60_000

describe.skipIf(areNodesMissing)('the artifact of the contract', () => {
  test.each(targets)('for $evmVersion is what its source is compiled to', (target) => {
    expect(artifactText(compileContract(target))).toBe(readFileSync(artifactFile(target), 'utf8'))
  })
})

describe.skipIf(areNodesMissing).each([
  { hardfork: 'cancun', ledger: 'ETHEREUM' },
  { hardfork: 'london', ledger: 'POLYGON_ZKEVM' },
] as const)('the contract on a network of $hardfork', ({ hardfork, ledger: name }) => {
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

  /** What a view of the contract answers, as bytes. */
  async function asked(data: string): Promise<Buffer> {
    const answer = await node.call('eth_call', { to: ledger.contract, data }, 'latest')
    return Buffer.from(String(answer).slice(2), 'hex')
  }

  test('takes a root of 1,000 attachments for less than 60 gas each', async () => {
    const leaves = []
    for (let at = 0; at < 1_000; at++) {
      leaves.push({ intentId: newId(), cid: await rawCidOf(Buffer.from(`file ${at}`)) })
    }
    const { transaction } = await putOn(ledger, await deedOf({ leaves }))
    const receipt = await node.call('eth_getTransactionReceipt', transaction.hash)
    expect(Number((receipt as { gasUsed: string }).gasUsed)).toBeLessThan(rootGasMax)
  })

  test('has a token with the id of the vault, and the URI of its metadata', async () => {
    const resourceId = newId()
    const cid = await rawCidOf(Buffer.from(resourceId))
    const deed = { ...(await deedOf({ kind: 'nft' })), resourceId, uri: `ipfs://${cid}` }
    const { inclusion } = await putOn(ledger, deed)
    expect(inclusion.tokenId).toBe(BigInt(`0x${resourceId.replaceAll('-', '')}`).toString())
    const token = resourceId.replaceAll('-', '').padStart(64, '0')
    // tokenURI(uint256): the place of the text, its length, and the text.
    const uri = await asked(`0xc87b56dd${token}`)
    expect(uri.subarray(64, 64 + deed.uri.length).toString()).toBe(deed.uri)
    // ownerOf(uint256)
    const owner = await asked(`0x6352211e${token}`)
    expect(`0x${owner.toString('hex', 12)}`).toBe(ledger.account.toLowerCase())
  })

  test('is obeyed by its owner alone', async () => {
    const { contract } = ledger
    const other = await openEvmLedger(node, {
      ledger: name,
      contract,
      signer: signerOf(otherRichKey),
    })
    const deed = await deedOf()
    await expect(other.prepare(deed)).rejects.toThrow(
      `the contract belongs to ${ledger.account}, and not to ${other.account}`,
    )
    const { terms } = await signedBy(ledger, deed, 1)
    const { blob, hash } = await other.sign(deed, await other.nextSequence(), terms)
    await other.submit(blob)
    await expect
      .poll(async () => await other.sight(hash))
      .toMatchObject({
        is: 'refused',
        reason: expect.stringContaining('OwnableUnauthorizedAccount'),
      })
    await other.close()
  })

  test('takes a second token of a vault for done where the first one is the same', async () => {
    const deed = { ...(await deedOf({ kind: 'nft' })), resourceId: newId() }
    const first = await putOn(ledger, deed)
    const { inclusion } = await putOn(ledger, deed)
    expect(inclusion.height).toBeGreaterThan(first.inclusion.height)
    expect(inclusion.tokenId).toBe(first.inclusion.tokenId)
  })

  test('refuses a second token of a vault that says something else', async () => {
    const resourceId = newId()
    const first = { ...(await deedOf({ kind: 'nft' })), resourceId }
    const second = { ...(await deedOf({ kind: 'nft' })), resourceId }
    const sequence = await ledger.nextSequence()
    const [one, other] = [
      await signedBy(ledger, first, sequence),
      await signedBy(ledger, second, sequence + 1),
    ]
    expect(await ledger.submit(one.blob)).toEqual({ is: 'accepted' })
    expect(await ledger.prepare(second)).toEqual({
      refused: expect.stringMatching(/^the contract refuses it: it has a token \d+ already$/),
    })
    expect(await ledger.submit(other.blob)).toEqual({ is: 'accepted' })
    await expect
      .poll(async () => await ledger.sight(other.hash))
      .toEqual({
        is: 'refused',
        reason: expect.stringMatching(/^the contract refuses it: it has a token \d+ already$/),
      })
  })

  test('has no token for what is no raw block', async () => {
    const deed = { ...(await deedOf({ kind: 'nft' })), uri: 'https://example.com/1' }
    expect(await ledger.prepare(deed)).toEqual({
      refused: 'the URI of a token must be ipfs:// with the CID of one raw block',
    })
  })
})
