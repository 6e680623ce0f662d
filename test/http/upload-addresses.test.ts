import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../support/api-client.ts'
import { createKey, newPerson, type Person, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { attachmentOf, upload } from '../support/uploads.ts'
import { zipArchive } from '../support/zip-archive.ts'

const service = runningService()

type Resource = Readonly<Record<string, unknown>> & { readonly id: string }

/** One of each, with its path and the fields that are addresses. */
async function resourcesOf(owner: Person) {
  const attachment = await attachmentOf(owner)
  const template = await owner.withKey<Resource>('POST', '/templates', {
    name: 'boiler',
    hint: '',
    required_streams: [],
  })
  const vault = await owner.withKey<Resource>('POST', '/vaults', {
    template_id: template.body.id,
    name: 'boiler 7',
  })
  return [
    [`/attachments/${attachment.id}`, 'presigned_url'],
    [`/templates/${template.body.id}`, 'upload_url'],
    [`/templates/${template.body.id}`, 'image_upload_url'],
    [`/vaults/${vault.body.id}`, 'image_upload_url'],
    [`/users/${owner.userId}`, 'image_upload_url'],
  ] as const
}

async function shownTo(
  caller: Person,
  resources: Awaited<ReturnType<typeof resourcesOf>>,
): Promise<readonly string[]> {
  const answers = resources.map(async ([path, field]) => {
    const { status, body } = await caller.withKey<Resource>('GET', path)
    expect([path, status]).toEqual([path, 200])
    return String(body[field])
  })
  return await Promise.all(answers)
}

async function withKeyOf(owner: Person, api: ApiClient, key: object): Promise<Person> {
  return personOf(api, await createKey(api, { userId: owner.userId, ...key }))
}

describe('addresses of uploads', () => {
  test('are shown to keys that may change what they are for', async () => {
    const owner = await newPerson(service.api)

    const addresses = await shownTo(owner, await resourcesOf(owner))

    for (const address of addresses) expect(address).toContain('/uploads/')
  })

  test('are shown to no key that only reads', async () => {
    const owner = await newPerson(service.api)
    const resources = await resourcesOf(owner)
    const reader = await withKeyOf(owner, service.api, { permission: 'read_only' })

    expect(await shownTo(reader, resources)).toEqual(['', '', '', '', ''])
    for (const path of ['/attachments', '/templates', '/vaults']) {
      const { status, body } = await reader.withKey('GET', path)
      expect([path, status, JSON.stringify(body).includes('/uploads/')]).toEqual([path, 200, false])
    }
  })

  test('are shown for attachments or for all else, as a key permits', async () => {
    const owner = await newPerson(service.api)
    const resources = await resourcesOf(owner)
    const scopes = ['attachments:read', 'attachments:write', 'vaults:read']
    const attaching = await withKeyOf(owner, service.api, { permission: 'custom', scopes })

    const [ofAttachment, ...others] = await shownTo(attaching, resources)

    expect(ofAttachment).toContain('/uploads/')
    expect(others).toEqual(['', '', '', ''])
  })

  test('end with their user', async () => {
    const owner = await newPerson(service.api)
    const addresses = await shownTo(owner, await resourcesOf(owner))
    await service.api.withKey('DELETE', `/users/${owner.userId}`)
    const file = Buffer.from(zipArchive([{ name: 'a', content: 'a' }]))

    const answers = await Promise.all(addresses.map((url) => upload(service.api, url, file)))

    expect(answers.map(({ body }) => body['error'])).toEqual(answers.map(() => 'upload_refused'))
  })
})
