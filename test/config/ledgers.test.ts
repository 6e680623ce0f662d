import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'
import { idleSettings } from '../../src/config/idle-settings.ts'

const node = 'https://node.example'

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  return readSettings(environment).problems
}

describe('settings of ledgers', () => {
  test.each([
    ['', 'node.example'],
    ['', 'https://'],
    ['', `${node}, ftp://node.example`],
    ['', Array(9).fill(node).join()],
    ['_NETWORK', '1'],
    ['_NETWORK', 'eip155:0'],
    ['_NETWORK', 'xrpl:1'],
    ['_CONTRACT', '0x5FbDB2315678afecb367f032d93F642f64180aa'],
    ['_CONTRACT', '0x5fbDB2315678afecb367f032d93F642f64180aa3'],
    ['_CONTRACT', '0x5FbDB2315678afecb367f032d93F642f64180aa4'],
    ['_CONTRACT', '5FbDB2315678afecb367f032d93F642f64180aa3'],
    ['_FINALITY', 'latest'],
    ['_FINALITY', '0'],
    ['_FINALITY', '100000'],
    ['_FEE_MAX', '0'],
    ['_FEE_MAX', '1.5'],
    ['_FEE_MAX', '30gwei'],
  ])('STREAMVAULT_LEDGER_ETHEREUM%s cannot be %s', (end, value) => {
    const name = `STREAMVAULT_LEDGER_ETHEREUM${end}`
    expect(problemsOf({ [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} must (?:be|have)`)),
    ])
  })

  test.each([
    '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    '0x5fbdb2315678afecb367f032d93f642f64180aa3',
    '0x5FBDB2315678AFECB367F032D93F642F64180AA3',
    `0x${'5'.repeat(40)}`,
  ])('the contract %s has its checksum, or none', (contract) => {
    expect(problemsOf({ STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: contract })).toEqual([])
  })

  test('a wrong address among several is named by its place', () => {
    const [problem] = problemsOf({ STREAMVAULT_LEDGER_XRPL: 'wss://one.example, two.example' })
    expect(problem).toMatch(/\(number 2 is not one\)$/)
  })

  test('everything that is wrong is said at once', () => {
    const problems = problemsOf({
      STREAMVAULT_LEDGER_XRPL: 'x',
      STREAMVAULT_LEDGER_XRPL_NETWORK: 'x',
      STREAMVAULT_LEDGER_XRPL_FEE_MAX: 'x',
      STREAMVAULT_LEDGER_ETHEREUM: 'x',
      STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: 'x',
    })
    expect(problems).toHaveLength(5)
  })

  test('two ledgers are never of one network', () => {
    const problems = problemsOf({
      STREAMVAULT_LEDGER_ETHEREUM: node,
      STREAMVAULT_LEDGER_POLYGON_POS: node,
      STREAMVAULT_LEDGER_POLYGON_POS_NETWORK: 'eip155:1',
    })
    expect(problems).toEqual([
      'STREAMVAULT_LEDGER_POLYGON_POS and STREAMVAULT_LEDGER_ETHEREUM must be of two networks, not both of eip155:1',
    ])
  })

  test('those that do nothing without an address are told of', () => {
    const environment = {
      STREAMVAULT_LEDGER_ETHEREUM: node,
      STREAMVAULT_LEDGER_ETHEREUM_FINALITY: 'safe',
      STREAMVAULT_LEDGER_XRPL_FEE_MAX: '10',
      STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:1',
    }
    expect(idleSettings(environment, readSettings(environment).config)).toEqual([
      'STREAMVAULT_LEDGER_XRPL_FEE_MAX has no effect without STREAMVAULT_LEDGER_XRPL',
    ])
  })
})
