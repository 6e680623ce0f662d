import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { reachable, upload } from '../support/uploads.ts'

const service = runningService()

/** The smallest PNG that there is, and another one. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'

type Resource = Readonly<Record<string, unknown>> & { readonly id: string }

async function newTemplate(body: object = {}): Promise<Resource> {
  const wanted = { name: 'boiler', hint: '', required_streams: [], ...body }
  return (await service.api.withKey<Resource>('POST', '/templates', wanted)).body
}

async function newVault(templateId: string): Promise<Resource> {
  const wanted = { template_id: templateId, name: 'boiler 7' }
  return (await service.api.withKey<Resource>('POST', '/vaults', wanted)).body
}

async function read(path: string): Promise<Resource> {
  return (await service.api.withKey<Resource>('GET', path)).body
}

async function bundle(): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new ZipFile()
  archive.addBuffer(Buffer.from('a'), 'a.txt')
  archive.addBuffer(Buffer.from('b'), 'plans/b.txt')
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

async function download(path: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${await service.api.token()}`
  return await fetch(service.api.base + path, { headers: { authorization, ...headers } })
}

describe('the bundle of a template', () => {
  test('completes it, and can be had again', async () => {
    const { id, status, upload_url: url } = await newTemplate()

    const taken = await upload(service.api, String(url), await bundle())

    expect(status).toBe('UPLOAD_PENDING')
    expect(taken.body).toMatchObject({ file_count: 2, size: 2 })
    expect(await read(`/templates/${id}`)).toMatchObject({
      status: 'COMPLETED',
      template_dir: taken.body['cid'],
      size: 2,
      upload_url: '',
    })
    const answer = await download(`/templates/${id}/bundle`)
    expect(answer.headers.get('content-type')).toBe('application/zip')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.length).toBe(Number(answer.headers.get('content-length')))
    const part = await download(`/templates/${id}/bundle`, { range: 'bytes=10-19' })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20))
    expect((await upload(service.api, String(url), await bundle())).status).toBe(403)
  })

  test('that is none is refused, and another one may come', async () => {
    const { id, upload_url: url } = await newTemplate()

    const { status, body } = await upload(service.api, String(url), 'no archive')

    expect([status, body['error']]).toEqual([422, 'file_rejected'])
    expect(await read(`/templates/${id}`)).toMatchObject({ status: 'UPLOAD_PENDING' })
    expect((await upload(service.api, String(url), await bundle())).status).toBe(200)
  })

  test('is not there before it is uploaded', async () => {
    const { id } = await newTemplate()

    expect((await download(`/templates/${id}/bundle`)).status).toBe(404)
    expect((await download(`/templates/${id}/image`)).status).toBe(404)
  })
})

describe('images', () => {
  test('of a template are those of the vaults that are made from it then', async () => {
    const template = await newTemplate()
    const before = await newVault(template.id)
    const first = await upload(service.api, String(template['image_upload_url']), png)
    const between = await newVault(template.id)
    const { image_upload_url: url, ...shown } = await read(`/templates/${template.id}`)
    const second = await upload(service.api, String(url), gif)

    expect(shown).toMatchObject({ default_image_cid: first.body['cid'] })
    expect(String(shown['default_image'])).toMatch(`/templates/${template.id}/image`)
    expect(before['default_image_cid']).toBe('')
    expect(between).toMatchObject({
      default_image_cid: first.body['cid'],
      image_cid: '',
      custom_image: false,
    })
    expect(await read(`/vaults/${between.id}`)).toMatchObject({
      default_image_cid: first.body['cid'],
    })
    const ofTemplate = await download(`/templates/${template.id}/image`)
    expect(ofTemplate.headers.get('etag')).toBe(`"${String(second.body['cid'])}"`)
    const ofVault = await download(`/vaults/${between.id}/image`)
    expect(ofVault.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await ofVault.arrayBuffer())).toEqual(png)
  })

  test('of a vault are its own, before that of its template, and can be replaced', async () => {
    const template = await newTemplate()
    await upload(service.api, String(template['image_upload_url']), png)
    const vault = await newVault(template.id)
    const url = String(vault['image_upload_url'])

    const { body: taken } = await upload(service.api, url, gif)

    const shown = await read(`/vaults/${vault.id}`)
    expect(shown).toMatchObject({ image_cid: taken['cid'], custom_image: true })
    expect(Buffer.from(await (await download(`/vaults/${vault.id}/image`)).arrayBuffer())).toEqual(
      gif,
    )
    expect((await upload(service.api, url, png)).status).toBe(403)
    expect((await upload(service.api, String(shown['image_upload_url']), png)).status).toBe(200)
  })

  test('of a user can be had by whoever has the address', async () => {
    const person = await newPerson(service.api)
    const { body: before } = await person.withKey<Resource>('GET', '/users')
    await upload(service.api, String(before['image_upload_url']), png)

    const { body: after } = await person.withKey<Resource>('GET', '/users')

    expect(before).toMatchObject({ user_profile_picture: false, image_download_url: '' })
    expect(after['user_profile_picture']).toBe(true)
    const url = reachable(service.api, String(after['image_download_url']))
    const answer = await fetch(url)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png)
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
    const changed = await fetch(url.replace(/expires=(\d+)/, 'expires=9$1'))
    expect([changed.status, await changed.json()]).toMatchObject([
      403,
      { error: 'download_refused' },
    ])
  })

  test.each([
    ['SVG', svg],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['text', 'no image'],
    ['nothing', ''],
    ['a PDF', '%PDF-1.7'],
  ])('are not %s', async (_, bytes) => {
    const { image_upload_url: url } = await newTemplate()

    const { status, body } = await upload(service.api, String(url), bytes)

    expect([status, body['error']]).toEqual([422, 'file_rejected'])
  })

  test('of more than 10 MiB are too large', async () => {
    const { image_upload_url: url } = await newTemplate()

    const { status } = await upload(service.api, String(url), Buffer.alloc(10 * 1024 * 1024 + 1))

    expect(status).toBe(413)
  })
})

describe('addresses of uploads', () => {
  test('are empty for others', async () => {
    const template = await newTemplate({ public: true })
    const vault = await newVault(template.id)
    const other = await newPerson(service.api)

    const ofTemplate = await other.withKey<Resource>('GET', `/templates/${template.id}`)
    const ofVault = await other.withKey<Resource>('GET', `/vaults/${vault.id}`)
    const listed = await other.withKey<{ content: Resource[] }>('GET', '/templates?public=true')
    const user = await service.api.withKey<Resource>('GET', `/users/${other.userId}`)

    expect(ofTemplate.body).toMatchObject({ upload_url: '', image_upload_url: '' })
    expect(ofVault.body).toMatchObject({ image_upload_url: '' })
    for (const one of listed.body.content) {
      expect(one).toMatchObject({ upload_url: '', image_upload_url: '' })
    }
    expect(user.body).toMatchObject({ image_upload_url: '', image_download_url: '' })
  })
})
