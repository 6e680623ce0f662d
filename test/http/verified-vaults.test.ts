import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn } from '../../src/config/data-folder.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import type { PublishedKeys } from '../../src/ledgers/proofs/public-key.ts'
import { type Anchored, atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { metricsOf } from '../support/metrics.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'
import { StateBeside } from '../support/state-beside.ts'

const anchoring = { STREAMVAULT_ANCHORING: 'on' }
const service = runningService(anchoring)
const services = startedServices()

type Asking = Pick<ApiClient, 'withKey' | 'base'>

interface Entry {
  readonly event_type: string
  readonly type: string
  readonly title: string
  readonly resource_id: string
}

interface Asked {
  readonly id: string
  readonly vault_id: string
  readonly status: string
}

async function anchoredVault(owner: Asking): Promise<Anchored> {
  const id = await makers.vaults(owner)
  return await atStatus(owner, `/vaults/${id}`, 'COMPLETED')
}

/** What the inbox tells of verifications of a vault, once there are so many. */
async function told(owner: Asking, id: string, count = 1): Promise<readonly Entry[]> {
  const entries = async () => {
    const path = '/notifications/in-app?page_size=100'
    const { body } = await owner.withKey<{ content: readonly Entry[] }>('GET', path)
    return body.content.filter(
      (one) => one.event_type === 'vault.verification_complete' && one.resource_id === id,
    )
  }
  await expect.poll(async () => (await entries()).length).toBeGreaterThanOrEqual(count)
  return await entries()
}

async function verify(owner: Asking, id: string): Promise<Asked> {
  const { status, body } = await owner.withKey<Asked>('POST', `/vaults/${id}/verify`)
  expect({ status, body }).toMatchObject({ status: 202, body: { vault_id: id, status: 'pending' } })
  return body
}

test('a vault that is as it was is proven, and the inbox says so', async () => {
  const { id } = await anchoredVault(service.api)
  await verify(service.api, id)

  const good = { type: 'SUCCESS', title: 'Vault verified' }
  expect(await told(service.api, id)).toMatchObject([good])
  // A second one is told of, too, however soon it comes.
  await verify(service.api, id)
  expect(await told(service.api, id, 2)).toMatchObject([good, good])
})

test('a payload that was changed behind our back is contradicted, which is an error', async () => {
  const { id } = await anchoredVault(service.api)
  {
    await using beside = await StateBeside.open(service.process)
    const { state } = beside
    await beside.commit(
      state.updateTable('vaults').set({ json_payload: '{"serial": 8}' }).where('id', '=', id),
    )
  }
  await verify(service.api, id)

  expect(await told(service.api, id)).toMatchObject([
    { type: 'ERROR', title: expect.stringContaining('contradicted') },
  ])
})

test('a vault of somebody else cannot be verified, public or not', async () => {
  const [owner, stranger] = [await newPerson(service.api), await newPerson(service.api)]
  const id = await makers.vaults({ ...owner, base: service.api.base })
  const asked = () => stranger.withKey('POST', `/vaults/${id}/verify`)

  expect(await asked()).toMatchObject({ status: 403 })
  await owner.withKey('PUT', `/vaults/${id}`, { public: false })
  expect(await asked()).toMatchObject({ status: 404 })
})

test('strangers are told of a CID what the published keys prove', async () => {
  const vault = await anchoredVault(service.api)
  const { http } = service.process
  const keys = (await (await fetch(`${http}/.well-known/ledger-keys.json`)).json()) as PublishedKeys
  const blocks = keys.keys.filter(({ role }) => role === 'blocks').map(({ kid }) => kid)

  for (const cid of [vault['cid'], vault['metadata_cid']]) {
    const answer = await fetch(`${http}/verify/${String(cid)}`)
    const body = (await answer.json()) as Readonly<Record<string, unknown>>

    expect(body).toMatchObject({
      cid,
      final: true,
      network: 'sandbox',
      tx_hash: vault.tx_hash,
      public: { id: vault.id },
    })
    const question = { cids: [String(cid)], trustedKeys: new Set(blocks) }
    expect(checkProof(body['proof'], question)).toMatchObject({ is: 'proven', cid })
    const stranger = { ...question, trustedKeys: new Set<string>() }
    expect(checkProof(body['proof'], stranger)).toMatchObject({ is: 'proven_under_key' })
  }
})

test('what is verified when the service is killed is verified once it runs again', async () => {
  const dataDir = services.newFolder()
  const first = await services.start(dataDir, anchoring)
  const { id } = await anchoredVault(new ApiClient(first.http))
  await first.end('SIGTERM')
  const waiting = await services.start(dataDir)
  const asked = await verify(new ApiClient(waiting.http), id)
  expect(await verify(new ApiClient(waiting.http), id)).toEqual(asked)
  expect((await metricsOf(waiting))('verifications_waiting')).toBe(1)
  await waiting.end('SIGKILL')

  const again = await services.start(dataDir, anchoring)
  const api = new ApiClient(again.http)

  expect(await told(api, id)).toHaveLength(1)
  const figures = await metricsOf(again)
  expect(figures('verifications_waiting')).toBe(0)
  expect(figures('anchors{state="completed"}')).toBe(1)
  expect(figures('anchor_transactions_total')).toBe(1)
  expect(figures('anchor_oldest_seconds')).toBe(0)
})

test('a ledger that is broken is named, and everything else goes on', async () => {
  const dataDir = services.newFolder()
  const first = await services.start(dataDir, anchoring)
  await anchoredVault(new ApiClient(first.http))
  await first.end('SIGTERM')
  breakChain(dataDir)

  const again = await services.start(dataDir, anchoring)
  const api = new ApiClient(again.http)
  const id = await makers.vaults(api)

  const ready = async () => {
    const answer = await fetch(`${again.http}/health/ready`)
    return { status: answer.status, body: await answer.json() }
  }
  await expect.poll(ready).toMatchObject({
    status: 200,
    body: {
      status: 'ready',
      failing: {},
      degraded: { ledger: expect.stringContaining('block 1') },
    },
  })
  await atStatus(api, `/vaults/${id}`, 'METADATA_STORED')
  expect((await metricsOf(again))('anchors{state="waiting"}')).toBe(1)
  await verify(api, id)
  expect(await told(api, id)).toMatchObject([{ type: 'WARNING' }])
})

function breakChain(dataDir: string): void {
  const { ledger } = filesIn(dataDir)
  const path = join(ledger, 'chain.jsonl')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('"height', '"heighT').replace('\\"height', '\\"heighT'))
  rmSync(join(ledger, 'index.db'))
}
