import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { newAssetStream, templateFor } from '../support/asset-streams.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { StateBeside } from '../support/state-beside.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const service = runningService()

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

interface Proof {
  readonly final: boolean
  readonly cid: string
  readonly parts: readonly { readonly name: string; readonly cid: string; readonly path: null }[]
}

interface Anchored {
  readonly id: string
  readonly status: string
  readonly cid: string
  readonly metadata_cid: string
  readonly image_cid: string
  readonly failure: object | null
  readonly progress: readonly { readonly step: number; readonly status: string }[]
}

async function proofOf(owner: Person, path: string, search = '') {
  return (await owner.withKey<Proof>('GET', `${path}/proof${search}`)).body
}

async function read(owner: Person, path: string): Promise<Anchored> {
  return (await owner.withKey<Anchored>('GET', path)).body
}

async function attachmentWithFile(owner: Person): Promise<string> {
  const { id, presigned_url: url } = await attachmentOf(owner)
  await upload(service.api, url, 'hello')
  return `/attachments/${id}`
}

describe('a proof', () => {
  test('of a vault tells of each CID that is to be anchored, and that it is not final', async () => {
    const ada = await newPerson(service.api)
    const wanted = { template_id: await templateFor(ada), name: 'b', json_payload: '{"hall":3}' }
    const vault = (await ada.withKey<Anchored>('POST', '/vaults', wanted)).body

    const proof = await proofOf(ada, `/vaults/${vault.id}`)

    expect(proof).toMatchObject({
      format: 'streamvault-proof-1',
      final: false,
      status: 'METADATA_STORED',
      cid: vault.cid,
      path: null,
      root: null,
      ledger: 'XRPL',
      network: 'sandbox',
      tx_hash: null,
      transaction: null,
      block: null,
      signatures: [],
    })
    expect(proof.parts).toEqual([
      { name: '', cid: vault.cid, path: null },
      { name: 'metadata.json', cid: vault.metadata_cid, path: null },
      { name: 'payload.json', cid: cidOf('{"hall":3}'), path: null },
    ])
    const of = await proofOf(ada, `/vaults/${vault.id}`, `?cid=${vault.metadata_cid}`)
    expect([of.cid, of.parts[0]?.name]).toEqual([vault.metadata_cid, 'metadata.json'])
  })

  test('of an image that came later is had by its CID', async () => {
    const ada = await newPerson(service.api)
    const id = await vaultOf(ada)
    const { body } = await ada.withKey<{ image_upload_url: string }>('GET', `/vaults/${id}`)
    await upload(service.api, body.image_upload_url, gif)
    const { image_cid: image } = await read(ada, `/vaults/${id}`)

    const proof = await proofOf(ada, `/vaults/${id}`, `?cid=${image}`)

    expect(image).toBe(cidOf(gif))
    expect(proof).toMatchObject({ cid: image, parts: [{ name: 'image', cid: image }] })
  })

  test('of an asset stream and of an attachment is of what is anchored of them', async () => {
    const ada = await newPerson(service.api)
    const gold = await newAssetStream(ada, 'GOLD')

    expect((await proofOf(ada, `/streams/${gold.id}`)).cid).toBe(gold['metadata_cid'])
    expect((await proofOf(ada, await attachmentWithFile(ada))).cid).toBe(cidOf('hello'))
  })

  test('of what has no content yet is 409', async () => {
    const ada = await newPerson(service.api)
    const { id } = await attachmentOf(ada)

    const { status, body } = await ada.withKey<ErrorBody>('GET', `/attachments/${id}/proof`)
    expect([status, body.error]).toEqual([409, 'conflict'])
  })

  test.each([
    ['unknown', cidOf('unknown'), 404],
    ['none', 'boiler', 400],
    ['of another version', 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKbHZV', 400],
    ['empty', '', 400],
  ])('by a CID that is %s is refused', async (_, cid, expected) => {
    const ada = await newPerson(service.api)
    const { status } = await ada.withKey('GET', `/vaults/${await vaultOf(ada)}/proof?cid=${cid}`)
    expect(status).toBe(expected)
  })
})

/** Has what waits given up on, as a ledger that is away for a day does. */
async function givenUp(table: 'asset_streams' | 'attachments' | 'vaults', id: string) {
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const failure = '{"error":"ledger_unreachable","message":"it does not answer"}'
  const now = await state
    .selectFrom(table)
    .select('progress')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const progress = JSON.stringify([...(JSON.parse(now.progress) as unknown[]), ['ERROR', 7]])
  await beside.commit(
    state.updateTable(table).set({ status: 'ERROR', failure, progress }).where('id', '=', id),
    state
      .updateTable('anchors')
      .set({ state: 'error', failure, begun_at: 0 })
      .where('resource_id', '=', id),
  )
}

async function anchorOf(id: string) {
  await using beside = await StateBeside.open(service.process)
  return await beside.state
    .selectFrom('anchors')
    .select(['state', 'failure', 'begun_at'])
    .where('resource_id', '=', id)
    .executeTakeFirst()
}

const retryables = [
  ['vaults', 'vaults', async (owner: Person) => `/vaults/${await vaultOf(owner)}`],
  [
    'streams',
    'asset_streams',
    async (owner: Person) => `/streams/${(await newAssetStream(owner, 'GOLD')).id}`,
  ],
  ['attachments', 'attachments', attachmentWithFile],
] as const

describe.each(retryables)('POST /%s/{id}/retry', (_, table, made) => {
  test('goes on from where it stopped, once', async () => {
    const ada = await newPerson(service.api)
    const path = await made(ada)
    const id = path.split('/').at(-1) ?? ''
    await givenUp(table, id)
    expect(await read(ada, path)).toMatchObject({
      status: 'ERROR',
      failure: { error: 'ledger_unreachable' },
    })

    const retried = await ada.withKey<Anchored>('POST', `${path}/retry`)

    expect([retried.status, retried.body.status]).toEqual([202, 'METADATA_STORED'])
    const shown = await read(ada, path)
    expect(shown).toMatchObject({ status: 'METADATA_STORED', failure: null })
    expect(shown.progress.at(-1)?.status).toBe('ERROR')
    expect(await anchorOf(id)).toEqual({
      state: 'waiting',
      failure: null,
      begun_at: expect.any(Number) as number,
    })
    expect((await anchorOf(id))?.begun_at).toBeGreaterThan(0)
    const again = await ada.withKey<ErrorBody>('POST', `${path}/retry`)
    expect([again.status, again.body.error]).toEqual([409, 'conflict'])
  })

  test('answers 409 for anything but ERROR, and 404 for what somebody else has', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const path = await made(ada)
    if (table === 'vaults') await ada.withKey('PUT', path, { public: false })

    const own = await ada.withKey<ErrorBody>('POST', `${path}/retry`)
    expect([own.status, own.body.error]).toEqual([409, 'conflict'])
    expect((await bob.withKey('POST', `${path}/retry`)).status).toBe(404)
    expect((await bob.withKey('GET', `${path}/proof`)).status).toBe(404)
  })
})

test('what is deleted before it is signed is not anchored, and deleted once', async () => {
  const ada = await newPerson(service.api)
  for (const [, , made] of retryables) {
    const path = await made(ada)
    const id = path.split('/').at(-1) ?? ''

    expect((await ada.withKey('DELETE', path)).status).toBe(204)
    expect(await anchorOf(id)).toBeUndefined()
    expect((await ada.withKey('DELETE', path)).status).toBe(404)
  }
})
