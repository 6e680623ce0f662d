import { describe, expect, test } from 'vitest'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

function getVaults(...headers: readonly string[]): Promise<RawAnswer> {
  return sendRaw(service.process.http, { method: 'GET', path: '/vaults', headers })
}

async function bearer(): Promise<string> {
  return `Bearer ${await service.api.token()}`
}

const rightKey = ['x-api-key', adminKey]
const rightSecret = ['x-api-secret', adminSecret]

describe('a request', () => {
  test('without credentials is 401', async () => {
    const answer = await getVaults()

    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ error: 'missing_credentials', statusCode: 401 })
  })

  test('with key and secret is answered in the header-key shape', async () => {
    const answer = await getVaults(...rightKey, ...rightSecret)

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ content: [] })
  })

  test('with a bearer token is answered in the token shape', async () => {
    const answer = await getVaults('authorization', await bearer())

    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([])
  })

  test('may write the scheme and the header names in any case', async () => {
    const token = await service.api.token()

    expect((await getVaults('AUTHORIZATION', `bearer ${token}`)).status).toBe(200)
    expect((await getVaults('X-API-KEY', adminKey, 'X-Api-Secret', adminSecret)).status).toBe(200)
  })

  test.each([
    ['key and secret', [...rightKey, ...rightSecret]],
    ['a key alone', rightKey],
    ['a secret alone', rightSecret],
    ['a wrong key and secret', ['x-api-key', 'nobody', 'x-api-secret', 'nothing']],
  ])('with a bearer token and %s is 400 ambiguous_credentials', async (_, headers) => {
    const answer = await getVaults('authorization', await bearer(), ...headers)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'ambiguous_credentials', statusCode: 400 })
  })

  test.each([
    ['a key without a secret', rightKey],
    ['a secret without a key', rightSecret],
    ['a wrong secret', [...rightKey, 'x-api-secret', 'wrong']],
    ['a secret in another case', [...rightKey, 'x-api-secret', adminSecret.toUpperCase()]],
    ['an unknown key', ['x-api-key', 'sv_test_nobody', ...rightSecret]],
    ['an empty key and secret', ['x-api-key', '', 'x-api-secret', '']],
    ['Basic credentials', ['authorization', 'Basic YWRtaW46YWRtaW4=']],
    ['a bearer scheme without a token', ['authorization', 'Bearer']],
    ['an empty authorization', ['authorization', '']],
  ])('with %s is 401', async (_, headers) => {
    const answer = await getVaults(...headers)

    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ error: 'invalid_api_key', statusCode: 401 })
  })

  test('tells an unknown key from a wrong secret in nothing', async () => {
    const unknownKey = await getVaults('x-api-key', 'sv_test_nobody', ...rightSecret)
    const wrongSecret = await getVaults(...rightKey, 'x-api-secret', 'wrong')

    expect(unknownKey.status).toBe(wrongSecret.status)
    expect(unknownKey.text).toBe(wrongSecret.text)
    expect(Object.keys(unknownKey.headers)).toEqual(Object.keys(wrongSecret.headers))
  })

  test.each([
    ['key', [...rightKey, ...rightKey, ...rightSecret]],
    ['secret', [...rightKey, ...rightSecret, ...rightSecret]],
    ['key, in another case,', [...rightKey, 'X-API-KEY', adminKey, ...rightSecret]],
  ])('with the right %s twice is 401', async (_, headers) => {
    expect((await getVaults(...headers)).status).toBe(401)
  })

  test('with two authorization headers is 401, whichever comes first', async () => {
    const right = ['authorization', await bearer()]
    const wrong = ['authorization', 'Bearer nonsense']

    expect((await getVaults(...right, ...wrong)).status).toBe(401)
    expect((await getVaults(...wrong, ...right)).status).toBe(401)
    expect((await getVaults(...right, ...right)).status).toBe(401)
  })

  test('with bad credentials is refused before its body is read', async () => {
    const answer = await sendRaw(service.process.http, {
      method: 'POST',
      path: '/templates',
      headers: ['content-type', 'application/json', ...rightKey],
      body: 'not JSON',
    })

    expect(answer.status).toBe(401)
  })
})

function askToken(body: object) {
  return service.api.request<Record<string, unknown>>('POST', '/auth/token', { body })
}

describe('POST /auth/token', () => {
  test('answers exactly accessToken, tokenType, expiresIn and scope', async () => {
    const { status, body } = await askToken({ apiKey: adminKey, apiSecret: adminSecret })

    expect(status).toBe(200)
    expect(body).toEqual({
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string,
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: expect.stringMatching(/^\S+( \S+)*$/) as string,
    })
  })

  test('gives the bootstrap key the scope platform:admin', async () => {
    const { body } = await askToken({ apiKey: adminKey, apiSecret: adminSecret })

    expect(String(body['scope']).split(' ')).toContain('platform:admin')
  })

  test('answers what no cache may keep', async () => {
    const { headers } = await askToken({ apiKey: adminKey, apiSecret: adminSecret })

    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('answers an unknown key and a wrong secret alike with 401 invalid_api_key', async () => {
    const unknownKey = await askToken({ apiKey: 'sv_test_nobody', apiSecret: adminSecret })
    const wrongSecret = await askToken({ apiKey: adminKey, apiSecret: 'wrong' })

    expect(unknownKey.status).toBe(401)
    expect(unknownKey.body).toMatchObject({ error: 'invalid_api_key', statusCode: 401 })
    expect([wrongSecret.status, wrongSecret.body]).toEqual([unknownKey.status, unknownKey.body])
  })

  test.each([
    ['a missing secret', { apiKey: adminKey }, 'apiSecret'],
    ['a missing key', { apiSecret: adminSecret }, 'apiKey'],
    ['a key that is no text', { apiKey: 7, apiSecret: adminSecret }, 'apiKey'],
    ['an unknown field', { apiKey: adminKey, apiSecret: adminSecret, days: 9 }, 'days'],
  ])('answers %s with 400, naming it', async (_, body, path) => {
    const answer = await askToken(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })
})
