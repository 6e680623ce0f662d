import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

type Template = Readonly<Record<string, unknown>> & { readonly id: string }

interface Page {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Template[]
}

const minimal = { name: 'pump', hint: 'a pump', required_streams: [] }

function create(template: object): Promise<Answer<Template>> {
  return service.api.withKey('POST', '/templates', template)
}

function list(query = ''): Promise<Answer<Page>> {
  return service.api.withKey('GET', `/templates${query}`)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('total_pages is 0 when nothing matches', async () => {
  const { body } = await service.api.withKey<Page>('GET', '/vaults')

  expect(body).toEqual({ total_records: 0, current_page: 1, total_pages: 0, content: [] })
})

describe('POST /templates', () => {
  test('answers 201 with every field of the specification, and no other', async () => {
    const { status, body } = await create({
      name: 'boiler',
      description: 'a boiler of a heating plant',
      public: true,
      hint: 'one vault per boiler',
      required_streams: ['HEAT', 'PRESSURE'],
      author: 'plant engineering',
    })

    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(uuid) as string,
      created_at: expect.stringMatching(instant) as string,
      name: 'boiler',
      description: 'a boiler of a heating plant',
      author: 'plant engineering',
      status: 'UPLOAD_PENDING',
      template_dir: expect.any(String) as string,
      default_image: expect.any(String) as string,
      default_image_cid: expect.any(String) as string,
      image_upload_url: expect.any(String) as string,
      upload_url: expect.any(String) as string,
      size: expect.any(Number) as number,
      public: true,
      hint: 'one vault per boiler',
      required_streams: ['HEAT', 'PRESSURE'],
    })
  })

  test('takes name, hint and required_streams alone, with the defaults of the rest', async () => {
    const { status, body } = await create(minimal)

    expect(status).toBe(201)
    expect(body).toMatchObject({ description: null, author: null, public: false })
  })

  test('takes null where the specification allows it', async () => {
    const { status } = await create({ ...minimal, description: null, author: null })

    expect(status).toBe(201)
  })

  test('takes a bearer token as well', async () => {
    const { status, body } = await service.api.withToken<Template>('POST', '/templates', minimal)

    expect(status).toBe(201)
    expect(body).toHaveProperty('created_at')
  })

  test.each([
    ['no name', { ...minimal, name: undefined }, 'name'],
    ['an empty name', { ...minimal, name: '' }, 'name'],
    ['a name that is no text', { ...minimal, name: 7 }, 'name'],
    ['no hint', { ...minimal, hint: undefined }, 'hint'],
    ['a hint of null', { ...minimal, hint: null }, 'hint'],
    ['no required_streams', { ...minimal, required_streams: undefined }, 'required_streams'],
    ['required_streams of numbers', { ...minimal, required_streams: [1] }, 'required_streams.0'],
    ['public as a text', { ...minimal, public: 'true' }, 'public'],
    ['an unknown field', { ...minimal, owner: 'me' }, 'owner'],
  ])('refuses %s with 400, naming it', async (_, body, path) => {
    const answer = await create(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })
})

describe('GET /templates/{template_id}', () => {
  test('answers what creating it answered', async () => {
    const created = (await create(minimal)).body

    const { status, body } = await service.api.withKey('GET', `/templates/${created.id}`)

    expect(status).toBe(200)
    expect(withoutAddresses(body)).toEqual(withoutAddresses(created))
  })

  test('takes the id in upper case', async () => {
    const { id } = (await create(minimal)).body

    const { body } = await service.api.withKey<Template>('GET', `/templates/${id.toUpperCase()}`)

    expect(body.id).toBe(id)
  })

  test.each(['00000000-0000-4000-8000-000000000000', 'boiler', '%20', '1', "'--"])(
    'answers 404 for the id %s',
    async (id) => {
      const { status, body } = await service.api.withKey('GET', `/templates/${id}`)

      expect(status).toBe(404)
      expect(body).toMatchObject({ error: 'not_found', statusCode: 404 })
    },
  )
})

describe('GET /templates', () => {
  let before: Page

  beforeAll(async () => {
    before = (await list()).body
    for (let index = 0; index < 12; index++) {
      await create({ ...minimal, name: `valve ${index}`, public: index % 4 === 0 })
    }
  })

  test('answers ten templates of page 1 with the totals', async () => {
    const { status, body } = await list()

    const total = before.total_records + 12
    expect(status).toBe(200)
    expect(body).toEqual({
      total_records: total,
      current_page: 1,
      total_pages: Math.ceil(total / 10),
      content: expect.any(Array) as Template[],
    })
    expect(body.content).toHaveLength(10)
  })

  test('shows every template on exactly one page', async () => {
    const { total_pages: pages, total_records: total } = (await list('?page_size=5')).body
    const ids: string[] = []
    for (let page = 1; page <= pages; page++) {
      const { body } = await list(`?page=${page}&page_size=5`)
      expect(body.current_page).toBe(page)
      ids.push(...body.content.map(({ id }) => id))
    }

    expect(ids).toHaveLength(total)
    expect(new Set(ids).size).toBe(total)
  })

  test('lists each template as GET answers it', async () => {
    const [template] = (await list()).body.content

    const { body } = await service.api.withKey('GET', `/templates/${template?.id}`)
    expect(withoutAddresses(template)).toEqual(withoutAddresses(body))
  })

  test('is empty past the end, with true totals', async () => {
    const { status, body } = await list('?page=1000000&page_size=100')

    expect(status).toBe(200)
    expect(body).toMatchObject({
      total_records: before.total_records + 12,
      current_page: 1_000_000,
      content: [],
    })
  })

  test('with public=true lists public templates only', async () => {
    const { body } = await list('?public=true&page_size=100')

    expect(body.content.length).toBeGreaterThanOrEqual(3)
    expect(body.content.every((template) => template['public'] === true)).toBe(true)
    expect(body.total_records).toBe(body.content.length)
  })

  test('takes search_term, sort_by and sort_type with their empty defaults', async () => {
    const { status, body } = await list('?search_term=&sort_by=&sort_type=&page_size=100')

    expect(status).toBe(200)
    expect(body.total_records).toBe(before.total_records + 12)
  })

  test('with a search_term lists the templates whose name has it', async () => {
    const { status, body } = await list('?search_term=valve&page_size=100')

    expect(status).toBe(200)
    expect(body.total_records).toBe(12)
  })

  test.each(['page_size=1', 'page_size=100', 'page=1'])('takes %s', async (query) => {
    expect((await list(`?${query}`)).status).toBe(200)
  })

  test.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=one', 'page'],
    ['page=', 'page'],
    ['page=1.5', 'page'],
    ['page=1&page=2', 'page'],
    ['page_size=0', 'page_size'],
    ['page_size=101', 'page_size'],
    ['page_size=1e1', 'page_size'],
    ['public=yes', 'public'],
    ['pagesize=5', 'pagesize'],
  ])('refuses %s with 400, naming it', async (query, path) => {
    const { status, body } = await list(`?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })
})
