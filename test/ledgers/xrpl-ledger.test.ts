import { describe } from 'vitest'
import { assetLedgerContract } from '../contracts/asset-ledger-contract.ts'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { fundedAccounts, seeds, testedXrpl } from '../support/xrpl-ledger.ts'

describe.each(Object.entries(seeds))('an account of XRPL with a key of %s', (_, seed) => {
  ledgerContract(async () => await testedXrpl(seed))
})

describe('both accounts of XRPL', () => {
  assetLedgerContract(async () => {
    const accounts = await fundedAccounts()
    accounts.chain.closeEvery(50)
    return accounts
  })
})
