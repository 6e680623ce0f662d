import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

type Template = Readonly<Record<string, unknown>> & { readonly id: string }

interface Page {
  readonly total_records: number
  readonly content: readonly Template[]
}

const minimal = { name: 'pump', hint: 'a pump', required_streams: [] }

function create(template: object): Promise<Answer<Template>> {
  return service.api.withKey('POST', '/templates', template)
}

function list(query = ''): Promise<Answer<Page>> {
  return service.api.withKey('GET', `/templates${query}`)
}

function change(id: string, body: object): Promise<Answer<Template>> {
  return service.api.withKey('PUT', `/templates/${id}`, body)
}

function remove(id: string): Promise<Answer<Template | undefined>> {
  return service.api.withKey('DELETE', `/templates/${id}`)
}

async function publicTotal(): Promise<number> {
  return (await list('?public=true')).body.total_records
}

async function namesInOrder(query: string): Promise<unknown[]> {
  const { body } = await list(`?search_term=order-&page_size=100${query}`)
  return body.content.map(({ name }) => name)
}

describe('GET /templates in an order', () => {
  const names = ['b', 'C', 'a', 'D']

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
    expect(await namesInOrder(query)).toEqual(expected.map((name) => `order-${name}`))
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
  test('changes what is sent, keeps the rest, and answers the template', async () => {
    const created = (await create({ ...minimal, description: 'd', author: 'a' })).body

    const { status, body } = await change(created.id, {
      name: 'Pump 2',
      description: null,
      required_streams: ['HEAT', 'HEAT'],
    })

    expect(status).toBe(200)
    expect(withoutAddresses(body)).toEqual({
      ...withoutAddresses(created),
      name: 'Pump 2',
      description: null,
      required_streams: ['HEAT'],
    })
    const { body: read } = await service.api.withKey('GET', `/templates/${created.id}`)
    expect(withoutAddresses(read)).toEqual(withoutAddresses(body))
  })

  test('moves a template to and from the public ones, with the totals', async () => {
    const { id } = (await create(minimal)).body
    const before = await publicTotal()

    await change(id, { public: true })
    const whilePublic = await publicTotal()
    await change(id, { public: true })
    await change(id, { public: false })

    expect([whilePublic, await publicTotal()]).toEqual([before + 1, before])
  })

  test('finds it under its new name', async () => {
    const { id } = (await create(minimal)).body
    await change(id, { name: 'Renamed Once' })

    const { body } = await list('?search_term=renamed%20once')

    expect(body.content.map((template) => template.id)).toEqual([id])
  })

  test('with nothing changes nothing', async () => {
    const created = (await create(minimal)).body

    expect(withoutAddresses((await change(created.id, {})).body)).toEqual(withoutAddresses(created))
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
