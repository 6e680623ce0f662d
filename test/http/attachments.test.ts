import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import {
  assetStreamOf,
  attachmentAsItIs,
  attachmentOf,
  newAssetCode,
  type ShownAttachment,
  upload,
} from '../support/uploads.ts'

const service = runningService()

const unknownId = '00000000-0000-4000-8000-000000000000'

interface Page {
  readonly total_records: number
  readonly content: readonly ShownAttachment[]
}

/** The 16 fields of the specification, and the one beside them. */
const fields = [
  'created_at',
  'description',
  'failure',
  'file_count',
  'filename',
  'files',
  'id',
  'ledger',
  'name',
  'presigned_url',
  'progress',
  'size',
  'status',
  'stream',
  'stream_id',
  'tx_hash',
  'upload_as_zip',
]

/** As any tool of IPFS works it out (profile unixfs-v1-2025). */
const helloCid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
const helloSha256 = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'

function create(body: object) {
  return service.api.withKey<ShownAttachment & { error: string; details: { path: string }[] }>(
    'POST',
    '/attachments',
    body,
  )
}

describe('an attachment', () => {
  test('is received, with every field of the specification', async () => {
    const code = newAssetCode()
    const streamId = await assetStreamOf(service.api, code)

    const { status, body } = await create({
      name: 'report',
      description: 'of spring',
      stream_id: streamId,
      ledger: 'POLYGON_POS',
      filename: 'report.pdf',
    })

    expect(status).toBe(201)
    expect(Object.keys(body).toSorted()).toEqual(fields)
    expect(body).toMatchObject({
      name: 'report',
      description: 'of spring',
      ledger: 'POLYGON_POS',
      status: 'SERVICE_RECEIVED',
      stream_id: streamId,
      filename: 'report.pdf',
      tx_hash: '',
      upload_as_zip: false,
      size: 0,
      file_count: 0,
      files: [],
      failure: null,
      stream: { id: streamId, asset_code: code, ledger: 'XRPL' },
    })
    expect(body.progress).toMatchObject([{ step: 1, status: 'SERVICE_RECEIVED' }])
  })

  test('waits for its file, and has a fresh address for it', async () => {
    const { id } = await attachmentOf(service.api)

    const body = await attachmentAsItIs(service.api, id)

    expect(body.status).toBe('UPLOAD_PENDING')
    expect(body.progress.map(({ step, status }) => [step, status])).toEqual([
      [1, 'SERVICE_RECEIVED'],
      [2, 'UPLOAD_PENDING'],
    ])
    expect(body.presigned_url).toMatch(/\/uploads\/attachment\./)
  })

  test('has its file, with the CID that any tool works out, once that was uploaded', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api, { filename: 'hello.txt' })

    const taken = await upload(service.api, url, 'hello world')

    expect(taken.status).toBe(200)
    expect(taken.body).toEqual({
      cid: helloCid,
      sha256: helloSha256,
      media_type: 'text/plain',
      size: 11,
      file_count: 1,
    })
    const body = await attachmentAsItIs(service.api, id)
    expect(body).toMatchObject({
      status: 'METADATA_STORED',
      presigned_url: '',
      size: 11,
      file_count: 1,
      files: [
        {
          name: 'hello.txt',
          size: 11,
          media_type: 'text/plain',
          cid: helloCid,
          sha256: helloSha256,
        },
      ],
    })
    expect(body.progress.map(({ step, status }) => [step, status])).toEqual([
      [1, 'SERVICE_RECEIVED'],
      [2, 'UPLOAD_PENDING'],
      [3, 'METADATA_STORED'],
    ])
  })

  test('may have an empty file', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)

    await upload(service.api, url, '')

    const { files } = await attachmentAsItIs(service.api, id)
    expect(files[0]?.cid).toBe('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')
  })

  test('is made once under an Idempotency-Key, with one address', async () => {
    const { withKey, userId } = await newPerson(service.api)
    const body = {
      name: 'report',
      stream_id: await assetStreamOf({ withKey }),
      ledger: 'XRPL',
    }
    const headers = { 'idempotency-key': 'k' }

    const first = await withKey<ShownAttachment>('POST', '/attachments', body, headers)
    const second = await withKey<ShownAttachment>('POST', '/attachments', body, headers)

    expect(userId).toBeTypeOf('string')
    expect(second.body).toEqual(first.body)
    const list = await withKey<Page>('GET', '/attachments')
    expect(list.body.total_records).toBe(1)
  })

  test('is gone with its file when it is deleted', async () => {
    const { id, presigned_url: url } = await attachmentOf(service.api)
    await upload(service.api, url, 'soon gone')

    const { status } = await service.api.withKey('DELETE', `/attachments/${id}`)

    expect(status).toBe(204)
    expect((await service.api.withKey('GET', `/attachments/${id}`)).status).toBe(404)
    expect((await service.api.withKey('GET', `/attachments/${id}/content`)).status).toBe(404)
  })
})

describe('lists of attachments', () => {
  test("are one's own, and those of one asset stream by its code or id", async () => {
    const owner = await newPerson(service.api)
    const code = newAssetCode()
    const streamId = await assetStreamOf(owner, code)
    const first = await attachmentOf(owner, { stream_id: streamId, name: 'first' })
    const second = await attachmentOf(owner, { stream_id: streamId, name: 'second' })
    const other = await attachmentOf(owner, { name: 'other' })

    const all = await owner.withKey<Page>('GET', '/attachments')
    const byCode = await owner.withKey<Page>('GET', `/streams/${code}/attachments`)
    const byId = await owner.withKey<Page>('GET', `/streams/${streamId}/attachments`)

    const idsOf = ({ body }: { body: Page }) => body.content.map(({ id }) => id)
    expect(idsOf(all)).toEqual([first.id, second.id, other.id])
    expect(all.body.total_records).toBe(3)
    expect(idsOf(byCode)).toEqual([first.id, second.id])
    expect(byId.body).toMatchObject({ total_records: 2 })
    expect(all.body.content[0]?.presigned_url).toMatch(/\/uploads\//)
  })

  test.each([
    ['of a code that nobody has', 'NOBODY'],
    ['of an id that nothing has', unknownId],
    ['of a code that is too long', 'C'.repeat(300)],
  ])('are not there %s', async (_, code) => {
    expect((await service.api.withKey('GET', `/streams/${code}/attachments`)).status).toBe(404)
  })

  test('are not there of the asset stream of somebody else', async () => {
    const other = await newPerson(service.api)
    const code = newAssetCode()
    const id = await assetStreamOf(other, code)

    const answers = await Promise.all(
      [code, id].map((name) => service.api.withKey('GET', `/streams/${name}/attachments`)),
    )

    expect(answers.map(({ status }) => status)).toEqual([404, 404])
  })
})

async function wanted() {
  return { name: 'report', stream_id: await assetStreamOf(service.api), ledger: 'XRPL' }
}

describe('an attachment is not made', () => {
  test.each([
    ['an unknown stream', { stream_id: unknownId }],
    ['a stream id that is no uuid', { stream_id: 'x' }],
  ])('for %s', async (_, change) => {
    const { status, body } = await create({ ...(await wanted()), ...change })

    expect([status, body.error]).toEqual([404, 'not_found'])
  })

  test('for the stream of somebody else', async () => {
    const streamId = await assetStreamOf(await newPerson(service.api))

    const { status } = await create({ ...(await wanted()), stream_id: streamId })

    expect(status).toBe(404)
  })

  test.each([
    ['name', { name: '' }],
    ['name', { name: 7 }],
    ['ledger', { ledger: 'BITCOIN' }],
    ['filename', { filename: '' }],
    ['filename', { filename: 'a/b' }],
    ['filename', { filename: 'a\\b' }],
    ['filename', { filename: 'a\u0007b' }],
    ['filename', { filename: 'a\u0085b' }],
    ['filename', { filename: '..' }],
    ['filename', { filename: 'x'.repeat(256) }],
    ['filename', { filename: 'é'.repeat(128) }],
    ['upload_as_zip', { upload_as_zip: 'yes' }],
    ['colour', { colour: 'red' }],
  ])('with a bad %s: %o', async (path, change) => {
    const { status, body } = await create({ ...(await wanted()), ...change })

    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(JSON.stringify(body)).toContain(path)
  })

  test.each(['name', 'stream_id', 'ledger'])('without %s', async (field) => {
    const { [field]: _, ...rest } = { ...(await wanted()) } as Record<string, unknown>

    const { status, body } = await create(rest)

    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(field)
  })
})
