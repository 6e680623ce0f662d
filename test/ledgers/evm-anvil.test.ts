import { afterAll, beforeAll, describe } from 'vitest'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { testedEvm } from '../support/tested-evm.ts'

describe.skipIf(areNodesMissing).each([
  { hardfork: 'prague', ledger: 'ETHEREUM' },
  // There is no EIP-1559 yet.
  { hardfork: 'berlin', ledger: 'POLYGON_ZKEVM' },
] as const)('a contract on anvil, by the rules of $hardfork', ({ hardfork, ledger }) => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start('--hardfork', hardfork)
  })

  afterAll(async () => await node[Symbol.asyncDispose]())

  ledgerContract(async () => await testedEvm(node, { ledger }))
})
