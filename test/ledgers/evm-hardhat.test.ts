import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bid, higherBid } from '../../src/ledgers/evm/fees.ts'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { openEvmLedger } from '../support/evm-ledger.ts'
import { areNodesMissing, Hardhat } from '../support/evm-nodes.ts'
import { deedOf, includedOf, signedBy } from '../support/sandbox-ledger.ts'
import { testedEvm } from '../support/tested-evm.ts'

describe.skipIf(areNodesMissing)('a contract on hardhat', () => {
  let node: Hardhat

  beforeAll(async () => {
    node = await Hardhat.start()
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  ledgerContract(async () => await testedEvm(node))

  describe('a transaction that takes the place of one that waits', () => {
    test('is not taken for 1 wei more, and is for what is bid higher', async () => {
      const ledger = await openEvmLedger(node)
      const deed = await deedOf()
      const sequence = await ledger.nextSequence()
      await node.call('evm_setAutomine', false)
      const first = await signedBy(ledger, deed, sequence)
      expect(await ledger.submit(first.blob)).toEqual({ is: 'accepted' })
      const { gas, maxFee, tip } = JSON.parse(first.terms) as Record<string, string>
      const bid = { maxFee: BigInt(maxFee ?? 0), tip: BigInt(tip ?? 0) }
      const signedFor = async (one: Bid) => {
        const terms = JSON.stringify({ gas, maxFee: `${one.maxFee}`, tip: `${one.tip}` })
        return await ledger.sign(deed, sequence, terms)
      }
      const little = await signedFor({ maxFee: bid.maxFee + 1n, tip: bid.tip + 1n })
      expect(await ledger.submit(little.blob)).toEqual({ is: 'early' })
      expect(await ledger.sight(little.hash)).toEqual({ is: 'unknown' })
      const higher = higherBid(bid, { baseFee: 0n, tip: 0n }, bid.maxFee * 2n) ?? bid
      const second = await signedFor(higher)
      expect(await ledger.submit(second.blob)).toEqual({ is: 'accepted' })
      await node.call('evm_setAutomine', true)
      await node.mine()
      await includedOf(ledger, second.hash)
      expect(await ledger.submit(first.blob)).toEqual({ is: 'superseded' })
      await ledger.close()
    })
  })
})

describe.skipIf(areNodesMissing)(
  'a contract on hardhat by the rules of Berlin, without EIP-1559',
  () => {
    let node: Hardhat

    beforeAll(async () => {
      node = await Hardhat.start('berlin')
    })

    afterAll(async () => await node[Symbol.asyncDispose]())

    ledgerContract(async () => await testedEvm(node, { ledger: 'POLYGON_ZKEVM' }))
  },
)
