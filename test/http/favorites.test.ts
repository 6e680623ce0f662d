import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

type Favorite = Readonly<Record<string, unknown>> & { readonly id: string }

interface Page {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Favorite[]
}

let path: string

beforeAll(async () => {
  path = `/users/${await service.api.userId()}/favorites`
})

function add(favorite: object): Promise<Answer<Favorite>> {
  return service.api.withKey('POST', path, favorite)
}

function list(query = ''): Promise<Answer<Page>> {
  return service.api.withKey('GET', path + query)
}

const stranger = '00000000-0000-4000-8000-000000000000'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

describe('POST /users/{user_id}/favorites', () => {
  test.each(['NFT', 'TOKEN'])(
    'of the type %s answers 201 with exactly its fields',
    async (type) => {
      const { status, body } = await add({ type, ref: 'ref of each type' })

      expect(status).toBe(201)
      expect(body).toEqual({
        id: expect.stringMatching(uuid) as string,
        created_at: expect.stringMatching(instant) as string,
        type,
        ref: 'ref of each type',
      })
    },
  )

  test('takes a bearer token as well', async () => {
    const { status } = await service.api.withToken('POST', path, { type: 'NFT', ref: 'by token' })

    expect(status).toBe(201)
  })

  test('is 409 for what is a favorite already, and nothing is added', async () => {
    await add({ type: 'NFT', ref: 'twice' })
    const before = (await list()).body.total_records

    const { status, body } = await add({ type: 'NFT', ref: 'twice' })

    expect(status).toBe(409)
    expect(body).toMatchObject({ error: 'conflict' })
    expect((await list()).body.total_records).toBe(before)
  })

  test('adds one of many equal ones that come at once', async () => {
    const before = (await list()).body.total_records

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => add({ type: 'TOKEN', ref: 'at once' })),
    )

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    expect((await list()).body.total_records).toBe(before + 1)
  })

  test.each([
    ['no type', { ref: 'x' }, 'type'],
    ['an unknown type', { type: 'COIN', ref: 'x' }, 'type'],
    ['no ref', { type: 'NFT' }, 'ref'],
    ['an empty ref', { type: 'NFT', ref: '' }, 'ref'],
    ['a ref of 1,001 characters', { type: 'NFT', ref: 'x'.repeat(1_001) }, 'ref'],
    ['an unknown field', { type: 'NFT', ref: 'x', name: 'y' }, 'name'],
  ])('refuses %s with 400, naming it', async (_, body, place) => {
    const answer = await add(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request', details: [{ path: place }] })
  })
})

describe('GET /users/{user_id}/favorites', () => {
  test('shows every favorite on exactly one page, in the order of adding', async () => {
    for (let index = 0; index < 12; index++) await add({ type: 'NFT', ref: `listed ${index}` })

    const total = (await list()).body.total_records
    const found: Favorite[] = []
    for (let page = 1; page <= Math.ceil(total / 5); page++) {
      const { status, body } = await list(`?page=${page}&page_size=5`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ total_records: total, current_page: page })
      found.push(...body.content)
    }

    expect(new Set(found.map(({ id }) => id)).size).toBe(total)
    expect(found.slice(-12).map(({ ref }) => ref)).toEqual(
      Array.from({ length: 12 }, (_, index) => `listed ${index}`),
    )
  })

  test.each(['page=0', 'page_size=101', 'limit=1'])('refuses %s with 400', async (query) => {
    expect((await list(`?${query}`)).status).toBe(400)
  })
})

describe('DELETE /users/{user_id}/favorites/{id}', () => {
  test('is 204, and the favorite is gone and can be added again', async () => {
    const { id } = (await add({ type: 'NFT', ref: 'fickle' })).body
    const before = (await list()).body.total_records

    const { status } = await service.api.withKey('DELETE', `${path}/${id}`)

    expect(status).toBe(204)
    expect((await list()).body.total_records).toBe(before - 1)
    expect((await service.api.withKey('DELETE', `${path}/${id}`)).status).toBe(404)
    expect((await add({ type: 'NFT', ref: 'fickle' })).status).toBe(201)
  })

  test.each(['00000000-0000-4000-8000-000000000000', 'x'])('is 404 for %s', async (id) => {
    expect((await service.api.withKey('DELETE', `${path}/${id}`)).status).toBe(404)
  })
})

test.each([
  ['GET', ''],
  ['POST', ''],
  ['DELETE', `/${stranger}`],
])('%s is 404 for the favorites of anybody else', async (method, rest) => {
  const body = method === 'POST' ? { type: 'NFT', ref: 'x' } : undefined

  const answer = await service.api.withKey(method, `/users/${stranger}/favorites${rest}`, body)

  expect(answer.status).toBe(404)
  expect(answer.body).toMatchObject({ error: 'not_found' })
})
