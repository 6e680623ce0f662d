import { describe, expect, test } from 'vitest'
import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'

async function failureOf(status: number, headers: object = {}, body = '') {
  await using api = await ApiServer.start((_, answer) => {
    answer.writeHead(status, { ...headers }).end(body)
  })
  const rounds = new ApiRounds({ endpoint: api.origin }, [api.port])
  rounds.nowUs = Date.parse('2026-01-01T00:00:00Z') * 1_000
  return await rounds.failure()
}

describe('an answer that is no page', () => {
  test.each([400, 401, 403, 404, 405, 410, 422, 451])('%s has to be mended', async (status) => {
    const failure = await failureOf(status, {}, ' {"error":\n"no such plant\u0007"}')
    expect(failure).toBeInstanceOf(SourceRefused)
    expect(failure.message).toBe(`the answer was ${status}: {"error": "no such plant "}`)
  })

  test.each([408, 425, 429, 500, 502, 503, 504, 202, 206, 300, 304])(
    '%s may pass by itself',
    async (status) => {
      const failure = await failureOf(status)
      expect(failure).not.toBeInstanceOf(SourceRefused)
      expect(failure).not.toBeInstanceOf(RetryLater)
      expect(failure.message).toBe(`the answer was ${status}`)
    },
  )

  test('is shown by its beginning', async () => {
    const { message } = await failureOf(404, {}, `<b>${'x'.repeat(100_000)}`)
    expect(message).toMatch(/^the answer was 404: <b>x{197}$/)
  })
})

describe('an API that wants to be asked later', () => {
  test.each([
    [429, '7', 7_000],
    [503, '0', 0],
    [503, 'Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    [429, 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
    [429, '999999999', 3_600_000],
    [503, 'Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000],
  ])('by %s with %s is asked after %s ms', async (status, retryAfter, ms) => {
    const failure = await failureOf(status, { 'retry-after': retryAfter })
    expect(failure).toBeInstanceOf(RetryLater)
    expect(failure).toMatchObject({ retryAfterMs: ms })
  })

  test.each([
    [429, 'soon'],
    [500, '7'],
  ])('is asked as after any failure: %s with %s', async (status, retryAfter) => {
    expect(await failureOf(status, { 'retry-after': retryAfter })).not.toBeInstanceOf(RetryLater)
  })
})

async function conditional(source: object, position?: Readonly<Record<string, unknown>>) {
  await using api = await ApiServer.start(({ headers }, answer) => {
    const isKnown =
      headers['if-none-match'] === '"v1"' || headers['if-modified-since'] !== undefined
    if (isKnown) answer.writeHead(304).end()
    else json(answer, [{ number: 1 }], { etag: '"v1"', 'last-modified': 'then' })
  })
  const options = position === undefined ? {} : { position }
  const rounds = new ApiRounds({ endpoint: api.origin, ...source }, [api.port], options)
  const texts = [await rounds.texts(), await rounds.texts()]
  return { texts, position: rounds.position, headers: api.asked.map(({ headers }) => headers) }
}

describe('what has not changed', () => {
  test('is not sent again, and moves nothing', async () => {
    const { texts, position, headers } = await conditional({})
    expect(texts).toEqual([['{"number":1}'], []])
    expect(position).toEqual({ etag: '"v1"', lastModified: 'then' })
    expect(headers[0]).not.toHaveProperty('if-none-match')
    expect(headers[1]).toMatchObject({ 'if-none-match': '"v1"', 'if-modified-since': 'then' })
  })

  test('is asked for by the one page of a list, too', async () => {
    const { texts } = await conditional({ pagination: { type: 'page', pageSize: 5 } })
    expect(texts).toEqual([['{"number":1}'], []])
  })

  test.each([
    ['a link may lead on from it', { pagination: { type: 'link' } }],
    ['it was asked for by a POST', { method: 'POST' }],
  ])('is sent again when %s', async (_, source) => {
    const { texts } = await conditional(source)
    expect(texts).toEqual([['{"number":1}'], ['{"number":1}']])
  })

  test('says nothing of the other pages of a list', async () => {
    await using api = await ApiServer.start(({ url, headers }, answer) => {
      const page = Number(url.searchParams.get('page'))
      if (headers['if-none-match'] !== undefined) answer.writeHead(304).end()
      else json(answer, page < 3 ? [{ number: page }] : [], { etag: `"${page}"` })
    })
    const rounds = new ApiRounds({ endpoint: api.origin, pagination: { type: 'page' } }, [api.port])
    await rounds.round()
    expect(rounds.position).toEqual({})
    expect(await rounds.texts()).toHaveLength(2)
  })

  test('moves the position when there is another validator', async () => {
    let version = 1
    await using api = await ApiServer.start((_, answer) =>
      json(answer, [{ number: 1 }], { etag: `"${version}"` }),
    )
    const rounds = new ApiRounds({ endpoint: api.origin }, [api.port])
    await rounds.round()
    version = 2
    await rounds.round()
    expect(rounds.position).toEqual({ etag: '"2"' })
  })
})
