import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownerCall } from '../../src/ledgers/evm/anchors-contract.ts'
import { textsIn } from '../support/anchor-facts.ts'
import { atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { streamvault } from '../support/command-line.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { EvmService } from '../support/evm-service.ts'
import { tokenAt } from '../support/evm-token.ts'
import { NodeProxy } from '../support/node-proxy.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

/** Attachments that share one root. */
const many = 1_000

/** Uploads at once: one user may have eight. */
const uploadLanes = 4

interface Stream {
  readonly asset_code: string
  readonly mapping: string
}

describe.skipIf(areNodesMissing)('a service with a network of the EVM', () => {
  let node: Anvil
  let proxy: NodeProxy
  let service: EvmService

  beforeAll(async () => {
    node = await Anvil.start('--block-time', '1')
    proxy = await NodeProxy.start(node.endpoint)
    service = await EvmService.start(node, {
      endpoint: proxy.endpoint,
      STREAMVAULT_ANCHOR_BATCH_WAIT: '15s',
    })
  })

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
    await node?.[Symbol.asyncDispose]()
  })

  /** Transactions in which the contract has an intent. */
  async function hashesOf(intentId: string): Promise<readonly string[]> {
    const logs = await node.call('eth_getLogs', { address: service.contract, fromBlock: '0x0' })
    const intent = `0x${intentId.replaceAll('-', '').padEnd(64, '0')}`
    return (logs as readonly { topics: readonly string[]; transactionHash: string }[])
      .filter(({ topics }) => topics[1] === intent)
      .map(({ transactionHash }) => transactionHash)
  }

  test('checks that everything is as it has to be', async () => {
    const words = ['ledger', 'check', 'ETHEREUM']
    const { code, stdout, stderr } = await streamvault(words, service.environment)
    expect(stderr).toContain('included: in block')
    expect(stdout).toMatch(/^COMPLETED: 0x[0-9a-f]{64} is in block \d+ of /)
    expect(code).toBe(0)
  })

  test.each(['vaults', 'attachments'] as const)('gets what is made of %s onto it', async (path) => {
    const { owner } = service
    const id = await makers[path](owner)
    const done = await atStatus(owner, pathOf(path, id), 'COMPLETED')
    expect(statusesOf(done)).toContain('LEDGER_SUBMITTED')
    expect(done.tx_hash).toMatch(/^0x[0-9a-f]{64}$/)
    const receipt = await node.call('eth_getTransactionReceipt', done.tx_hash)
    expect(receipt).toMatchObject({ status: '0x1' })
    const { body } = await owner.withKey<object>('GET', `${pathOf(path, id)}/proof`)
    expect(body).toMatchObject({ network: 'eip155:31337', final: true, tx_hash: done.tx_hash })
  })

  test('has a token for a vault, with its id', async () => {
    const id = await makers.vaults(service.owner)
    const vault = await atStatus(service.owner, pathOf('vaults', id), 'COMPLETED')
    expect(vault['nft_network_id']).toBe(BigInt(`0x${id.replaceAll('-', '')}`).toString())
  })

  test('issues all of an asset to where it is distributed from', async () => {
    const { owner } = service
    const id = await makers.streams(owner)
    await atStatus(owner, `/streams/${id}`, 'COMPLETED')
    const wanted = { supply: '21000000', precision: 6, ledger: 'ETHEREUM' }
    const path = `/streams/${id}/assets`
    const { body } = await owner.withKey<{ id: string }>('POST', path, wanted)
    const asset = await atStatus(owner, `${path}/${body.id}`, 'COMPLETED')
    expect(statusesOf(asset)).toContain('LEDGER_SUBMITTED')
    const stream = await owner.withKey<Stream>('GET', `/streams/${id}`)
    const { mapping, asset_code: code } = stream.body
    const account = await node.call(
      'eth_call',
      { to: service.contract, data: ownerCall() },
      'latest',
    )
    const owned = await tokenAt(node, mapping, `0x${String(account).slice(-40)}`)
    const amount = '21000000000000'
    expect(owned).toMatchObject({ symbol: code, decimals: '6', supply: amount, balance: amount })
    const { body: proof } = await owner.withKey('GET', `${path}/${body.id}/proof`)
    expect(proof).toMatchObject({ network: 'eip155:31337', final: true, tx_hash: asset.tx_hash })
    const second = await owner.withKey('POST', path, wanted)
    expect(second.status).toBe(409)
  })

  test('says that a vault is proven when the node and all that is kept say so', async () => {
    const { owner, dataDir } = service
    const id = await makers.vaults(owner)
    await atStatus(owner, pathOf('vaults', id), 'COMPLETED')
    expect((await owner.withKey('POST', `/vaults/${id}/verify`)).status).toBe(202)
    const ends = `data ->> 'result' AS text FROM events
      WHERE type = 'vault.verification_complete' AND resource_id = '${id}'`
    await expect.poll(() => textsIn(dataDir, ends)).toEqual(['proven'])
  })

  test('that is killed between the row and the send answers the first vault, and completes it', async () => {
    const held = Promise.withResolvers<void>()
    proxy.before(async (method) => {
      if (method === 'eth_sendRawTransaction') await held.promise
    })
    const template = { name: 'boiler', hint: '', required_streams: [] }
    const { body } = await service.owner.withKey<{ id: string }>('POST', '/templates', template)
    const wanted = { template_id: body.id, name: 'boiler 9' }
    const key = { 'idempotency-key': 'killed-between' }
    const made = async () => {
      return await service.owner.withKey<{ id: string }>('POST', '/vaults', wanted, key)
    }
    const first = await made()
    const signed = `transaction_hash AS text FROM anchors
      WHERE resource_id = '${first.body.id}' AND state = 'signed'`
    await expect.poll(() => textsIn(service.dataDir, signed).length).toBe(1)
    await service.end('SIGKILL')
    held.resolve()
    await service.resume()
    expect((await made()).body.id).toBe(first.body.id)
    const done = await atStatus(service.owner, `/vaults/${first.body.id}`, 'COMPLETED')
    const intents = `id AS text FROM anchors WHERE resource_id = '${first.body.id}'`
    const [intent = ''] = textsIn(service.dataDir, intents)
    expect(await hashesOf(intent)).toEqual([done.tx_hash])
  })

  test(`gets ${many} attachments onto it under a few roots`, async () => {
    const { owner } = service
    const streamId = await makers.streams(owner)
    let made = 0
    const lane = async () => {
      while (made < many) {
        const wanted = { stream_id: streamId, name: `report ${made++}` }
        const { id, presigned_url: url } = await attachmentOf(owner, wanted)
        const { status } = await upload(owner, url, `a file for ${id}`)
        expect(status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: uploadLanes }, lane))
    const completed = `id AS text FROM attachments
      WHERE stream_id = '${streamId}' AND status = 'COMPLETED'`
    await expect.poll(() => textsIn(service.dataDir, completed).length).toBe(many)
    const roots = `DISTINCT transaction_hash AS text FROM anchors WHERE kind = 'root'
      AND resource_id IN (SELECT id FROM attachments WHERE stream_id = '${streamId}')`
    expect(textsIn(service.dataDir, roots).length).toBeLessThan(10)
  })
})
