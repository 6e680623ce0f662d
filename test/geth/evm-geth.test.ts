import { afterAll, beforeAll, describe, test } from 'vitest'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { openEvmLedger } from '../support/evm-ledger.ts'
import { Geth } from '../support/geth.ts'
import { outbidWaiting } from '../support/outbid-transaction.ts'
import { testedEvm } from '../support/tested-evm.ts'

describe('a contract on geth', () => {
  let node: Geth

  beforeAll(async () => {
    node = await Geth.start()
  })

  afterAll(async () => await node?.[Symbol.asyncDispose]())

  ledgerContract(async () => await testedEvm(node))

  describe('a transaction that takes the place of one that waits', () => {
    test('is not taken for 1 wei more, and is for what is bid higher', async () => {
      await using slow = await Geth.start('--dev.period', '4')
      const ledger = await openEvmLedger(slow)
      await slow.mine()
      await outbidWaiting(ledger, await ledger.nextSequence(), async () => await slow.mine())
      await ledger.close()
    })
  })
})
