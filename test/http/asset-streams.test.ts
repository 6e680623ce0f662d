import { DatabaseSync } from 'node:sqlite'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

type AssetStream = Readonly<Record<string, unknown>> & { readonly id: string }
type Refused = AssetStream & ErrorBody

interface Page<Item> {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Item[]
}

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

async function made(assetCode: string, description: string | null = null): Promise<AssetStream> {
  const { status, body } = await create({ asset_code: assetCode, description })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

async function template(...codes: readonly string[]): Promise<string> {
  const body = { name: 'boiler', hint: '', required_streams: codes, public: true }
  return (await ada.withKey<{ id: string }>('POST', '/templates', body)).body.id
}

interface Vault {
  readonly id: string
  readonly streams: readonly AssetStream[]
}

async function vault(templateId: string): Promise<Vault> {
  const body = { template_id: templateId, name: 'boiler 7' }
  const answer = await ada.withKey<Vault>('POST', '/vaults', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

function query(statement: string, ...parameters: readonly string[]) {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  return state.prepare(statement).all(...parameters)
}

const unknownId = '00000000-0000-4000-8000-000000000000'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

describe('POST /streams with a key', () => {
  test('answers 201 with every field of the specification, and why it goes no further', async () => {
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
      metadata_cid: '',
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
    await made('GOLD')
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
    const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted()

    expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
    const { body } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
    expect([body.total_records, body.content.length]).toEqual([1, 1])
  })
})

describe('an Idempotency-Key', () => {
  const gold = { asset_code: 'GOLD', description: null }
  const heat = (vaultId: string) => {
    const schema = { temperature: { type: 'number' } }
    return { name: 'heat', vaultId, type: 'iot_sensor', schema }
  }

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
    const { id: vaultId } = await vault(await template())
    const asset = await create(gold, headers)
    const data = await ada.withToken<AssetStream>('POST', '/streams', heat(vaultId), headers)
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

describe('GET /streams', () => {
  test('with a key lists asset streams in an envelope, and with a token data streams in an array', async () => {
    const gold = await made('GOLD')
    const streamId = await streamOf(ada)

    const ofKey = await ada.withKey('GET', '/streams')
    const ofToken = await ada.withToken<readonly { streamId: string }[]>('GET', '/streams')

    expect(ofKey.body).toEqual({
      total_records: 1,
      current_page: 1,
      total_pages: 1,
      content: [gold],
    })
    expect(ofToken.body.map((one) => one.streamId)).toEqual([streamId])
  })

  test('has pages, oldest first, of ten unless told otherwise; beyond the last one is nothing', async () => {
    const codes = Array.from({ length: 12 }, (_, index) => `A${index}`)
    for (const code of codes) await made(code)
    const codesOf = async (search: string) => {
      const { body } = await ada.withKey<Page<AssetStream>>('GET', `/streams${search}`)
      expect(body.total_records).toBe(12)
      return body.content.map((one) => one['asset_code'])
    }

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
    const gold = await made('GOLD')

    expect((await ada.withKey('GET', `/streams/${gold.id}`)).body).toEqual(gold)
    expect((await ada.withKey('GET', `/streams/${gold.id.toUpperCase()}`)).body).toEqual(gold)
  })

  test.each(['GET', 'PUT', 'DELETE'])(
    '(%s) answers 404 for an unknown one, one of somebody else, and a data stream alike',
    async (method) => {
      const { id: foreign } = await made('GOLD')
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
    const { id } = await made('GOLD')
    const body = method === 'PUT' ? { name: 'heat' } : undefined
    const { status } = await ada.withToken(method, `/streams/${id}`, body)

    expect(status).toBe(404)
    expect((await ada.withKey('GET', `/streams/${id}`)).status).toBe(200)
  })

  test.each(['GET', 'DELETE'])('(%s) takes no query and no body', async (method) => {
    const { id } = await made('GOLD')
    const queried = await ada.withKey<ErrorBody>(method, `/streams/${id}?page=1`)

    expect([queried.status, queried.body.details?.[0]?.path]).toEqual([400, 'page'])
    if (method === 'GET') return
    const sent = await ada.withKey<ErrorBody>(method, `/streams/${id}`, { description: null })
    expect([sent.status, sent.body.details?.[0]?.path]).toEqual([400, 'description'])
  })

  test('leaves what is below it to data streams, for either credential', async () => {
    const streamId = await streamOf(ada)
    const { id } = await made('GOLD')

    expect((await ada.withKey('GET', `/streams/${streamId}/status`)).status).toBe(200)
    expect((await ada.withToken('GET', `/streams/${streamId}/status`)).status).toBe(200)
    expect((await ada.withKey('GET', `/streams/${id}/status`)).status).toBe(404)
  })
})

describe('PUT /streams/{stream_id} with a key', () => {
  test('changes the description, and nothing when it is not sent', async () => {
    const gold = await made('GOLD', 'bars')
    const path = `/streams/${gold.id}`

    expect((await ada.withKey('PUT', path, {})).body).toEqual(gold)
    const changed = await ada.withKey('PUT', path, { description: 'coins' })
    expect([changed.status, changed.body]).toEqual([200, { ...gold, description: 'coins' }])
    expect((await ada.withKey('PUT', path, { description: null })).body).toEqual({
      ...gold,
      description: null,
    })
    expect((await ada.withKey('GET', path)).body).toEqual({ ...gold, description: null })
  })

  test.each(['asset_code', 'ledger', 'name'])('refuses %s with 400, naming it', async (name) => {
    const { id } = await made('GOLD')
    const { status, body } = await ada.withKey<ErrorBody>('PUT', `/streams/${id}`, { [name]: 'X' })

    expect([status, body.details?.map(({ path }) => path)]).toEqual([400, [name]])
  })
})

describe('DELETE /streams/{stream_id} with a key', () => {
  test('answers 204, and its code is free', async () => {
    const { id } = await made('GOLD')

    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(204)
    expect((await ada.withKey('GET', `/streams/${id}`)).status).toBe(404)
    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(404)
    expect((await made('GOLD')).id).not.toBe(id)
    const { body } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
    expect(body.total_records).toBe(1)
  })

  test('is refused with 409 while a vault lists it, and not any more once that is gone', async () => {
    const { id } = await made('GOLD')
    const { id: vaultId } = await vault(await template('GOLD'))

    const refused = await ada.withKey<ErrorBody>('DELETE', `/streams/${id}`)
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.message).toMatch(/a vault lists/)
    expect((await ada.withKey('DELETE', `/vaults/${vaultId}`)).status).toBe(204)
    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(204)
    expect(query('SELECT * FROM vault_streams WHERE vault_id = ?', vaultId)).toEqual([])
  })
})

describe('a vault', () => {
  test('lists the asset streams that its template requires, in its order, in every answer', async () => {
    const iron = await made('IRON')
    const gold = await made('GOLD')
    const templateId = await template('GOLD', 'IRON')

    const created = await vault(templateId)

    expect(created.streams).toEqual([gold, iron])
    expect(created).toMatchObject({ failure: null })
    const path = `/vaults/${created.id}`
    const shown = withoutAddresses(created)
    expect(withoutAddresses((await ada.withKey('GET', path)).body)).toEqual(shown)
    expect(withoutAddresses((await ada.withToken('GET', path)).body)).toEqual(shown)
    expect((await bob.withKey('GET', path)).body).toEqual(shown)
    const changed = await ada.withKey('PUT', path, { name: 'pump' })
    expect(withoutAddresses(changed.body)).toEqual({ ...shown, name: 'pump' })
    const { body } = await ada.withKey<Page<Vault>>('GET', '/vaults')
    expect(withoutAddresses(body.content)).toEqual([withoutAddresses(changed.body)])
  })

  test('shows an asset stream as it is now', async () => {
    const { id } = await made('GOLD')
    const created = await vault(await template('GOLD'))
    await ada.withKey('PUT', `/streams/${id}`, { description: 'coins' })

    const { body } = await ada.withKey<Vault>('GET', `/vaults/${created.id}`)
    expect(body.streams[0]?.['description']).toBe('coins')
  })

  test('is not made while one of them is missing, or only somebody else has it: 422 naming it', async () => {
    await made('GOLD')
    await bob.withKey('POST', '/streams', { asset_code: 'IRON', description: null })
    const templateId = await template('GOLD', 'IRON')

    const body = { template_id: templateId, name: 'boiler 7' }
    const answer = await ada.withKey<ErrorBody>('POST', '/vaults', body)

    expect([answer.status, answer.body.error]).toEqual([422, 'missing_required_streams'])
    expect(answer.body.message).toMatch(/IRON$/)
    expect(answer.body.details).toHaveLength(1)
    const vaults = await ada.withKey<Page<Vault>>('GET', '/vaults')
    expect(vaults.body.total_records).toBe(0)
  })

  test('is made with all of them or not at all, however they come and go meanwhile', async () => {
    await made('GOLD')
    const templateId = await template('GOLD')
    const body = { template_id: templateId, name: 'boiler 7' }
    const wrong: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const { body: listed } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
      const id = listed.content[0]?.id
      const [vaults, removal] = await Promise.all([
        Promise.all(Array.from({ length: 3 }, () => ada.withKey<Vault>('POST', '/vaults', body))),
        ada.withKey('DELETE', `/streams/${id}`),
      ])
      const statuses = vaults.map(({ status }) => status)
      const isGone = removal.status === 204
      // Whichever is first decides for all: a vault keeps the asset stream, and without that none is made.
      const expected = isGone ? 422 : 201
      if (statuses.some((status) => status !== expected)) wrong.push([removal.status, statuses])
      for (const one of vaults) {
        if (one.status === 201) await ada.withKey('DELETE', `/vaults/${one.body.id}`)
      }
      if (isGone) await made('GOLD')
    }

    expect(wrong).toEqual([])
    expect(
      query('SELECT * FROM vault_streams WHERE stream_id NOT IN (SELECT id FROM asset_streams)'),
    ).toEqual([])
  })
})

describe('an event', () => {
  const events = () =>
    query(
      `SELECT type, resource_type, resource_id, stream_id, data FROM events
        WHERE owner_id = ? AND type LIKE 'stream.%'`,
      ada.userId,
    ).map(({ data, ...rest }) => ({ ...rest, data: JSON.parse(String(data)) as unknown }))

  test('tells of a new and of a deleted asset stream, once each, with all of it', async () => {
    const gold = await made('GOLD')
    await ada.withKey('PUT', `/streams/${gold.id}`, { description: 'coins' })
    await create({ asset_code: 'GOLD', description: null })
    await ada.withKey('DELETE', `/streams/${gold.id}`)
    await ada.withKey('DELETE', `/streams/${gold.id}`)

    const about = { resource_type: 'stream', resource_id: gold.id, stream_id: gold.id }
    expect(events()).toEqual([
      { type: 'stream.created', ...about, data: gold },
      { type: 'stream.deleted', ...about, data: { ...gold, description: 'coins' } },
    ])
  })

  test('of a vault has the asset streams that it lists', async () => {
    const gold = await made('GOLD')
    const { id } = await vault(await template('GOLD'))
    await ada.withKey('DELETE', `/vaults/${id}`)

    const rows = query('SELECT type, data FROM events WHERE resource_id = ?', id)
    const told = rows.map(({ type, data }) => [type, (JSON.parse(String(data)) as Vault).streams])
    expect(told).toEqual([
      ['vault.created', [gold]],
      ['vault.deleted', [gold]],
    ])
  })
})
