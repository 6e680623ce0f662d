import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { newAssetStream, templateFor } from '../support/asset-streams.ts'
import { assetsPathOf } from '../support/issued-assets.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Anchored {
  readonly id: string
  readonly status: string
  readonly cid: string
  readonly metadata_cid: string
}

const base64Of16Bytes = /^[\w+/]{22}==$/

async function newVault(owner: Person, body: object = {}): Promise<Anchored> {
  const template_id = await templateFor(owner)
  const wanted = { template_id, name: 'boiler 7', ...body }
  const answer = await owner.withKey<Anchored>('POST', '/vaults', wanted)
  expect(answer.status).toBe(201)
  return answer.body
}

/** Bytes as they come, with their headers. */
async function load(owner: Person, path: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${await owner.token()}`
  const answer = await fetch(service.api.base + path, { headers: { authorization, ...headers } })
  return { answer, text: await answer.text() }
}

async function metadataOf(owner: Person, path: string) {
  const { text } = await load(owner, `${path}/metadata`)
  return { cid: cidOf(text), metadata: JSON.parse(text) as Readonly<Record<string, unknown>> }
}

describe('GET /vaults/{vault_id}/metadata', () => {
  test('answers the bytes that the CID is of, in the order of their keys', async () => {
    const ada = await newPerson(service.api)
    const gold = await newAssetStream(ada, 'GOLD')
    const template_id = await templateFor(ada, 'GOLD')
    const payload = '{"/": "x", "hall": 3}'
    const vault = await newVault(ada, { template_id, description: 'd', json_payload: payload })

    const { answer, text } = await load(ada, `/vaults/${vault.id}/metadata`)

    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/vnd.ipld.dag-json')
    expect(answer.headers.get('etag')).toBe(`"${vault.metadata_cid}"`)
    expect(cidOf(text)).toBe(vault.metadata_cid)
    const metadata = JSON.parse(text) as Readonly<Record<string, unknown>>
    expect(Object.keys(metadata)).toEqual(Object.keys(metadata).toSorted())
    const template = await metadataOf(ada, `/templates/${template_id}`)
    expect(metadata).toMatchObject({
      format: 'streamvault-metadata-1',
      type: 'vault',
      name: 'boiler 7',
      description: 'd',
      template: template_id,
      template_metadata_cid: template.cid,
      payload,
      payload_sha256: createHash('sha256').update(payload).digest('hex'),
      default_image: null,
      streams: [gold['metadata_cid']],
    })
    expect(metadata).not.toHaveProperty('salt')
  })

  test('says again what was there when it was made, whatever is changed later', async () => {
    const ada = await newPerson(service.api)
    const vault = await newVault(ada)
    const path = `/vaults/${vault.id}`
    const before = await load(ada, `${path}/metadata`)
    await ada.withKey('PUT', path, { name: 'another', public: false })

    expect((await load(ada, `${path}/metadata`)).text).toBe(before.text)
    const { body } = await ada.withKey<Anchored>('GET', path)
    expect([body.metadata_cid, body.cid]).toEqual([vault.metadata_cid, vault.cid])
  })

  test('answers a part, and nothing to whom it is known', async () => {
    const ada = await newPerson(service.api)
    const vault = await newVault(ada)
    const path = `/vaults/${vault.id}/metadata`
    const { text } = await load(ada, path)

    const part = await load(ada, path, { range: 'bytes=2-5' })
    expect([part.answer.status, part.text]).toEqual([206, text.slice(2, 6)])
    const known = await load(ada, path, { 'if-none-match': `"${vault.metadata_cid}"` })
    expect([known.answer.status, known.text]).toEqual([304, ''])
    expect((await load(ada, path, { range: 'bytes=99999-' })).answer.status).toBe(416)
  })

  test('of a private vault has bytes that nobody guesses, and is for its owner only', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const { id } = await newVault(ada, { public: false })
    const open = await newVault(ada)

    expect((await metadataOf(ada, `/vaults/${id}`)).metadata['salt']).toMatch(base64Of16Bytes)
    expect((await load(bob, `/vaults/${id}/metadata`)).answer.status).toBe(404)
    expect((await load(bob, `/vaults/${open.id}/metadata`)).answer.status).toBe(200)
  })

  test.each([
    ['a payload that looks like a link', { json_payload: '{"/": "x"}' }],
    ['a payload of 65,536 characters', { json_payload: '\u0001'.repeat(65_536) }],
    ['a payload of as many characters of four bytes', { json_payload: '\u{1f9ca}'.repeat(32_768) }],
    ['a description beyond ASCII', { description: '\u00e9\u{1f9ca}\u2028' }],
  ])('has %s as it was sent', async (_, wanted) => {
    const ada = await newPerson(service.api)
    const vault = await newVault(ada, wanted)

    const { cid, metadata } = await metadataOf(ada, `/vaults/${vault.id}`)

    expect(cid).toBe(vault.metadata_cid)
    expect(metadata['payload'] ?? metadata['description']).toBe(Object.values(wanted)[0])
  })
})

describe('text that no metadata can have', () => {
  test.each([
    ['a half of a surrogate pair', '\\ud800'],
    ['U+0000', '\\u0000'],
  ])('is refused at POST: %s', async (_, escaped) => {
    const ada = await newPerson(service.api)
    const template_id = await templateFor(ada)
    const vault = (field: string) =>
      `{"template_id":"${template_id}","name":"b","${field}":"${escaped}"}`
    const bodies = [
      ['/vaults', vault('name').replace('"name":"b",', '')],
      ['/vaults', vault('description')],
      ['/vaults', vault('json_payload')],
      ['/streams', `{"asset_code":"GOLD","description":"${escaped}"}`],
      ['/templates', `{"name":"b","hint":"${escaped}","required_streams":[]}`],
      ['/templates', `{"name":"b","hint":"","required_streams":["${escaped}"]}`],
      ['/templates', `{"name":"b","hint":"","author":"${escaped}","required_streams":[]}`],
    ] as const
    for (const [path, body] of bodies) {
      expect([path, body, (await ada.withKey('POST', path, body)).status]).toEqual([
        path,
        body,
        400,
      ])
    }
  })
})

describe('GET /streams/{stream_id}/metadata', () => {
  test('answers those of an asset stream, with a key and with a token', async () => {
    const ada = await newPerson(service.api)
    const gold = await newAssetStream(ada, 'GOLD', 'bars')
    const path = `/streams/${gold.id}`

    const { cid, metadata } = await metadataOf(ada, path)

    expect(cid).toBe(gold['metadata_cid'])
    expect(metadata).toMatchObject({
      type: 'asset_stream',
      asset_code: 'GOLD',
      description: 'bars',
    })
    expect(metadata['salt']).toMatch(base64Of16Bytes)
    expect((await ada.withKey('GET', `${path}/metadata`)).status).toBe(200)
  })

  test('knows no data stream', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)

    for (const of of ['metadata', 'proof']) {
      const answer = await ada.withToken<ErrorBody>('GET', `/streams/${streamId}/${of}`)
      expect([answer.status, answer.body.error]).toEqual([404, 'not_found'])
    }
    expect((await ada.withToken('POST', `/streams/${streamId}/retry`)).status).toBe(404)
  })
})

test('the metadata of a private template cannot be guessed, and stay what they are', async () => {
  const ada = await newPerson(service.api)
  const wanted = { name: 'boiler', hint: 'h', required_streams: ['GOLD'], author: 'ada' }
  const { body } = await ada.withKey<{ id: string }>('POST', '/templates', wanted)
  const path = `/templates/${body.id}`
  const before = await metadataOf(ada, path)

  await ada.withKey('PUT', path, { name: 'another' })

  const { salt, ...rest } = before.metadata
  expect(salt).toMatch(base64Of16Bytes)
  expect(rest).toMatchObject({ type: 'template', name: 'boiler', hint: 'h', author: 'ada' })
  expect(rest['required_streams']).toEqual(['GOLD'])
  expect(await metadataOf(ada, path)).toEqual(before)
})

describe('GET /streams/{stream_id}/assets/{asset_id}/metadata', () => {
  test('says what is issued, of which record, and nothing that somebody could guess', async () => {
    const ada = await newPerson(service.api)
    const path = await assetsPathOf(service.process, ada)
    const stream = (await ada.withKey<Anchored>('GET', path.replace('/assets', ''))).body
    const body = { supply: '21000000', precision: 6 }
    const { id } = (await ada.withKey<Anchored>('POST', path, body)).body

    const { cid, metadata } = await metadataOf(ada, `${path}/${id}`)

    expect(metadata).toMatchObject({
      type: 'asset',
      stream_id: stream.id,
      asset_stream: stream.metadata_cid,
      supply: '21000000',
      precision: '6',
      salt: expect.stringMatching(base64Of16Bytes) as string,
    })
    const proof = await ada.withKey<{ readonly cid: string }>('GET', `${path}/${id}/proof`)
    expect(proof.body.cid).toBe(cid)
  })
})
