import { describe, expect, test } from 'vitest'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()
const credentials = ['x-api-key', adminKey, 'x-api-secret', adminSecret]
const json = ['content-type', 'application/json']

function send(
  method: string,
  path: string,
  { headers = [], body }: { headers?: readonly string[]; body?: string | Uint8Array } = {},
): Promise<RawAnswer> {
  return sendRaw(service.process.http, {
    method,
    path,
    headers: [...credentials, ...headers],
    ...(body !== undefined && { body }),
  })
}

/**
 * The shape of every error (decisions.md#errors): nothing beside it, no stack, no path, no query.
 */
function expectError(answer: RawAnswer, statusCode: number, error: string): void {
  expect(answer.status).toBe(statusCode)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.body).toMatchObject({ error, statusCode })
  expect([answer.body.message, answer.body.remedy]).toEqual([
    expect.stringMatching(/\S/),
    expect.stringMatching(/^[A-Z].*\.$/),
  ])
  expect(['error', 'message', 'statusCode', 'remedy', 'details', 'retryAfter']).toEqual(
    expect.arrayContaining(Object.keys(answer.body)),
  )
  expect(answer.text).not.toMatch(/\bat \S+ \(|node_modules|\.ts:|SELECT /)
}

const template = { name: 'boiler', hint: 'a boiler', required_streams: [] }

describe('an address that does not exist', () => {
  test('is 404 not_found', async () => {
    expectError(await send('GET', '/boilers'), 404, 'not_found')
  })

  test('is told without its query', async () => {
    const answer = await send('GET', '/boilers?secret=hush')

    expect(answer.text).not.toContain('hush')
  })

  test('is 405 for a method that the path does not have, naming those that it has', async () => {
    const answer = await send('PATCH', '/vaults')

    expectError(answer, 405, 'method_not_allowed')
    expect(answer.body.message).toContain('PATCH /vaults')
    expect(answer.headers.allow).toBe('GET, HEAD, POST')
  })

  test('is 404 for every method when no path is like it', async () => {
    expectError(await send('PATCH', '/vaults/one/two'), 404, 'not_found')
  })

  test('is 414 url_too_long beyond 8,192 characters, wherever they stand', async () => {
    expectError(await send('GET', `/vaults?page=${'1'.repeat(8_192)}`), 414, 'url_too_long')
    expect((await send('GET', `/vaults?page=${'1'.repeat(8_100)}`)).status).toBe(400)
  })

  test.each([
    ['is far too long', `/vaults/${'a'.repeat(500)}`],
    ['has percent signs that make no sense', '/vaults/%zz'],
  ])('answers in the shape of every error when it %s', async (_, path) => {
    const answer = await send('GET', path)

    expect([400, 404, 414]).toContain(answer.status)
    expectError(answer, answer.status, answer.body.error)
    expect(answer.body.error).toMatch(/^[a-z_]+$/)
  })
})

describe('a body', () => {
  test('with an unknown field is 400, naming the field', async () => {
    const body = JSON.stringify({ ...template, colour: 'red' })

    const answer = await send('POST', '/templates', { headers: json, body })

    expectError(answer, 400, 'invalid_request')
    expect(answer.body.details).toEqual([
      { path: 'colour', message: 'is not known to this operation' },
    ])
  })

  test('with several faults is 400, naming all of them', async () => {
    const body = JSON.stringify({ name: 7, required_streams: ['ok', 8], colour: 'red' })

    const answer = await send('POST', '/templates', { headers: json, body })

    expectError(answer, 400, 'invalid_request')
    const paths = answer.body.details?.map(({ path }) => path)
    expect(paths?.toSorted()).toEqual(['colour', 'hint', 'name', 'required_streams.1'])
    expect(answer.body.details).toContainEqual({ path: 'hint', message: 'is required' })
  })

  test('with a value that is none of a few is 400, naming those', async () => {
    const body = JSON.stringify({ name: 'x', kind: 'real', permission: 'read_only' })

    const answer = await send('POST', '/keys', { headers: json, body })

    expectError(answer, 400, 'invalid_request')
    expect(answer.body.details).toEqual([{ path: 'kind', message: 'must be one of test, live' }])
  })

  test('with very many faults is 400, naming the first', async () => {
    const faults = Array<number>(100_000).fill(1)
    const body = JSON.stringify({ ...template, required_streams: faults })

    const answer = await send('POST', '/templates', { headers: json, body })

    expectError(answer, 400, 'invalid_request')
    expect(answer.body.details?.map(({ path }) => path)).toEqual(['required_streams'])
  })

  test('with faults that a handler finds is 400, naming a hundred of them', async () => {
    const names = Array.from({ length: 101 }, (_, index) => [`name${index}`, 1])
    const headers = [
      'authorization',
      `Bearer ${await service.api.token()}`,
      'content-type',
      'application/json',
    ]

    const answer = await sendRaw(service.process.http, {
      method: 'POST',
      path: '/streams',
      headers,
      body: JSON.stringify(Object.fromEntries(names)),
    })

    expectError(answer, 400, 'invalid_request')
    expect(answer.body.details).toHaveLength(100)
  })

  test('whose member has a name of a megabyte is 400, and repeats little of it', async () => {
    const answer = await service.api.request('POST', '/streams', {
      headers: { authorization: `Bearer ${await service.api.token()}` },
      body: { ['x'.repeat(900_000)]: 1 },
    })

    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body).length).toBeLessThan(10_000)
  })

  test.each([
    ['text', 'not JSON'],
    ['half an object', '{"name":'],
    ['nothing', ''],
    ['two objects', '{}{}'],
    ['a prototype', '{"__proto__":{"name":"x"}}'],
  ])('of %s is 400 malformed_body', async (_, body) => {
    const answer = await send('POST', '/templates', { headers: json, body })

    expectError(answer, 400, 'malformed_body')
  })

  test.each([
    ['an array', '[]'],
    ['a text', '"boiler"'],
    ['null', 'null'],
  ])('of %s where an object belongs is 400 invalid_request', async (_, body) => {
    expectError(await send('POST', '/templates', { headers: json, body }), 400, 'invalid_request')
    expectError(await send('POST', '/vaults', { headers: json, body }), 400, 'invalid_request')
  })

  test.each(['/templates', '/vaults'])(
    'without a content type is 415 unsupported_media_type at %s',
    async (path) => {
      const answer = await send('POST', path, { body: JSON.stringify(template) })

      expectError(answer, 415, 'unsupported_media_type')
    },
  )

  test.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'json',
    'a/b/c',
  ])('of the content type %s is 415 unsupported_media_type', async (contentType) => {
    const headers = ['content-type', contentType]

    const answer = await send('POST', '/templates', { headers, body: JSON.stringify(template) })

    expectError(answer, 415, 'unsupported_media_type')
  })

  test('of JSON in UTF-8 may say so', async () => {
    const headers = ['content-type', 'application/json; charset=utf-8']

    const answer = await send('POST', '/templates', { headers, body: JSON.stringify(template) })

    expect(answer.status).toBe(201)
  })

  test('that announces more than the size limit is 413 body_too_large', async () => {
    const headers = [...json, 'content-length', String(5 * 1024 * 1024)]

    expectError(await send('POST', '/templates', { headers }), 413, 'body_too_large')
  })
})

test('two credentials at once are an error of the same shape', async () => {
  const answer = await send('GET', '/vaults', { headers: ['authorization', 'Bearer x'] })

  expectError(answer, 400, 'ambiguous_credentials')
})

test('an unknown parameter of a query is 400, naming it', async () => {
  const answer = await send('GET', '/templates?colour=red')

  expectError(answer, 400, 'invalid_request')
  expect(answer.body.details).toEqual([
    { path: 'colour', message: 'is not known to this operation' },
  ])
})

test('a parameter that comes twice is 400, naming it: neither of its values is the one that is meant', async () => {
  const answer = await send('GET', '/templates?page=1&search_term=a&page=1&search_term=b')

  expectError(answer, 400, 'invalid_request')
  expect(answer.body.details).toEqual([
    { path: 'page', message: 'came more than once' },
    { path: 'search_term', message: 'came more than once' },
  ])
})

test('two Idempotency-Keys are 400: together they would be a third one', async () => {
  const headers = [...json, 'idempotency-key', 'a', 'Idempotency-Key', 'b']

  const answer = await send('POST', '/templates', { headers, body: JSON.stringify(template) })

  expectError(answer, 400, 'invalid_request')
})

test.each([
  ['GET', '/vaults/00000000-0000-4000-8000-000000000000?colour=red'],
  ['DELETE', '/vaults/00000000-0000-4000-8000-000000000000?colour=red'],
  ['POST', '/templates?colour=red'],
])('%s %s is 400: it has no query', async (method, path) => {
  const body = JSON.stringify(template)

  const answer = await send(method, path, method === 'POST' ? { headers: json, body } : {})

  expectError(answer, 400, 'invalid_request')
  expect(answer.body.details).toMatchObject([{ path: 'colour' }])
})

describe('a body where none belongs', () => {
  const path = '/vaults/00000000-0000-4000-8000-000000000000'

  test('is 400, naming what it says', async () => {
    const answer = await send('DELETE', path, { headers: json, body: '{"force":true,"a":1}' })

    expectError(answer, 400, 'invalid_request')
    expect(answer.body.details?.map((detail) => detail.path)).toEqual(['force', 'a'])
  })

  test.each(['[]', '7', '"x"'])('is 400 when it is %s', async (body) => {
    expectError(await send('DELETE', path, { headers: json, body }), 400, 'invalid_request')
  })

  test.each(['', '{}', 'null'])('is fine when it is %j: it says nothing', async (body) => {
    expectError(await send('DELETE', path, { headers: json, body }), 404, 'not_found')
  })
})
