import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Page } from '../support/asset-streams.ts'
import { revoke, share } from '../support/granted.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { assetStreamOf, attachmentOf, upload } from '../support/uploads.ts'
import { vaultOf } from '../support/vault-of.ts'

const service = runningService()
let owner: Person
let reader: Person
let writer: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
  reader = await newPerson(service.api)
  writer = await newPerson(service.api)
})

interface Thing {
  readonly id: string
}

async function sharedVault(rest: object = {}): Promise<string> {
  const id = await vaultOf(owner, { public: false, ...rest })
  await share(owner, reader, { kind: 'vaults', id }, 'READ')
  await share(owner, writer, { kind: 'vaults', id }, 'WRITE')
  return id
}

async function sharedStream(): Promise<string> {
  const id = await assetStreamOf(owner)
  await share(owner, reader, { kind: 'streams', id }, 'READ')
  await share(owner, writer, { kind: 'streams', id }, 'WRITE')
  return id
}

async function statusesOf(person: Person, paths: readonly string[]): Promise<readonly number[]> {
  const answers = paths.map(async (path) => (await person.withKey('GET', path)).status)
  return await Promise.all(answers)
}

describe('lists of somebody whom others let see something', () => {
  test('have it in both interfaces, among their own, with true totals', async () => {
    const ben = await newPerson(service.api)
    const first = await vaultOf(ben)
    const shared = await vaultOf(owner, { public: false, name: 'turbine' })
    const last = await vaultOf(ben)
    const path = await share(owner, ben, { kind: 'vaults', id: shared }, 'READ')
    const lists = async () => {
      const { body: page } = await ben.withKey<Page<Thing>>('GET', '/vaults?page=1&page_size=2')
      const { body: all } = await ben.withToken<readonly { vaultId: string }[]>('GET', '/vaults')
      const { body: found } = await ben.withToken<readonly object[]>('GET', '/vaults?contains=turb')
      const ids = page.content.map(({ id }) => id)
      return [ids, page.total_records, all.map(({ vaultId }) => vaultId), found.length]
    }

    expect(await lists()).toEqual([[first, shared], 3, [first, shared, last], 1])
    await revoke(owner, path)
    expect(await lists()).toEqual([[first, last], 2, [first, last], 0])
  })

  test('have asset streams, and what is attached to them', async () => {
    const ben = await newPerson(service.api)
    const id = await assetStreamOf(owner)
    const attachment = await attachmentOf(owner, { stream_id: id })
    const own = await attachmentOf(ben)
    const path = await share(owner, ben, { kind: 'streams', id }, 'READ')
    const lists = async () => {
      const answers = ['/streams', '/attachments', `/streams/${id}/attachments`].map(
        async (at) => (await ben.withKey<Partial<Page<Thing>>>('GET', at)).body,
      )
      const bodies = await Promise.all(answers)
      return bodies.map((body) => [body.total_records, body.content?.map((one) => one.id)])
    }

    expect(await lists()).toEqual([
      [2, [id, own.stream_id]],
      [2, [attachment.id, own.id]],
      [1, [attachment.id]],
    ])
    await revoke(owner, path)
    expect(await lists()).toEqual([
      [1, [own.stream_id]],
      [1, [own.id]],
      [undefined, undefined],
    ])
  })

  test('have nothing of what is shared with others', async () => {
    await sharedVault()
    const ben = await newPerson(service.api)

    const { body } = await ben.withKey<Page<Thing>>('GET', '/vaults')

    expect(body).toMatchObject({ total_records: 0, content: [] })
  })
})

describe('a permission to WRITE', () => {
  test('changes a vault, but not who sees it', async () => {
    const path = `/vaults/${await sharedVault()}`

    const renamed = await writer.withKey('PUT', path, { name: 'turbine', public: false })
    const shown = await writer.withKey<ErrorBody>('PUT', path, { public: true })

    expect(renamed).toMatchObject({ status: 200, body: { name: 'turbine', public: false } })
    expect(shown).toMatchObject({ status: 403, body: { error: 'insufficient_permissions' } })
    expect(await owner.withKey('GET', path)).toMatchObject({ body: { public: false } })
  })

  test('attaches files, and one to READ does not', async () => {
    const wanted = { name: 'report', stream_id: await sharedStream(), ledger: 'XRPL' }

    const attached = await writer.withKey<Thing>('POST', '/attachments', wanted)
    const refused = await reader.withKey('POST', '/attachments', wanted)

    expect([attached.status, refused.status]).toEqual([201, 403])
    const { body } = await owner.withKey<Page<Thing>>('GET', '/attachments?page_size=100')
    expect(body.content.map(({ id }) => id)).toContain(attached.body.id)
    expect(refused.body).toMatchObject({ error: 'insufficient_permissions' })
  })

  test('counts what it attaches among what its owner has', async () => {
    const ben = await newPerson(service.api)
    const id = await assetStreamOf(owner)
    const path = await share(owner, ben, { kind: 'streams', id }, 'WRITE')
    await attachmentOf(ben, { stream_id: id })
    await revoke(owner, path)

    expect((await ben.withKey<Page<Thing>>('GET', '/attachments')).body.total_records).toBe(0)
  })
})

describe('a vault that is shared', () => {
  test.each([
    ['POST', '/query', { fields: ['temperature'], aggregation: 'daily' }],
    ['POST', '/exports', { format: 'csv' }],
    [
      'POST',
      '/streams',
      { name: 'heat', type: 'iot_sensor', schema: { heat: { type: 'number' } } },
    ],
  ])('gives nobody its readings, nor data streams: %s %s', async (method, path, body) => {
    const vaultId = await sharedVault()

    for (const one of [reader, writer]) {
      const answer = await one.withToken<ErrorBody>(method, path, { ...body, vaultId })
      expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_permissions' } })
    }
  })

  test('shows everybody what it did while it is public, and whoever has a permission then', async () => {
    const ben = await newPerson(service.api)
    const id = await sharedVault({ public: true })
    const asked = () => Promise.all([ben, reader].map((one) => one.withKey('GET', `/vaults/${id}`)))

    expect((await asked()).map(({ status }) => status)).toEqual([200, 200])
    await owner.withKey('PUT', `/vaults/${id}`, { public: false })
    expect((await asked()).map(({ status }) => status)).toEqual([404, 200])
  })
})

describe('what is attached to an asset stream that is shared', () => {
  test('is had until the permission ends, in parts, too', async () => {
    const ben = await newPerson(service.api)
    const id = await assetStreamOf(owner)
    const attachment = await attachmentOf(owner, { stream_id: id })
    await upload(service.api, attachment.presigned_url, 'hello')
    const path = `/attachments/${attachment.id}`
    const paths = [path, `${path}/content`, `${path}/files/0`, `${path}/proof`]
    const permission = await share(owner, ben, { kind: 'streams', id }, 'READ')
    expect(await statusesOf(ben, paths)).toEqual([200, 200, 200, 200])

    await revoke(owner, permission)

    expect(await statusesOf(ben, paths)).toEqual([404, 404, 404, 404])
    const range = await ben.withKey('GET', `${path}/content`, undefined, { range: 'bytes=1-2' })
    expect(range.status).toBe(404)
  })

  test('needs a permission of its own, where a vault is shared that lists the asset stream', async () => {
    const ben = await newPerson(service.api)
    const code = 'LISTED'
    const id = await assetStreamOf(owner, code)
    const attachment = await attachmentOf(owner, { stream_id: id })
    const vault = await vaultOf(owner, { public: false }, [code])
    await share(owner, ben, { kind: 'vaults', id: vault }, 'WRITE')

    expect(await ben.withKey('GET', `/vaults/${vault}`)).toMatchObject({
      body: { streams: [{ id }] },
    })
    expect(await statusesOf(ben, [`/streams/${id}`, `/attachments/${attachment.id}`])).toEqual([
      404, 404,
    ])
  })
})
