import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/auth/api-keys.ts'
import { Authenticator, type AuthenticatorNeeds } from '../../src/auth/authenticate.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { UserId } from '../../src/core/ids.ts'

const keyCaller: Caller = { userId: 'ada' as UserId, apiKeyId: 'sv_live_1', scope: 'data:read' }
const tokenCaller: Caller = { userId: 'bob' as UserId, apiKeyId: 'sv_live_2', scope: 'data:write' }

/** Knows one key with one secret, and one token. */
const needs = {
  keys: {
    verify: async (id: string, secret: string) =>
      id === 'sv_live_1' && secret === 'right' ? keyCaller : undefined,
  },
  tokens: {
    verify: (token: string) => {
      if (token === 'good.token') return tokenCaller
      if (token === 'old.token') throw new DomainError('token_expired', 'the token has expired')
      throw new DomainError('invalid_api_key', 'the access token is not valid')
    },
  },
} as unknown as AuthenticatorNeeds

const authenticator = new Authenticator(needs)

/** What becomes of a request with these headers, name and value in turn: a caller or a code. */
async function outcome(...rawHeaders: string[]): Promise<unknown> {
  try {
    return await authenticator.authenticate({ rawHeaders })
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

const bearer = ['Authorization', 'Bearer good.token']
const key = ['x-api-key', 'sv_live_1']
const secret = ['x-api-secret', 'right']

describe('a bearer token', () => {
  test('chooses the token interface', async () => {
    expect(await outcome(...bearer)).toEqual({ ...tokenCaller, interface: 'bearer' })
  })

  test.each(['bearer good.token', 'BEARER good.token', 'Bearer   good.token'])(
    'may be sent as %j',
    async (value) => {
      expect(await outcome('authorization', value)).toMatchObject({ interface: 'bearer' })
    },
  )

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic c3ZfbGl2ZV8xOnJpZ2h0',
    'good.token',
    'Bearer good.token more',
    'Bearer good.token, Bearer good.token',
    'Bearer bad.token',
  ])('is not accepted as %j', async (value) => {
    expect(await outcome('Authorization', value)).toBe('invalid_api_key')
  })

  test('that has expired is told apart', async () => {
    expect(await outcome('Authorization', 'Bearer old.token')).toBe('token_expired')
  })
})

describe('a key and its secret', () => {
  test('choose the header-key interface', async () => {
    expect(await outcome(...key, ...secret)).toEqual({ ...keyCaller, interface: 'header-key' })
  })

  test('may be named in any case and stand between other headers', async () => {
    const headers = ['Host', 'vault.example', 'X-API-SECRET', 'right', 'Accept', '*/*', 'X-Api-Key']

    expect(await outcome(...headers, 'sv_live_1')).toMatchObject({ userId: 'ada' })
  })

  test('are not accepted when the secret or the key is wrong, and answered the same', async () => {
    expect(await outcome(...key, 'x-api-secret', 'wrong')).toBe('invalid_api_key')
    expect(await outcome('x-api-key', 'sv_live_9', ...secret)).toBe('invalid_api_key')
  })

  test('are not accepted one without the other', async () => {
    expect(await outcome(...key)).toBe('invalid_api_key')
    expect(await outcome(...secret)).toBe('invalid_api_key')
  })
})

describe('credentials', () => {
  test('of both kinds at once are ambiguous', async () => {
    expect(await outcome(...bearer, ...key, ...secret)).toBe('ambiguous_credentials')
    expect(await outcome(...key, ...bearer)).toBe('ambiguous_credentials')
    expect(await outcome(...secret, ...bearer)).toBe('ambiguous_credentials')
  })

  test('are missing when there are none', async () => {
    expect(await outcome()).toBe('missing_credentials')
    expect(await outcome('Host', 'vault.example')).toBe('missing_credentials')
  })

  test.each([
    ['authorization', [...bearer, ...bearer]],
    ['authorization in another case', [...bearer, 'AUTHORIZATION', 'Bearer good.token']],
    ['the key', [...key, ...key, ...secret]],
    ['the secret', [...key, ...secret, ...secret]],
    ['an empty key beside the right one', ['x-api-key', '', ...key, ...secret]],
  ])('that come twice are none: %s', async (_, headers) => {
    expect(await outcome(...headers)).toBe('invalid_api_key')
  })

  test('are not looked for in values, or in names that only resemble', async () => {
    const headers = ['x-api-keys', 'sv_live_1', 'x-api-secrets', 'right', 'Referer', 'x-api-key']

    expect(await outcome(...headers, 'Proxy-Authorization', 'Bearer good.token')).toBe(
      'missing_credentials',
    )
  })
})
