import { describe } from 'vitest'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { seeds, testedXrpl } from '../support/xrpl-ledger.ts'

describe.each(Object.entries(seeds))('an account of XRPL with a key of %s', (_, seed) => {
  ledgerContract(async () => await testedXrpl(seed))
})
