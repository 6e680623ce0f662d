import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verificationRate } from '../../src/anchors/proofs/open-routes.ts'
import { AnchoredRows, cidOf, inclusionAt } from '../support/anchored-rows.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'
import { StateBeside } from '../support/state-beside.ts'

const service = runningService()
const services = startedServices()

let beside: StateBeside
let rows: AnchoredRows

beforeAll(async () => {
  beside = await StateBeside.open(service.process)
  rows = new AnchoredRows(beside, beside)
})

afterAll(() => beside[Symbol.asyncDispose]())

interface Verified {
  readonly public: unknown
  readonly proof: { readonly parts: readonly unknown[] }
}

/** Without credentials. */
async function verified(cid: string) {
  const response = await fetch(`${service.process.http}/verify/${cid}`)
  return { status: response.status, body: (await response.json()) as Verified }
}

/** Has the anchor of a vault completed; resolves with its CIDs: of the folder, and of the metadata. */
async function anchored(vaultId: string): Promise<readonly [string, string]> {
  const { id, cids } = await rows.madeWith(vaultId)
  await rows.move([id], 'completed', { hash: randomUUID(), inclusion: inclusionAt(1_000_000) })
  return cids as [string, string]
}

async function newVault(isPublic: boolean): Promise<string> {
  const id = await service.api.createVault()
  await service.api.withKey('PUT', `/vaults/${id}`, { public: isPublic })
  return id
}

describe('GET /verify/{cid}', () => {
  test('tells of a public vault what it is, and how all of it leads to the root', async () => {
    const id = await newVault(true)
    const [cid, metadata] = await anchored(id)

    const { status, body } = await verified(metadata)

    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        cid: metadata,
        status: 'COMPLETED',
        final: true,
        ledger: 'XRPL',
        network: 'sandbox',
        block_time: '1970-01-01T00:00:01.000000Z',
        public: { type: 'vault', id, name: expect.any(String) },
        proof: {
          format: 'streamvault-proof-1',
          cid: metadata,
          parts: [{ cid: metadata }, { cid }],
        },
      },
    })
  })

  test('tells of what is not public the anchor alone', async () => {
    const id = await newVault(false)
    const [cid, metadata] = await anchored(id)

    const { status, body } = await verified(metadata)

    expect({ status, body }).toMatchObject({ status: 200, body: { final: true, public: null } })
    expect(body.proof.parts).toHaveLength(1)
    const text = JSON.stringify(body)
    for (const hidden of [id, cid]) expect(text).not.toContain(hidden)
  })

  test('tells of a vault that is gone the anchor alone', async () => {
    const id = await newVault(true)
    const [cid] = await anchored(id)
    await service.api.withKey('DELETE', `/vaults/${id}`)

    const { status, body } = await verified(cid)

    expect({ status, body }).toMatchObject({ status: 200, body: { final: true, public: null } })
    expect(JSON.stringify(body)).not.toContain(id)
  })

  test('says what is known before it is on the ledger, and that this shows nothing', async () => {
    const cid = cidOf(randomUUID())
    await rows.plan([cid], { resourceId: randomUUID() })

    expect(await verified(cid)).toMatchObject({
      status: 200,
      body: {
        status: 'METADATA_STORED',
        final: false,
        tx_hash: null,
        block_time: null,
        shows: [expect.stringMatching(/^Nothing yet/)],
        proof: { final: false, block: null },
      },
    })
  })

  test('finds the middle of a batch of a thousand in time', async () => {
    const cids = Array.from({ length: 1_000 }, () => cidOf(randomUUID()))
    const ids: string[] = []
    for (const cid of cids) ids.push(await rows.plan([cid], { resourceId: randomUUID() }))
    await rows.move(ids, 'completed', { hash: randomUUID(), inclusion: inclusionAt(1) })

    const { body } = await verified(cids[500] ?? '')

    expect(body).toMatchObject({ final: true, proof: { path: { index: 500, size: 1_000 } } })
  })

  test('is 404 for a CID that nobody has anchored', async () => {
    expect(await verified(cidOf('nobody has it'))).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
  })

  test.each([
    ['no CID', 'hello'],
    ['nothing', '%20'],
    ['one of version 0', 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKkyBq'],
    ['another codec', 'bafyreigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'],
    [
      'another hash',
      'bafkrgqhhyivzstcz3hhswshfjgy6ertgmnqeleynhwt4dlfsthi4hn7zgh4uvlsb5xncykzapi3ocd4lzogukir6ksdy6wzrnz6ohnv4aglcs',
    ],
    ['another base', `z${'2'.repeat(48)}`],
    ['an id', randomUUID()],
    ['a NUL', '%00'],
  ])('is 400 for %s', async (_, text) => {
    const response = await fetch(`${service.process.http}/verify/${text}`)

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
  })
})

test('an address that asks too often is told when to come back', async () => {
  const { http } = await services.start(services.newFolder())
  const ask = async () => await fetch(`${http}/verify/${cidOf('nobody has it')}`)
  const statuses = new Set<number>()
  let last = await ask()
  for (let asked = 1; asked < verificationRate.burst * 3 && last.status === 404; asked++) {
    last = await ask()
    statuses.add(last.status)
  }

  expect(last.status).toBe(429)
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await last.json()).toMatchObject({ error: 'rate_limited' })
})

test('the public keys of the ledger need no credentials', async () => {
  const response = await fetch(`${service.process.http}/.well-known/ledger-keys.json`)

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ keys: expect.any(Array) })
})
