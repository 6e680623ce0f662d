import { DatabaseSync } from 'node:sqlite'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import {
  type AssetStream,
  newAssetStream,
  type Page,
  templateFor,
  vaultFrom,
} from '../support/asset-streams.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { asStored } from '../support/stored-resource.ts'

const service = runningService()

type Refused = AssetStream & ErrorBody

let ada: Person
let bob: Person

beforeAll(async () => {
  bob = await newPerson(service.api)
})

beforeEach(async () => {
  ada = await newPerson(service.api)
})

function create(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Refused>> {
  return ada.withKey('POST', '/streams', body, headers)
}

function query(statement: string, ...parameters: readonly string[]) {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  return state.prepare(statement).all(...parameters)
}

const unknownId = '00000000-0000-4000-8000-000000000000'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

describe('POST /streams with a key', () => {
  test('answers 201 with every field of the specification, and has its metadata', async () => {
    const { status, body } = await create({ asset_code: 'GOLD', description: 'bars' })

    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(uuid) as string,
      created_at: expect.stringMatching(instant) as string,
      asset_code: 'GOLD',
      description: 'bars',
      ledger: 'XRPL',
      tx_hash: '',
      status: 'SERVICE_RECEIVED',
      issuer: '',
      distribution_wallet: '',
      mapping: '',
      metadata_cid: expect.stringMatching(/^bafkrei[a-z2-7]{52}$/) as string,
      progress: [{ step: 1, status: 'SERVICE_RECEIVED', completed_at: body['created_at'] }],
      failure: null,
    })
  })

  test.each([
    'G',
    '~'.repeat(20),
    '!"#$%&\'()*+,-.',
    '0123456789:;<=>?@AZ',
    '[\\]^_`az{|}',
    'xrp',
    'XRPL',
    '...',
  ])('takes the code %s', async (code) => {
    const { status, body } = await create({ asset_code: code, description: null })

    expect([status, body['asset_code']]).toEqual([201, code])
  })

  test.each([
    ['an empty code', { asset_code: '' }],
    ['a code of 21 characters', { asset_code: 'x'.repeat(21) }],
    ['the code XRP', { asset_code: 'XRP' }],
    ['the code .', { asset_code: '.' }],
    ['the code ..', { asset_code: '..' }],
    ['a code with a slash', { asset_code: 'A/B' }],
    ['a code with a space', { asset_code: 'A B' }],
    ['a code with a line break at its end', { asset_code: 'AB\n' }],
    ['a code with DEL', { asset_code: 'A\u007f' }],
    ['a code beyond ASCII', { asset_code: '\u00c4' }],
    ['a code that is no text', { asset_code: 7 }],
    ['no code', { asset_code: undefined }],
  ])('refuses %s with 400, naming it', async (_, wrong) => {
    const { status, body } = await create({ description: null, ...wrong })

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path: 'asset_code' }] })
  })

  test.each([
    ['no description', {}, 'description', 'is required'],
    ['a description that is no text', { description: 7 }, 'description', 'must be string,null'],
    [
      'a description of 1,001 characters',
      { description: 'x'.repeat(1_001) },
      'description',
      'must NOT have more than 1000 characters',
    ],
    [
      'an unknown field',
      { description: null, issuer: 'me' },
      'issuer',
      'is not known to this operation',
    ],
  ])('refuses %s with 400, naming it and nothing else', async (_, wrong, path, message) => {
    const { status, body } = await create({ asset_code: 'GOLD', ...wrong })

    expect(status).toBe(400)
    expect(body.message).toBe('the body is not valid')
    expect(body.details).toEqual([{ path, message }])
  })

  test('refuses the definition of a data stream by what it says itself', async () => {
    const definition = { name: 'heat', vaultId: unknownId, type: 'iot_sensor', schema: {} }
    const { status, body } = await create(definition)

    expect(status).toBe(400)
    expect(body.details?.map(({ path }) => path).toSorted()).toEqual(
      ['asset_code', 'description', ...Object.keys(definition)].toSorted(),
    )
  })

  test('refuses a request without a body with 400', async () => {
    const { status, body } = await create(undefined)

    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test('refuses a code that one has already with 409, naming it, and takes one of somebody else', async () => {
    await newAssetStream(ada, 'GOLD')
    const again = await create({ asset_code: 'GOLD', description: null })
    const other = { asset_code: 'GOLD', description: null }

    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ error: 'conflict', details: [{ path: 'asset_code' }] })
    expect(again.body.message).toContain('GOLD')
    expect((await bob.withKey('POST', '/streams', other)).status).toBe(201)
    expect((await create({ asset_code: 'gold', description: null })).status).toBe(201)
  })

  test('makes one of fifty with the same code at once, and counts one', async () => {
    const asked = Array.from({ length: 50 }, () =>
      create({ asset_code: 'GOLD', description: null }),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)

    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(49)
    const { body } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
    expect([body.total_records, body.content.length]).toEqual([1, 1])
  })
})

describe('an Idempotency-Key', () => {
  const gold = { asset_code: 'GOLD', description: null }

  test('with a key and its secret gives the first answer again, and refuses another body with 422', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create(gold, headers)
    const again = await create(gold, headers)
    const other = await create({ ...gold, asset_code: 'IRON' }, headers)

    expect([first.status, again.status, other.status]).toEqual([201, 201, 422])
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(other.body.error).toBe('idempotency_conflict')
  })

  test('of one interface is another one in the other: neither gets the answer of the other', async () => {
    const headers = { 'idempotency-key': 'both' }
    const { id: vaultId } = await vaultFrom(ada, await templateFor(ada))
    const schema = { temperature: { type: 'number' } }
    const heat = { name: 'heat', vaultId, type: 'iot_sensor', schema }
    const asset = await create(gold, headers)
    const data = await ada.withToken<AssetStream>('POST', '/streams', heat, headers)
    const wrong = await ada.withToken<ErrorBody>('POST', '/streams', gold, {
      'idempotency-key': 'once more',
    })
    await create({ ...gold, asset_code: 'IRON' }, { 'idempotency-key': 'iron' })
    const taken = await ada.withToken<ErrorBody>(
      'POST',
      '/streams',
      { ...gold, asset_code: 'IRON' },
      { 'idempotency-key': 'iron' },
    )

    expect([asset.status, data.status]).toEqual([201, 201])
    expect(data.body['streamId']).toMatch(uuid)
    expect([wrong.status, taken.status]).toEqual([400, 400])
  })
})

/** The codes on a page of twelve asset streams. */
async function codesOf(search: string): Promise<readonly unknown[]> {
  const { body } = await ada.withKey<Page<AssetStream>>('GET', `/streams${search}`)
  expect(body.total_records).toBe(12)
  return body.content.map((one) => one['asset_code'])
}

describe('GET /streams', () => {
  test('with a key lists asset streams in an envelope, and with a token data streams in an array', async () => {
    const gold = await newAssetStream(ada, 'GOLD')
    const streamId = await streamOf(ada)

    const ofKey = await ada.withKey('GET', '/streams')
    const ofToken = await ada.withToken<readonly { streamId: string }[]>('GET', '/streams')

    expect(ofKey.body).toEqual({
      total_records: 1,
      current_page: 1,
      total_pages: 1,
      content: [asStored(gold)],
    })
    expect(ofToken.body.map((one) => one.streamId)).toEqual([streamId])
  })

  test('has pages, oldest first, of ten unless told otherwise; beyond the last one is nothing', async () => {
    const codes = Array.from({ length: 12 }, (_, index) => `A${index}`)
    for (const code of codes) await newAssetStream(ada, code)

    expect(await codesOf('')).toEqual(codes.slice(0, 10))
    expect(await codesOf('?page=2')).toEqual(codes.slice(10))
    expect(await codesOf('?page=3&page_size=5')).toEqual(codes.slice(10))
    expect(await codesOf('?page=4&page_size=5')).toEqual([])
  })

  test.each([
    ['withKey', 'limit=1', 'limit', 'is not known to this operation'],
    ['withKey', 'vaultId=7', 'vaultId', 'is not known to this operation'],
    ['withKey', 'tag.line=2', 'tag.line', 'is not known to this operation'],
    ['withKey', 'page=0', 'page', 'must be >= 1'],
    ['withKey', 'page_size=101', 'page_size', 'must be <= 100'],
    ['withKey', 'page=x', 'page', 'must be integer'],
    ['withKey', 'page=1&page=2', 'page', 'came more than once'],
    ['withToken', 'page=1', 'page', 'is not known to this operation'],
    ['withToken', 'limit=0', 'limit', 'must be >= 1'],
  ] as const)(
    '%s refuses %s with 400, naming it and nothing else',
    async (send, search, path, message) => {
      const { status, body } = await ada[send]<ErrorBody>('GET', `/streams?${search}`)

      expect(status).toBe(400)
      expect(body.message).toBe('the query is not valid')
      expect(body.details).toEqual([{ path, message }])
    },
  )
})

describe('GET /streams/{stream_id} with a key', () => {
  test('answers what creating it answered, in any case of its id', async () => {
    const gold = await newAssetStream(ada, 'GOLD')

    expect((await ada.withKey('GET', `/streams/${gold.id}`)).body).toEqual(asStored(gold))
    expect((await ada.withKey('GET', `/streams/${gold.id.toUpperCase()}`)).body).toEqual(
      asStored(gold),
    )
  })

  test.each(['GET', 'PUT', 'DELETE'])(
    '(%s) answers 404 for an unknown one, one of somebody else, and a data stream alike',
    async (method) => {
      const { id: foreign } = await newAssetStream(ada, 'GOLD')
      const dataStream = await streamOf(bob)
      for (const id of [unknownId, 'GOLD', foreign, dataStream]) {
        const body = method === 'PUT' ? { description: null } : undefined
        const answer = await bob.withKey<ErrorBody>(method, `/streams/${id}`, body)
        expect([answer.status, answer.body.message]).toEqual([404, `no asset stream ${id}`])
      }
      expect((await bob.withToken('GET', `/streams/${dataStream}`)).status).toBe(200)
      expect((await ada.withKey('GET', `/streams/${foreign}`)).status).toBe(200)
    },
  )

  test.each(['GET', 'PUT', 'DELETE'])('(%s) is 404 with a token', async (method) => {
    const { id } = await newAssetStream(ada, 'GOLD')
    const body = method === 'PUT' ? { name: 'heat' } : undefined
    const { status } = await ada.withToken(method, `/streams/${id}`, body)

    expect(status).toBe(404)
    expect((await ada.withKey('GET', `/streams/${id}`)).status).toBe(200)
  })

  test.each(['GET', 'DELETE'])('(%s) takes no query and no body', async (method) => {
    const { id } = await newAssetStream(ada, 'GOLD')
    const queried = await ada.withKey<ErrorBody>(method, `/streams/${id}?page=1`)

    expect([queried.status, queried.body.details?.[0]?.path]).toEqual([400, 'page'])
    if (method === 'GET') return
    const sent = await ada.withKey<ErrorBody>(method, `/streams/${id}`, { description: null })
    expect([sent.status, sent.body.details?.[0]?.path]).toEqual([400, 'description'])
  })

  test('leaves what is below it to data streams, for either credential', async () => {
    const streamId = await streamOf(ada)
    const { id } = await newAssetStream(ada, 'GOLD')

    expect((await ada.withKey('GET', `/streams/${streamId}/status`)).status).toBe(200)
    expect((await ada.withToken('GET', `/streams/${streamId}/status`)).status).toBe(200)
    expect((await ada.withKey('GET', `/streams/${id}/status`)).status).toBe(404)
  })
})

describe('PUT /streams/{stream_id} with a key', () => {
  test('changes the description, and nothing when it is not sent', async () => {
    const gold = asStored(await newAssetStream(ada, 'GOLD', 'bars'))
    const path = `/streams/${gold.id}`

    expect((await ada.withKey('PUT', path, {})).body).toEqual(asStored(gold))
    const changed = await ada.withKey('PUT', path, { description: 'coins' })
    expect([changed.status, changed.body]).toEqual([200, { ...gold, description: 'coins' }])
    expect((await ada.withKey('PUT', path, { description: null })).body).toEqual({
      ...gold,
      description: null,
    })
    expect((await ada.withKey('GET', path)).body).toEqual({ ...gold, description: null })
  })

  test.each(['asset_code', 'ledger', 'name'])('refuses %s with 400, naming it', async (name) => {
    const { id } = await newAssetStream(ada, 'GOLD')
    const { status, body } = await ada.withKey<ErrorBody>('PUT', `/streams/${id}`, { [name]: 'X' })

    expect([status, body.details?.map(({ path }) => path)]).toEqual([400, [name]])
  })
})

describe('DELETE /streams/{stream_id} with a key', () => {
  test('answers 204, and its code is free', async () => {
    const { id } = await newAssetStream(ada, 'GOLD')

    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(204)
    expect((await ada.withKey('GET', `/streams/${id}`)).status).toBe(404)
    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(404)
    expect((await newAssetStream(ada, 'GOLD')).id).not.toBe(id)
    const { body } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
    expect(body.total_records).toBe(1)
  })
})

/** What was told of streams of Ada. */
function events() {
  return query(
    `SELECT type, resource_type, resource_id, stream_id, data FROM events
      WHERE owner_id = ? AND type LIKE 'stream.%'`,
    ada.userId,
  ).map(({ data, ...rest }) => ({ ...rest, data: JSON.parse(String(data)) as unknown }))
}

describe('an event', () => {
  test('tells of a new and of a deleted asset stream, once each, with all of it', async () => {
    const gold = await newAssetStream(ada, 'GOLD')
    await ada.withKey('PUT', `/streams/${gold.id}`, { description: 'coins' })
    await create({ asset_code: 'GOLD', description: null })
    await ada.withKey('DELETE', `/streams/${gold.id}`)
    await ada.withKey('DELETE', `/streams/${gold.id}`)

    const about = { resource_type: 'stream', resource_id: gold.id, stream_id: gold.id }
    expect(events()).toEqual([
      { type: 'stream.created', ...about, data: gold },
      { type: 'stream.deleted', ...about, data: { ...asStored(gold), description: 'coins' } },
    ])
  })
})
