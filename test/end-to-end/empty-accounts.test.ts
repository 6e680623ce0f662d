import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { textsIn } from '../support/anchor-facts.ts'
import { atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvaultJson } from '../support/command-line.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { EvmService } from '../support/evm-service.ts'
import { newPerson } from '../support/people.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { usedFolders } from '../support/used-folder.ts'
import { Chain } from '../support/xrpl-node/chain.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

type Owner = Pick<ApiClient, 'withKey' | 'base'>

/** A service whose account on a real network has nothing. */
interface PoorService {
  readonly dataDir: string
  readonly http: string
  readonly owner: Owner
  readonly network: string
  /** Gives the account money. */
  fund(): Promise<void>
}

/** What is wrong, as the service says where others look for it. */
async function problemOf({ http, network }: PoorService): Promise<string | undefined> {
  const { body } = await new ApiClient(http).request<{ degraded?: Record<string, string> }>(
    'GET',
    '/health/ready',
  )
  return body.degraded?.[`ledger ${network}`]
}

async function waitsForMoney(service: PoorService, says: RegExp): Promise<void> {
  const { owner, dataDir, network } = service
  const vault = pathOf('vaults', await makers.vaults(owner))
  const attachment = pathOf('attachments', await makers.attachments(owner))
  await expect.poll(() => problemOf(service)).toMatch(says)
  const states = `DISTINCT state AS text FROM anchors WHERE network = '${network}'`
  expect(textsIn(dataDir, states)).toEqual(['waiting'])
  for (const path of [vault, attachment]) {
    const { body } = await owner.withKey<{ status: string }>('GET', path)
    expect(body.status).toBe('METADATA_STORED')
  }

  await service.fund()

  for (const path of [vault, attachment]) {
    const statuses = statusesOf(await atStatus(owner, path, 'COMPLETED'))
    expect(statuses.filter((one) => one === 'FAILED' || one === 'ERROR')).toEqual([])
  }
}

describe.skipIf(areNodesMissing)('what is to go onto a network of the EVM', () => {
  let node: Anvil
  let service: EvmService

  beforeAll(async () => {
    node = await Anvil.start('--block-time', '1')
    service = await EvmService.start(node)
  })

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
    await node?.[Symbol.asyncDispose]()
  })

  test('waits while the account has no money, and gets there once it has some', async () => {
    const words = ['ledger', 'keys', 'address', 'ETHEREUM']
    const [account] = await streamvaultJson<{ address: string }[]>(words, service.environment)
    const balance = async (wei: string) => {
      await node.call('anvil_setBalance', account?.address, wei)
    }
    await balance('0x0')
    const poor = {
      dataDir: service.dataDir,
      http: service.process.http,
      owner: service.owner,
      network: 'eip155:31337',
      fund: async () => await balance('0xde0b6b3a7640000'),
    }
    await waitsForMoney(poor, /has 0 wei|has not enough/)
  })
})

describe('what is to go onto a network of XRPL', () => {
  const usedFolder = usedFolders()
  const network = 'xrpl:21338'
  let node: XrplNode
  let service: ServiceProcess
  let account: string
  let dataDir: string

  beforeAll(async () => {
    dataDir = usedFolder()
    node = await XrplNode.start(new Chain(21_338))
    node.chain.closeEvery(250)
    const settings = {
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_LEDGER_XRPL: node.endpoint,
      STREAMVAULT_LEDGER_XRPL_NETWORK: network,
    }
    const made = await streamvaultJson<{ role: string; account: string }[]>(
      ['ledger', 'keys', 'create', 'XRPL'],
      { ...settingsOf(dataDir), ...settings },
    )
    account = made.find(({ role }) => role === 'issuer')?.account ?? ''
    service = await startServiceProcess(dataDir, settings)
  })

  afterEach(async () => {
    await service?.end('SIGTERM')
    await node?.[Symbol.asyncDispose]()
  })

  test('waits while the account has no money, and gets there once it has some', async () => {
    const api = new ApiClient(service.http)
    const { withKey } = await newPerson(api, { kind: 'live' })
    const owner: Owner = {
      base: api.base,
      withKey: async (method, path, body) => {
        const isMade = method === 'POST' && /^\/(vaults|attachments)$/.test(path)
        return await withKey(method, path, isMade ? { ...(body as object), ledger: 'XRPL' } : body)
      },
    }
    const { http } = service
    await waitsForMoney(
      {
        dataDir,
        http,
        owner,
        network,
        fund: async () => node.chain.fund(account, 100_000_000n),
      },
      /has to be funded|has not enough/,
    )
  })
})
