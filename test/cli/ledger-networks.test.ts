import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { contractBeforeAssets } from '../support/evm-ledger.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { examine } from '../support/examination.ts'
import { usedFolders } from '../support/used-folder.ts'

const usedFolder = usedFolders()

/** An address with something that is nobody's business. */
const away = { STREAMVAULT_LEDGER_ETHEREUM: 'http://127.0.0.1:1/secret-token' }

describe.each(['deploy', 'check'])('ledger %s', (word) => {
  /** Runs it in a folder of its own. */
  async function run(ledger: string, environment: Readonly<Record<string, string>> = {}) {
    const dataDir = usedFolder()
    return await streamvault(['ledger', word, ledger], { ...settingsOf(dataDir), ...environment })
  }

  test('says that a ledger without a node is the sandbox', async () => {
    const { code, stderr } = await run('ETHEREUM')
    expect(stderr).toContain('STREAMVAULT_LEDGER_ETHEREUM names no node')
    expect(code).toBe(1)
  })

  test('names the ledgers that there are', async () => {
    const { code, stderr } = await run('BITCOIN')
    expect(stderr).toContain('LEDGER must be')
    expect(code).toBe(2)
  })

  test('says that there is no key, and shows no address', async () => {
    const contract = { STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: `0x${'12'.repeat(20)}` }
    const { code, stdout, stderr } = await run('ETHEREUM', { ...away, ...contract })
    expect(stderr).toContain('eip155:1 has no key for its issuer')
    expect(stdout + stderr).not.toContain('secret-token')
    expect(code).toBe(1)
  })
})

test('ledger deploy is of no use for XRPL', async () => {
  const environment = { ...settingsOf(usedFolder()), STREAMVAULT_LEDGER_XRPL: 'ws://127.0.0.1:1' }
  const { code, stderr } = await streamvault(['ledger', 'deploy', 'XRPL'], environment)
  expect(stderr).toContain('XRPL has no contracts')
  expect(code).toBe(2)
})

test('ledger check says that there is no contract yet', async () => {
  const environment = { ...settingsOf(usedFolder()), ...away }
  const { stderr } = await streamvault(['ledger', 'check', 'ETHEREUM'], environment)
  expect(stderr).toContain('eip155:1 has no contract of ours: make one with ledger deploy ETHEREUM')
})

/** A folder with a key that has no money. */
async function withKey(endpoint: string) {
  const environment = {
    ...settingsOf(usedFolder()),
    STREAMVAULT_LEDGER_ETHEREUM: endpoint,
    STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
  }
  await streamvault(['ledger', 'keys', 'create', 'ETHEREUM'], environment)
  return environment
}

describe.skipIf(areNodesMissing)('with a key', () => {
  let node: Anvil

  beforeAll(async () => {
    node = await Anvil.start()
  })

  afterAll(async () => await node?.[Symbol.asyncDispose]())

  test('ledger deploy says what the account needs', async () => {
    const environment = await withKey(node.endpoint)
    const { code, stderr } = await streamvault(['ledger', 'deploy', 'ETHEREUM'], environment)
    expect(stderr).toMatch(/0x[0-9a-fA-F]{40} needs \d+ wei for it/)
    expect(code).toBe(1)
  })

  test('ledger deploy says that no node answers, and not which', async () => {
    const environment = await withKey('http://127.0.0.1:1/secret-token')
    const { code, stderr } = await streamvault(['ledger', 'deploy', 'ETHEREUM'], environment)
    expect(stderr).toContain('the node does not answer')
    expect(stderr).not.toContain('127.0.0.1')
    expect(code).toBe(1)
  })
  test('all commands say that a contract is from before there were assets', async () => {
    const withoutContract = await withKey(node.endpoint)
    const words = ['ledger', 'keys', 'address', 'ETHEREUM']
    const [account] = await streamvaultJson<{ address: string }[]>(words, withoutContract)
    await node.call('anvil_setBalance', account?.address, '0xde0b6b3a7640000')
    const environment = {
      ...withoutContract,
      STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: await contractBeforeAssets(
        node,
        account?.address ?? '',
      ),
      STREAMVAULT_LEDGER_ETHEREUM_FINALITY: '1',
    }
    await node.call('evm_setIntervalMining', 1)
    const check = await streamvault(['ledger', 'check', 'ETHEREUM'], environment)
    expect(check.stdout).toMatch(/^COMPLETED/)
    expect(check.stderr).toContain('make a new one with streamvault ledger deploy ETHEREUM')
    const status = await streamvault(['ledger', 'status'], environment)
    expect(status.stdout).toContain('the contract issues no assets')
    const found = (await examine('', environment)).check('ledger ETHEREUM, assets')
    expect(found).toMatchObject({
      status: 'warn',
      advice: expect.stringContaining('ledger deploy ETHEREUM'),
    })
  })
})
