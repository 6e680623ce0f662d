import { afterAll, beforeAll, describe, test } from 'vitest'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { openEvmLedger } from '../support/evm-ledger.ts'
import { areNodesMissing, Hardhat } from '../support/evm-nodes.ts'
import { outbidWaiting } from '../support/outbid-transaction.ts'
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
      await node.call('evm_setAutomine', false)
      await outbidWaiting(ledger, await ledger.nextSequence(), async () => {
        await node.call('evm_setAutomine', true)
        await node.mine()
      })
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
