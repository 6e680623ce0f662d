import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Proof } from '../../src/ledgers/proofs/proof.ts'
import { type Anchored, assetOf, atStatus, completedStream } from '../support/anchored.ts'
import { streamvault } from '../support/command-line.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
const service = runningService({
  STREAMVAULT_ANCHORING: 'on',
  STREAMVAULT_EGRESS_ALLOW: receiver.destination,
})

interface Sent {
  readonly event_type: string
  readonly data: Anchored
}

/** An asset that is issued, by somebody new. */
async function issued() {
  const person = await newPerson(service.api)
  const owner = { ...person, base: service.api.base }
  const stream = await completedStream(owner)
  return { owner, stream, path: await assetOf(owner, stream) }
}

const proofOf = async (owner: Person, path: string) =>
  (await owner.withKey<Proof>('GET', `${path}/proof`)).body

test('what an asset is called on the ledger is the mapping of its stream, wherever that is shown', async () => {
  const { owner, stream, path } = await issued()
  const before = (await owner.withKey<Anchored>('GET', stream)).body
  const asset = await atStatus(owner, path, 'COMPLETED')

  const after = (await owner.withKey<Anchored>('GET', stream)).body
  const proof = await proofOf(owner, path)
  expect(proof).toMatchObject({ final: true, network: 'sandbox', tx_hash: asset.tx_hash })
  expect(proof.token_id).toMatch(/^[0-9a-f]{64}$/)
  expect(after).toEqual({ ...before, mapping: proof.token_id })
  expect(JSON.parse(proof.transaction ?? '')).toMatchObject({
    kind: 'token',
    asset: { streamId: before.id, code: before['asset_code'], amount: '21000000000000' },
  })

  const template = await owner.withKey<{ id: string }>('POST', '/templates', {
    name: 'safe',
    hint: '',
    required_streams: [before['asset_code']],
  })
  const wanted = { template_id: template.body.id, name: 'safe 3' }
  const vault = await owner.withKey<{ streams: readonly Anchored[] }>('POST', '/vaults', wanted)
  expect(vault.body.streams).toEqual([after])
})

test('its events reach webhooks of either interface', async () => {
  const person = await newPerson(service.api)
  const owner = { ...person, base: service.api.base }
  const types = ['asset.created', 'asset.deployed', 'asset.error']
  await owner.withKey('POST', '/notifications/webhooks', {
    url: `${receiver.url}/key`,
    event_types: types,
  })
  await owner.withToken('POST', '/webhooks', { url: `${receiver.url}/token`, events: types })
  // A filter lets nothing pass that is neither of a vault nor of a stream.
  const stream = await completedStream(owner)
  await owner.withKey('POST', '/notifications/webhooks', {
    url: `${receiver.url}/filtered`,
    event_types: [...types, 'stream.permission.granted'],
    resource_filters: { stream_ids: [stream.split('/')[2]] },
  })
  const path = await assetOf(owner, stream)
  const asset = await atStatus(owner, path, 'COMPLETED')

  await receiver.requests(4)

  const got = receiver.received.map(({ path: to, headers, body }) => {
    const { event_type: type, data } = JSON.parse(body.toString()) as Sent
    expect(headers['x-service-event']).toBe(type)
    expect([data.id, data['stream_id']]).toEqual([asset.id, stream.split('/')[2]])
    return `${to} ${type} ${data.status}`
  })
  expect(got.toSorted()).toEqual(
    ['key', 'token'].flatMap((view) => [
      `/hook/${view} asset.created SERVICE_RECEIVED`,
      `/hook/${view} asset.deployed COMPLETED`,
    ]),
  )
})

test('its proof is verified offline, and says more than it may when its name is another one', async () => {
  using folder = new TemporaryFolder()
  const { owner, path } = await issued()
  await atStatus(owner, path, 'COMPLETED')
  const proof = await proofOf(owner, path)
  const [metadata, good, bad] = ['metadata', 'proof', 'changed'].map((name) => folder.file(name))
  const authorization = `Bearer ${await owner.token()}`
  const loaded = await fetch(`${owner.base}${path}/metadata`, { headers: { authorization } })
  writeFileSync(metadata ?? '', Buffer.from(await loaded.arrayBuffer()))
  writeFileSync(good ?? '', JSON.stringify(proof))
  writeFileSync(bad ?? '', JSON.stringify({ ...proof, token_id: '0'.repeat(64) }))
  const key = proof.signatures[0]?.key_id ?? ''
  const verified = (by = '') => streamvault(['verify', metadata ?? '', '--proof', by, '--key', key])

  const [proven, contradicted] = [await verified(good), await verified(bad)]

  expect([proven.code, proven.stdout]).toEqual([0, expect.stringMatching(/^proven: /)])
  expect(contradicted.code).not.toBe(0)
  expect(contradicted.stdout).toContain('token_id is not that of the transaction')
})
