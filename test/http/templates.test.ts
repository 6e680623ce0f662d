import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

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
    expect(body).toEqual(created)
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
    expect(template).toEqual(body)
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

describe('GET /templates in an order', () => {
  const names = ['b', 'C', 'a', 'D']

  async function listed(query: string): Promise<unknown[]> {
    const { body } = await list(`?search_term=order-&page_size=100${query}`)
    return body.content.map(({ name }) => name)
  }

  beforeAll(async () => {
    for (const name of names) await create({ ...minimal, name: `order-${name}` })
  })

  test.each([
    ['', ['b', 'C', 'a', 'D']],
    ['&sort_type=desc', ['D', 'a', 'C', 'b']],
    ['&sort_by=created_at', ['b', 'C', 'a', 'D']],
    ['&sort_by=name', ['a', 'b', 'C', 'D']],
    ['&sort_by=name&sort_type=DESC', ['D', 'C', 'b', 'a']],
  ])('of %j is right', async (query, expected) => {
    expect(await listed(query)).toEqual(expected.map((name) => `order-${name}`))
  })

  test.each([
    ['sort_by=size', 'sort_by'],
    ['sort_type=up', 'sort_type'],
    [`search_term=${'x'.repeat(201)}`, 'search_term'],
  ])('refuses %s with 400, naming it', async (query, path) => {
    const { status, body } = await list(`?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ details: [{ path }] })
  })
})

describe('PUT /templates/{template_id}', () => {
  function change(id: string, body: object): Promise<Answer<Template>> {
    return service.api.withKey('PUT', `/templates/${id}`, body)
  }

  test('changes what is sent, keeps the rest, and answers the template', async () => {
    const created = (await create({ ...minimal, description: 'd', author: 'a' })).body

    const { status, body } = await change(created.id, {
      name: 'Pump 2',
      description: null,
      required_streams: ['HEAT', 'HEAT'],
    })

    expect(status).toBe(200)
    expect(body).toEqual({
      ...created,
      name: 'Pump 2',
      description: null,
      required_streams: ['HEAT'],
    })
    expect((await service.api.withKey('GET', `/templates/${created.id}`)).body).toEqual(body)
  })

  test('moves a template to and from the public ones, with the totals', async () => {
    const total = async () => (await list('?public=true')).body.total_records
    const { id } = (await create(minimal)).body
    const before = await total()

    await change(id, { public: true })
    const whilePublic = await total()
    await change(id, { public: true })
    await change(id, { public: false })

    expect([whilePublic, await total()]).toEqual([before + 1, before])
  })

  test('finds it under its new name', async () => {
    const { id } = (await create(minimal)).body
    await change(id, { name: 'Renamed Once' })

    const { body } = await list('?search_term=renamed%20once')

    expect(body.content.map((template) => template.id)).toEqual([id])
  })

  test('with nothing changes nothing', async () => {
    const created = (await create(minimal)).body

    expect((await change(created.id, {})).body).toEqual(created)
  })

  test.each([
    ['an empty name', { name: '' }, 'name'],
    ['a hint of null', { hint: null }, 'hint'],
    ['what cannot change', { status: 'COMPLETED' }, 'status'],
  ])('refuses %s with 400, naming it', async (_, body, path) => {
    const { id } = (await create(minimal)).body

    const answer = await change(id, body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ details: [{ path }] })
  })
})

describe('DELETE /templates/{template_id}', () => {
  function remove(id: string): Promise<Answer<Template | undefined>> {
    return service.api.withKey('DELETE', `/templates/${id}`)
  }

  test('is 204, and the template is gone from reading and lists', async () => {
    const { id } = (await create({ ...minimal, name: 'doomed', public: true })).body
    const before = (await list()).body.total_records

    const { status, body } = await remove(id)

    expect([status, body]).toEqual([204, undefined])
    expect((await service.api.withKey('GET', `/templates/${id}`)).status).toBe(404)
    expect((await list()).body.total_records).toBe(before - 1)
    expect((await list('?public=true&search_term=doomed')).body.total_records).toBe(0)
    expect((await remove(id)).status).toBe(404)
  })

  test('is 409 while vaults have been made from it, and 204 after', async () => {
    const { id } = (await create(minimal)).body
    const vault = await service.api.withKey<Template>('POST', '/vaults', {
      template_id: id,
      name: 'v',
    })

    const refused = await remove(id)

    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ error: 'conflict' })
    await service.api.withKey('DELETE', `/vaults/${vault.body.id}`)
    expect((await remove(id)).status).toBe(204)
  })

  test('and the making of vaults from it at once leave no vault without a template', async () => {
    const { id } = (await create(minimal)).body

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index === 5
          ? remove(id)
          : service.api.withKey('POST', '/vaults', { template_id: id, name: 'v' }),
      ),
    )

    const isThere = (await service.api.withKey('GET', `/templates/${id}`)).status === 200
    const made = answers.filter(({ status }) => status === 201).length
    expect(isThere).toBe(made > 0)
    expect(
      new Set(answers.map(({ status }) => status)).isSubsetOf(new Set([201, 204, 404, 409])),
    ).toBe(true)
  })
})
