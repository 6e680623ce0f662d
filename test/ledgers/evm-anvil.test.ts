import { afterAll, beforeAll, describe } from 'vitest'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { testedEvm } from '../support/tested-evm.ts'

describe.skipIf(areNodesMissing)('a contract on anvil', () => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start()
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  ledgerContract(async () => await testedEvm(node))
})
