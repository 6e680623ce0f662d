import { describe, expect, test } from 'vitest'
import { tokenRates } from '../../src/access/auth/attempt-limits.ts'
import { ApiClient } from '../support/api-client.ts'
import { createKey, type MadeKey, newPerson } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

async function started() {
  const api = new ApiClient((await services.start(services.newFolder())).http)
  const logIn = (apiKey: string, apiSecret: string) =>
    api.request<Record<string, unknown>>('POST', '/auth/token', { body: { apiKey, apiSecret } })
  return { api, logIn }
}

test('failures with one key end in 429, which says when to come back', async () => {
  const { api, logIn } = await started()
  const ada = await newPerson(api)
  const statuses: number[] = []
  for (let count = 0; count < tokenRates.failuresOfPair.burst; count++) {
    statuses.push((await logIn(ada.key.apiKey, 'wrong')).status)
  }
  expect(new Set(statuses)).toEqual(new Set([401]))

  const { status, body, headers } = await logIn(ada.key.apiKey, 'wrong')

  expect(status).toBe(429)
  const retryAfter = Number(body['retryAfter'])
  expect(body).toMatchObject({ error: 'rate_limited', statusCode: 429 })
  expect(Number.isInteger(retryAfter)).toBe(true)
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(6)
  expect(headers.get('retry-after')).toBe(String(retryAfter))
  // Not even the right secret: else guessing would go on behind the 429.
  expect((await logIn(ada.key.apiKey, ada.key.apiSecret)).status).toBe(429)
  await expect
    .poll(async () => (await logIn(ada.key.apiKey, ada.key.apiSecret)).status, {
      timeout: 60_000,
      interval: 500,
    })
    .toBe(200)
})

test('an unknown key is limited just as one that there is', async () => {
  const { api, logIn } = await started()
  const ada = await newPerson(api)
  const sequence = async (apiKey: string) => {
    const seen: string[] = []
    for (let count = 0; count < 15; count++) {
      const { status, body } = await logIn(apiKey, 'wrong')
      seen.push(`${status} ${String(body['error'])} ${String(body['message'])}`)
    }
    return seen
  }

  expect(await sequence('sv_test_000000000000000000000000')).toEqual(await sequence(ada.key.apiKey))
})

test('who attacks from an address does not keep its neighbours out', async () => {
  const { api, logIn } = await started()
  const ada = await newPerson(api)
  const attempts = 2 * tokenRates.failuresOfAddress.burst
  const statuses: number[] = []
  for (let count = 0; count < attempts; count++) {
    statuses.push((await logIn(`sv_test_${count}`, 'wrong')).status)
  }

  expect(statuses.slice(0, tokenRates.failuresOfAddress.burst)).not.toContain(429)
  expect(statuses.slice(-10)).toContain(429)
  expect((await logIn(ada.key.apiKey, ada.key.apiSecret)).status).toBe(200)
})

test('many keys of one address get as many tokens as they ask for', async () => {
  const { api, logIn } = await started()
  const { userId } = await newPerson(api)
  const keys = await Promise.all(Array.from({ length: 10 }, () => createKey(api, { userId })))

  const statuses: number[] = []
  for (let round = 0; round < 30; round++) {
    const asked = keys.map(({ apiKey, apiSecret }) => logIn(apiKey, apiSecret))
    statuses.push(...(await Promise.all(asked)).map(({ status }) => status))
  }

  expect(new Set(statuses)).toEqual(new Set([200]))
})

function headersOf({ apiKey }: MadeKey, secret: string) {
  return { 'x-api-key': apiKey, 'x-api-secret': secret }
}

describe('a key in the headers of requests', () => {
  test('is no way around the limit: wrong secrets end in 429, and so does the right one then', async () => {
    const { api } = await started()
    const [ada, bob] = [await newPerson(api), await newPerson(api)]
    const token = await ada.token()
    const ask = async (secret: string) =>
      api.request<Record<string, unknown>>('GET', '/users', { headers: headersOf(ada.key, secret) })
    const statuses: number[] = []
    for (let count = 0; count < tokenRates.failuresOfPair.burst; count++) {
      statuses.push((await ask('wrong')).status)
    }
    expect(new Set(statuses)).toEqual(new Set([401]))

    const { status, body, headers } = await ask(ada.key.apiSecret)

    expect(status).toBe(429)
    expect(body).toMatchObject({ error: 'rate_limited', retryAfter: expect.any(Number) as number })
    expect(headers.get('retry-after')).toBe(String(body['retryAfter']))
    // Users who have a token go on, and so do other keys of the same address.
    const withToken = { headers: { authorization: `Bearer ${token}` } }
    expect((await api.request('GET', '/users', withToken)).status).toBe(200)
    expect((await bob.withKey('GET', '/users')).status).toBe(200)
  })

  test('shares its limit with POST /auth/token', async () => {
    const { api, logIn } = await started()
    const ada = await newPerson(api)
    for (let count = 0; count < tokenRates.failuresOfPair.burst; count++) {
      await api.request('GET', '/users', { headers: headersOf(ada.key, 'wrong') })
    }

    expect((await logIn(ada.key.apiKey, ada.key.apiSecret)).status).toBe(429)
  })
})
