import { describe, expect, test } from 'vitest'
import {
  Authenticator,
  type Credentials,
  type LoginAttempt,
} from '../../src/access/auth/authenticate.ts'
import type { ApiKey } from '../../src/access/auth/key-directory.ts'
import { LimitedKeys } from '../../src/access/auth/limited-keys.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { VerifiedToken } from '../../src/access/auth/tokens.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { UserId } from '../../src/core/ids.ts'
import { openStateForReading } from '../../src/storage/state/database.ts'
import { noSessions } from '../support/no-sessions.ts'

const soonUs = 2_000_000_000_000_000

function keyOf(id: string, userId: string, scope: string): ApiKey {
  const rest = { origin: 'api', expiresAtUs: undefined, foreignTopics: 'refuse' } as const
  return { id, userId: userId as UserId, scope, ...rest }
}

function tokenOf(apiKeyId: string, userId: string, scope: string): VerifiedToken {
  return { userId: userId as UserId, apiKeyId, scope, expiresAtUs: soonUs }
}

const adasKey = keyOf('sv_live_1', 'ada', 'data:read')
const keys = new Map([adasKey, keyOf('sv_live_2', 'bob', 'data:write')].map((key) => [key.id, key]))
const tokens = new Map([
  ['good.token', tokenOf('sv_live_2', 'bob', 'data:write')],
  ['wide.token', tokenOf('sv_live_2', 'bob', 'data:read data:write vaults:read')],
  ['orphan.token', tokenOf('sv_live_3', 'bob', 'data:write')],
  ['foreign.token', tokenOf('sv_live_1', 'bob', 'data:write')],
])

const failures: LoginAttempt[] = []

const needs = {
  keys: {
    find: (id: string) => keys.get(id),
    verify: (id: string, secret: string) => (secret === 'right' ? keys.get(id) : undefined),
    isUnchanged: (key: ApiKey) => keys.get(key.id) === key,
    use: () => undefined,
  },
  limited: new LimitedKeys({
    state: openStateForReading(':memory:'),
    masterKey: new MasterKey(MasterKey.generate()),
    clock: systemClock,
  }),
  onUse: () => undefined,
  sessions: noSessions,
  tokens: {
    isGood: (token: VerifiedToken) => [...tokens.values()].includes(token),
    verify(text: string) {
      if (text === 'old.token') throw new DomainError('token_expired', 'the token has expired')
      const token = tokens.get(text)
      if (token === undefined) throw new DomainError('invalid_api_key', 'the token is not valid')
      return token
    },
  },
  onFailure: (attempt: LoginAttempt) => failures.push(attempt),
  logins: { assertMayLogIn: () => undefined, countFailure: () => undefined },
}

const authenticator = new Authenticator(needs)

/** What becomes of a request with these headers, name and value in turn: a caller or a code. */
function outcome(...rawHeaders: string[]): unknown {
  return outcomeOf({ rawHeaders, address: '192.0.2.1' })
}

function outcomeOf(credentials: Credentials): unknown {
  try {
    return authenticator.authenticate(credentials)
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

const bearer = ['Authorization', 'Bearer good.token']
const key = ['x-api-key', 'sv_live_1']
const secret = ['x-api-secret', 'right']

describe('a bearer token', () => {
  test('chooses the token interface', () => {
    expect(outcome(...bearer)).toEqual({
      userId: 'bob',
      apiKeyId: 'sv_live_2',
      scope: 'data:write',
      foreignTopics: 'refuse',
      interface: 'bearer',
      expiresAtUs: soonUs,
    })
  })

  test.each(['bearer good.token', 'BEARER good.token', 'Bearer   good.token'])(
    'may be sent as %j',
    (value) => {
      expect(outcome('authorization', value)).toMatchObject({ interface: 'bearer' })
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
  ])('is not accepted as %j', (value) => {
    expect(outcome('Authorization', value)).toBe('invalid_api_key')
  })

  test('that has expired is told apart', () => {
    expect(outcome('Authorization', 'Bearer old.token')).toBe('token_expired')
  })

  test('grants nothing that its key does not have now', () => {
    expect(outcome('Authorization', 'Bearer wide.token')).toMatchObject({ scope: 'data:write' })

    keys.set('sv_live_2', keyOf('sv_live_2', 'bob', 'vaults:read'))
    expect(outcome('Authorization', 'Bearer wide.token')).toMatchObject({ scope: 'vaults:read' })
    keys.set('sv_live_2', keyOf('sv_live_2', 'bob', 'data:write'))
  })

  test.each(['orphan.token', 'foreign.token'])('is not accepted without its key: %s', (token) => {
    expect(outcome('Authorization', `Bearer ${token}`)).toBe('invalid_api_key')
  })
})

describe('a key and its secret', () => {
  test('choose the header-key interface', () => {
    expect(outcome(...key, ...secret)).toEqual({
      userId: 'ada',
      apiKeyId: 'sv_live_1',
      scope: 'data:read',
      interface: 'header-key',
      expiresAtUs: undefined,
      foreignTopics: 'refuse',
    })
  })

  test('may be named in any case and stand between other headers', () => {
    const headers = ['Host', 'vault.example', 'X-API-SECRET', 'right', 'Accept', '*/*', 'X-Api-Key']

    expect(outcome(...headers, 'sv_live_1')).toMatchObject({ userId: 'ada' })
  })

  test('are not accepted when the secret or the key is wrong, and answered the same', () => {
    expect(outcome(...key, 'x-api-secret', 'wrong')).toBe('invalid_api_key')
    expect(outcome('x-api-key', 'sv_live_9', ...secret)).toBe('invalid_api_key')
  })

  test('are not accepted one without the other', () => {
    expect(outcome(...key)).toBe('invalid_api_key')
    expect(outcome(...secret)).toBe('invalid_api_key')
  })
})

function letIn(...rawHeaders: string[]) {
  return authenticator.authenticate({ rawHeaders, address: '192.0.2.1' })
}

describe('a caller who was let in', () => {
  test.each([
    ['a token', bearer],
    ['a key', [...key, ...secret]],
  ])('by %s is still good, until the key is another one', (_, headers) => {
    const caller = letIn(...headers)
    expect(authenticator.isStillGood(caller)).toBe(true)

    const before = keys.get(caller.apiKeyId) as ApiKey
    keys.set(before.id, { ...before })
    expect(authenticator.isStillGood(caller)).toBe(false)
    expect(authenticator.isStillGood(letIn(...headers))).toBe(true)
  })

  test('by a token is no longer good when the token is not', () => {
    const caller = letIn(...bearer)
    const token = tokens.get('good.token') as VerifiedToken

    tokens.delete('good.token')
    expect(authenticator.isStillGood(caller)).toBe(false)
    tokens.set('good.token', token)
  })

  test('elsewhere is not believed', () => {
    expect(authenticator.isStillGood({ ...letIn(...bearer) })).toBe(false)
  })
})

describe('a failed login', () => {
  test('is told of with its address and the key that was named', () => {
    failures.length = 0
    outcome(...key, 'x-api-secret', 'wrong')
    outcome('Authorization', 'Bearer bad.token')

    expect(failures).toEqual([
      { address: '192.0.2.1', apiKeyId: 'sv_live_1' },
      { address: '192.0.2.1', apiKeyId: undefined },
    ])
  })

  test('is not what an expired token is, or a request without credentials', () => {
    failures.length = 0
    outcome('Authorization', 'Bearer old.token')
    outcome()

    expect(failures).toEqual([])
  })
})

function log(username: string, password: string) {
  return authenticator.byPassword(username, password, { address: '192.0.2.1', protocol: 'mqtt' })
}

describe('a user name and a password', () => {
  test('are a key and its secret', () => {
    expect(log('sv_live_1', 'right')).toMatchObject({ userId: 'ada' })
    expect(() => log('sv_live_1', 'wrong')).toThrow(DomainError)
  })

  test('are a token when the name is bearer', () => {
    expect(log('bearer', 'good.token')).toMatchObject({ userId: 'bob', expiresAtUs: soonUs })
    expect(() => log('bearer', 'bad.token')).toThrow(DomainError)
  })
})

describe('a session of the console', () => {
  const session = { secret: 'over', interface: 'bearer', isAlone: false } as const
  const besides = (...rawHeaders: string[]) =>
    outcomeOf({ rawHeaders, address: '192.0.2.1', session })

  test('counts where nothing else says who asks', () => {
    expect(besides('Host', 'vault.example')).toBe('session_expired')
  })

  test.each([
    ['a key', [...key, ...secret], { apiKeyId: 'sv_live_1' }],
    ['a token', bearer, { apiKeyId: 'sv_live_2' }],
  ])('does not beside %s', (_, headers, caller) => {
    expect(besides(...headers)).toMatchObject(caller)
  })

  test.each([
    ['an id', key],
    ['a secret', secret],
    ['an empty token', ['Authorization', '']],
  ])('does not beside half of one either: %s', (_, headers) => {
    expect(besides(...headers)).toBe('invalid_api_key')
  })
})

describe('credentials', () => {
  test('of both kinds at once are ambiguous', () => {
    expect(outcome(...bearer, ...key, ...secret)).toBe('ambiguous_credentials')
    expect(outcome(...key, ...bearer)).toBe('ambiguous_credentials')
    expect(outcome(...secret, ...bearer)).toBe('ambiguous_credentials')
  })

  test('are missing when there are none', () => {
    expect(outcome()).toBe('missing_credentials')
    expect(outcome('Host', 'vault.example')).toBe('missing_credentials')
  })

  test.each([
    ['authorization', [...bearer, ...bearer]],
    ['authorization in another case', [...bearer, 'AUTHORIZATION', 'Bearer good.token']],
    ['the key', [...key, ...key, ...secret]],
    ['the secret', [...key, ...secret, ...secret]],
    ['an empty key beside the right one', ['x-api-key', '', ...key, ...secret]],
  ])('that come twice are none: %s', (_, headers) => {
    expect(outcome(...headers)).toBe('invalid_api_key')
  })

  test('are not looked for in values, or in names that only resemble', () => {
    const headers = ['x-api-keys', 'sv_live_1', 'x-api-secrets', 'right', 'Referer', 'x-api-key']

    expect(outcome(...headers, 'Proxy-Authorization', 'Bearer good.token')).toBe(
      'missing_credentials',
    )
  })
})
