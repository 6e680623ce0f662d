import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'
import { asStored } from '../support/stored-resource.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

type Vault = Readonly<Record<string, unknown>> & { readonly id: string }

interface Page {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Vault[]
}

let templateId: string

async function createTemplate(requiredStreams: readonly string[]): Promise<string> {
  const { body } = await service.api.withKey<Vault>('POST', '/templates', {
    name: 'boiler',
    hint: 'a boiler',
    required_streams: requiredStreams,
  })
  return body.id
}

function create(vault: object): Promise<Answer<Vault>> {
  return service.api.withKey('POST', '/vaults', vault)
}

beforeAll(async () => {
  templateId = await createTemplate([])
})

const unknownId = '00000000-0000-4000-8000-000000000000'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

const textFields = [
  'tx_hash',
  'nft_network_issuer',
  'nft_network_owner',
  'nft_network_id',
  'cid',
  'image_cid',
  'default_image_cid',
  'metadata_cid',
  'image_upload_url',
]

describe('POST /vaults', () => {
  test('answers 201 with every field of the specification, and no other', async () => {
    const { status, body } = await create({
      template_id: templateId,
      name: 'boiler 7',
      description: 'in hall 3',
      ledger: 'POLYGON_POS',
      json_payload: '{"hall":3}',
      public: false,
    })

    expect(status).toBe(201)
    const createdAt = body['created_at']
    expect(body).toEqual({
      ...Object.fromEntries(textFields.map((name) => [name, expect.any(String) as string])),
      id: expect.stringMatching(uuid) as string,
      created_at: expect.stringMatching(instant) as string,
      name: 'boiler 7',
      description: 'in hall 3',
      template_id: templateId,
      status: 'SERVICE_RECEIVED',
      ledger: 'POLYGON_POS',
      streams: [],
      public: false,
      json_payload: '{"hall":3}',
      custom_image: false,
      progress: [{ step: 1, status: 'SERVICE_RECEIVED', completed_at: createdAt }],
      failure: null,
    })
  })

  test.each([
    ['without them', {}],
    ['with null', { description: null, ledger: null, json_payload: null, public: null }],
  ])('%s takes the defaults of the optional fields', async (_, optional) => {
    const { status, body } = await create({ template_id: templateId, name: 'b', ...optional })

    expect(status).toBe(201)
    expect(body).toMatchObject({
      description: null,
      ledger: 'XRPL',
      json_payload: null,
      public: true,
    })
  })

  test('takes a payload of 65,536 characters, and no more', async () => {
    const vault = { template_id: templateId, name: 'b' }
    const longest = '\u00e9'.repeat(65_536)

    expect((await create({ ...vault, json_payload: longest })).body['json_payload']).toBe(longest)
    const refused = await create({ ...vault, json_payload: `${longest}x` })
    expect(refused.status).toBe(400)
    expect(refused.body['details']).toMatchObject([{ path: 'json_payload' }])
  })

  test.each(['XRPL', 'POLYGON_ZKEVM', 'POLYGON_POS', 'ETHEREUM'])(
    'takes the ledger %s',
    async (ledger) => {
      const { status, body } = await create({ template_id: templateId, name: 'b', ledger })

      expect(status).toBe(201)
      expect(body['ledger']).toBe(ledger)
    },
  )

  test.each([
    ['an unknown ledger', { ledger: 'BITCOIN' }, 'ledger'],
    ['an empty name', { name: '' }, 'name'],
    ['a template_id that is no text', { template_id: 7 }, 'template_id'],
    ['json_payload as an object', { json_payload: {} }, 'json_payload'],
    ['an unknown field', { owner: 'me' }, 'owner'],
  ])('refuses %s with 400, naming it', async (_, wrong, path) => {
    const answer = await create({ template_id: templateId, name: 'b', ...wrong })

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })

  test('answers 404 for an unknown template', async () => {
    const answer = await create({ template_id: unknownId, name: 'b' })

    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ error: 'not_found' })
  })

  test('answers 422 missing_required_streams for asset streams that one does not have, naming them', async () => {
    const needy = await createTemplate(['HEAT', 'PRESSURE'])

    const answer = await create({ template_id: needy, name: 'b' })

    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ error: 'missing_required_streams', statusCode: 422 })
    expect(answer.body['message']).toMatch(/HEAT.*PRESSURE/)
    expect(answer.body['details']).toHaveLength(2)
  })
})

describe('GET /vaults/{vault_id}', () => {
  test('answers what creating it answered', async () => {
    const created = (await create({ template_id: templateId, name: 'b' })).body

    const { status, body } = await service.api.withKey('GET', `/vaults/${created.id}`)

    expect(status).toBe(200)
    expect(withoutAddresses(body)).toEqual(asStored(withoutAddresses(created)))
  })

  test.each([unknownId, 'boiler-7', '%00', '1'])('answers 404 for the id %s', async (id) => {
    const { status, body } = await service.api.withKey('GET', `/vaults/${id}`)

    expect(status).toBe(404)
    expect(body).toMatchObject({ error: 'not_found', statusCode: 404 })
  })
})

describe('GET /vaults', () => {
  let total: number

  beforeAll(async () => {
    for (let index = 0; index < 11; index++) {
      await create({ template_id: templateId, name: `vault ${index}` })
    }
    total = (await service.api.withKey<Page>('GET', '/vaults')).body.total_records
  })

  test('with a key answers the envelope with ten vaults', async () => {
    const { body } = await service.api.withKey<Page>('GET', '/vaults')

    expect(body).toMatchObject({ current_page: 1, total_pages: Math.ceil(total / 10) })
    expect(Object.keys(body).toSorted()).toEqual([
      'content',
      'current_page',
      'total_pages',
      'total_records',
    ])
    expect(body.content).toHaveLength(10)
  })

  test('with a key shows every vault on exactly one page', async () => {
    const ids = new Set<string>()
    for (let page = 1; page <= Math.ceil(total / 4); page++) {
      const path = `/vaults?page=${page}&page_size=4`
      const { body } = await service.api.withKey<Page>('GET', path)
      for (const { id } of body.content) ids.add(id)
    }

    expect(ids.size).toBe(total)
  })

  test('with a key is empty past the end, with true totals', async () => {
    const { status, body } = await service.api.withKey<Page>('GET', '/vaults?page=99')

    expect(status).toBe(200)
    expect(body).toMatchObject({ total_records: total, current_page: 99, content: [] })
  })

  test.each(['page=0', 'page_size=0', 'page_size=101', 'page=x', 'limit=5'])(
    'with a key refuses %s with 400',
    async (query) => {
      expect((await service.api.withKey('GET', `/vaults?${query}`)).status).toBe(400)
    },
  )

  test('with a bearer token answers an array', async () => {
    const { status, headers, body } = await service.api.withToken<Vault[]>('GET', '/vaults')

    expect(status).toBe(200)
    expect(body).toHaveLength(total)
    expect(body[0]).toMatchObject({
      vaultId: expect.stringMatching(uuid) as string,
      createdAt: expect.stringMatching(instant) as string,
      templateId,
    })
    expect(headers.get('link')).toBeNull()
  })

  test('with a bearer token leads from page to page by the Link header', async () => {
    const ids: unknown[] = []
    let path: string | undefined = '/vaults?limit=4'
    while (path !== undefined) {
      const answer: Answer<Vault[]> = await service.api.withToken<Vault[]>('GET', path)
      expect(answer.body.length).toBeLessThanOrEqual(4)
      ids.push(...answer.body.map((vault) => vault['vaultId']))
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    }

    expect(ids).toHaveLength(total)
    expect(new Set(ids).size).toBe(total)
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'cursor=', 'page=1'])(
    'with a bearer token refuses %s with 400',
    async (query) => {
      const { status, body } = await service.api.withToken('GET', `/vaults?${query}`)

      expect(status).toBe(400)
      expect(body).toMatchObject({ details: [{ path: query.split('=')[0] }] })
    },
  )
})
