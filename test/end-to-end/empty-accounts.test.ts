import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsIn } from '../support/anchor-facts.ts'
import { atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { EvmService } from '../support/evm-service.ts'
import { XrplService } from '../support/xrpl-service.ts'

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

test('what is to go onto a network of XRPL waits while the account has no money, and gets there once it has some', async () => {
  await using service = await XrplService.start(21_338)
  const { dataDir, owner, process } = service
  await waitsForMoney(
    {
      dataDir,
      http: process.http,
      owner,
      network: 'xrpl:21338',
      fund: async () => service.fund(),
    },
    /has to be funded|has not enough/,
  )
})
