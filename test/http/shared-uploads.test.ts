import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { revoke, share } from '../support/granted.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { assetStreamOf, attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'
import { vaultOf } from '../support/vault-of.ts'

const service = runningService()
let owner: Person
let holder: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
  holder = await newPerson(service.api)
})

const refused = { error: 'upload_refused', statusCode: 403 }
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** An asset stream that the holder may write to, and the path of the permission. */
async function sharedStream() {
  const id = await assetStreamOf(owner)
  return { id, permission: await share(owner, holder, { kind: 'streams', id }, 'WRITE') }
}

/** A vault that the holder may write to, with the address for its image that the holder is given. */
async function sharedVault() {
  const id = await vaultOf(owner, { public: false })
  const permission = await share(owner, holder, { kind: 'vaults', id }, 'WRITE')
  const { body } = await holder.withKey<ShownVault>('GET', `/vaults/${id}`)
  return { id, permission, url: body.image_upload_url }
}

interface ShownVault {
  readonly image_upload_url: string
  readonly image_cid: string
}

/** What has arrived, or is about to, and is not looked at. */
function staged(): readonly string[] {
  return readdirSync(join(service.process.dataDir, 'files', 'staged'), {
    recursive: true,
  }) as string[]
}

describe('a permission to WRITE', () => {
  test('lets its holder attach a file, which is of the owner', async () => {
    const { id } = await sharedStream()
    const attachment = await attachmentOf(holder, { stream_id: id })

    const { status } = await upload(service.api, attachment.presigned_url, 'hello')

    expect(status).toBe(200)
    expect(await attachmentAsItIs(owner, attachment.id)).toMatchObject({ size: 5, stream_id: id })
    expect((await owner.withKey('DELETE', `/attachments/${attachment.id}`)).status).toBe(204)
  })

  test('lets its holder give a vault an image', async () => {
    const { id, url } = await sharedVault()

    expect((await upload(service.api, url, gif)).status).toBe(200)

    expect((await owner.withKey<ShownVault>('GET', `/vaults/${id}`)).body.image_cid).not.toBe('')
  })

  test('gives an address that is none of the owner, and none of anybody else', async () => {
    const { id } = await sharedStream()
    const { id: attachmentId, presigned_url: url } = await attachmentOf(holder, { stream_id: id })
    const { presigned_url: ofOwner } = await attachmentAsItIs(owner, attachmentId)

    for (const changed of [
      url.replace(`.${holder.userId}`, ''),
      url.replace(holder.userId, owner.userId),
      ofOwner.replace('?', `.${holder.userId}?`),
    ]) {
      expect(await upload(service.api, changed, 'hello')).toMatchObject({
        status: 403,
        body: refused,
      })
    }
    expect(ofOwner).toContain(`/uploads/attachment.${attachmentId}.1?`)
    expect((await upload(service.api, ofOwner, 'hello')).status).toBe(200)
  })

  test('gives an address of its own in a list, too', async () => {
    const { id } = await sharedStream()
    const { id: attachmentId } = await attachmentOf(owner, { stream_id: id })
    const { body } = await holder.withKey<{ content: readonly { presigned_url: string }[] }>(
      'GET',
      `/streams/${id}/attachments`,
    )

    expect(body.content.map(({ presigned_url: url }) => url !== '')).toEqual([true])
    expect((await attachmentAsItIs(holder, attachmentId)).presigned_url).toContain(holder.userId)
  })
})

describe('a permission to READ', () => {
  test('gives no address, in a list neither', async () => {
    const reader = await newPerson(service.api)
    const id = await assetStreamOf(owner)
    const vault = await vaultOf(owner, { public: false })
    await share(owner, reader, { kind: 'streams', id }, 'READ')
    await share(owner, reader, { kind: 'vaults', id: vault }, 'READ')
    await attachmentOf(owner, { stream_id: id })

    for (const path of [
      '/vaults',
      `/vaults/${vault}`,
      '/attachments',
      `/streams/${id}/attachments`,
    ]) {
      const { status, body } = await reader.withKey('GET', path)
      expect([path, status, JSON.stringify(body).includes('/uploads/')]).toEqual([path, 200, false])
    }
  })
})

describe('an address of a holder', () => {
  test.each(['attachment', 'image'])(
    'is refused once the permission is revoked: %s',
    async (of) => {
      const { permission, url } = of === 'image' ? await sharedVault() : await addressed()
      await revoke(owner, permission)

      expect(await upload(service.api, url, gif)).toMatchObject({ status: 403, body: refused })
    },
  )

  test('is refused once the permission is one to READ', async () => {
    const { permission, url } = await addressed()
    await owner.withKey('PUT', permission, { role: 'READ' })

    expect(await upload(service.api, url, 'hello')).toMatchObject({ status: 403, body: refused })
  })

  test.each(['attachment', 'image'])(
    'has bytes refused that are on their way when the permission is revoked: %s',
    async (of) => {
      const { id, permission, url } = of === 'image' ? await sharedVault() : await addressed()

      const { status, body } = await upload(
        service.api,
        url,
        paused(gif, async () => {
          await expect.poll(() => staged().length).toBe(1)
          await revoke(owner, permission)
        }),
      )

      expect([status, body]).toMatchObject([403, refused])
      const path = of === 'image' ? `/vaults/${id}` : `/attachments/${id}`
      expect((await owner.withKey('GET', path)).body).toMatchObject(
        of === 'image' ? { image_cid: '' } : { status: 'UPLOAD_PENDING', size: 0 },
      )
      await expect.poll(staged).toEqual([])
    },
  )
})

async function addressed() {
  const { id: streamId, permission } = await sharedStream()
  const { id, presigned_url: url } = await attachmentOf(holder, { stream_id: streamId })
  return { id, permission, url }
}

/** Bytes that stop in the middle until something else was done. */
function paused(bytes: Buffer, meanwhile: () => Promise<void>): ReadableStream<Uint8Array> {
  const half = bytes.length >> 1
  async function* pieces() {
    yield bytes.subarray(0, half)
    await meanwhile()
    yield bytes.subarray(half)
  }
  return ReadableStream.from(pieces())
}
