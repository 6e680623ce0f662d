import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsIn } from '../support/anchor-facts.ts'
import { atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

/** Attachments that share one root. */
const many = 1_000

/** Uploads at once: one user may have eight. */
const uploadLanes = 4

describe.skipIf(areNodesMissing)('a service with a network of the EVM', () => {
  const dataDir = newDataDir()
  let node: Anvil
  let settings: Record<string, string>
  let service: ServiceProcess
  let person: Person & { readonly base: string }

  beforeAll(async () => {
    node = await Anvil.start('--block-time', '1')
    settings = {
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_ANCHOR_BATCH_WAIT: '15s',
      STREAMVAULT_LEDGER_ETHEREUM: node.endpoint,
      STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
    }
    await (await startServiceProcess(dataDir, settings)).end('SIGTERM')
    const environment = { ...settingsOf(dataDir), ...settings }
    await streamvaultJson(['ledger', 'keys', 'create', 'ETHEREUM'], environment)
    const words = ['ledger', 'keys', 'address', 'ETHEREUM']
    const [account] = await streamvaultJson<{ address: string }[]>(words, environment)
    await node.call('anvil_setBalance', account?.address, '0xde0b6b3a7640000')
    const deploy = ['ledger', 'deploy', 'ETHEREUM']
    const { address } = await streamvaultJson<{ address: string }>(deploy, environment)
    settings['STREAMVAULT_LEDGER_ETHEREUM_CONTRACT'] = address
    service = await startServiceProcess(dataDir, settings)
    const api = new ApiClient(service.http)
    person = { ...(await newPerson(api, { kind: 'live' })), base: api.base }
  })

  afterAll(async () => {
    await service?.end('SIGTERM')
    await node?.[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true })
  })

  /** Makes what it is told, for the ledger that is configured. */
  const owner = () => ({
    base: person.base,
    withKey: async <Body>(method: string, path: string, body?: unknown) => {
      const isMade = method === 'POST' && /^\/(vaults|attachments)$/.test(path)
      const wanted = isMade ? { ...(body as object), ledger: 'ETHEREUM' } : body
      return await person.withKey<Body>(method, path, wanted)
    },
  })

  test('checks that everything is as it has to be', async () => {
    const environment = { ...settingsOf(dataDir), ...settings }
    const { code, stdout, stderr } = await streamvault(['ledger', 'check', 'ETHEREUM'], environment)
    expect(stderr).toContain('included: in block')
    expect(stdout).toMatch(/^COMPLETED: 0x[0-9a-f]{64} is in block \d+ of /)
    expect(code).toBe(0)
  })

  test.each(['vaults', 'attachments'] as const)('gets what is made of %s onto it', async (path) => {
    const id = await makers[path](owner())
    const done = await atStatus(person, pathOf(path, id), 'COMPLETED')
    expect(statusesOf(done)).toContain('LEDGER_SUBMITTED')
    expect(done.tx_hash).toMatch(/^0x[0-9a-f]{64}$/)
    const receipt = await node.call('eth_getTransactionReceipt', done.tx_hash)
    expect(receipt).toMatchObject({ status: '0x1' })
    const { body } = await person.withKey<{ network: string }>('GET', `${pathOf(path, id)}/proof`)
    expect(body).toMatchObject({ network: 'eip155:31337', final: true })
  })

  test('has a token for a vault, with its id', async () => {
    const id = await makers.vaults(owner())
    const { nft_token_id: token } = await atStatus(person, pathOf('vaults', id), 'COMPLETED')
    expect(token).toBe(BigInt(`0x${id.replaceAll('-', '')}`).toString())
  })

  test(`gets ${many} attachments onto it under one root`, async () => {
    const streamId = await makers.streams(owner())
    let made = 0
    const lane = async () => {
      while (made < many) {
        const wanted = { stream_id: streamId, name: `report ${made++}` }
        const { id, presigned_url: url } = await attachmentOf(owner(), wanted)
        const { status } = await upload(person, url, `a file for ${id}`)
        expect(status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: uploadLanes }, lane))
    const completed = `id AS text FROM attachments
      WHERE stream_id = '${streamId}' AND status = 'COMPLETED'`
    await expect.poll(() => textsIn(dataDir, completed).length).toBe(many)
    const hashes = "DISTINCT transaction_hash AS text FROM anchors WHERE kind = 'root'"
    expect(textsIn(dataDir, hashes).length).toBeLessThan(5)
  })
})
