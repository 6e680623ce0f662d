import { describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import { createKey, type MadeKey, newPerson, type Person, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey } from '../support/service-process.ts'

const service = runningService()
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

function make(person: Person, body: object) {
  const wanted = { name: 'a key', kind: 'live', permission: 'read_only', ...body }
  return person.withKey<MadeKey & { error: string; message: string }>('POST', '/keys', wanted)
}

async function works({ apiKey, apiSecret }: MadeKey): Promise<boolean> {
  const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  const { status } = await service.api.request('GET', '/users', { headers })
  if (status !== 200 && status !== 401) throw new Error(`answered ${status}`)
  return status === 200
}

const reads = scopes.filter((scope) => scope.endsWith(':read'))
const writes = scopes.filter((scope) => scope.endsWith(':write'))

describe('POST /keys', () => {
  test('answers the key, and its secret this once', async () => {
    const ada = await newPerson(service.api)

    const { status, body, headers } = await make(ada, { name: 'boiler room' })

    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      id: body.apiKey,
      apiKey: expect.stringMatching(/^sv_live_[0-9a-f]{24}$/) as string,
      apiSecret: expect.stringMatching(/^[\w-]{43}$/) as string,
      name: 'boiler room',
      kind: 'live',
      permission: 'read_only',
      scopes: reads,
      userId: ada.userId,
      createdAt: expect.any(String) as string,
      expiresAt: null,
      rotatedAt: null,
      previousSecretUntil: null,
      lastUsedAt: null,
      droppedPublishes: 0,
      foreignTopics: 'refuse',
    })
    expect(await works(body)).toBe(true)
  })

  test.each([
    ['read_only', reads],
    ['read_write', scopes.filter((scope) => [...reads, ...writes].includes(scope))],
    ['admin', scopes.filter((scope) => scope !== 'platform:admin')],
  ])('gives %s its scopes, in a token too', async (permission, expected) => {
    const ada = await newPerson(service.api)
    const { body } = await make(ada, { kind: 'test', permission })

    const token = await personOf(service.api, body).token()
    const answer = await service.api.request<{ scope: string }>('GET', '/auth/validate', {
      headers: { authorization: `Bearer ${token}` },
    })

    expect(body.apiKey).toMatch(/^sv_test_/)
    expect(body.scopes).toEqual(expected)
    expect(answer.body.scope.split(' ')).toEqual(expected)
  })

  test('grants nothing that its maker lacks, and names it', async () => {
    const wanted = ['keys:admin', 'data:read']
    const ada = await newPerson(service.api, { permission: 'custom', scopes: wanted })

    for (const body of [
      { permission: 'read_only' },
      { permission: 'admin' },
      { permission: 'custom', scopes: ['data:read', 'data:write'] },
      { permission: 'custom', scopes: ['platform:admin'] },
    ]) {
      expect((await make(ada, body)).body).toMatchObject({ error: 'insufficient_permissions' })
    }
    const refusal = await make(ada, { permission: 'custom', scopes: ['data:write'] })
    expect(refusal.status).toBe(403)
    expect(refusal.body.message).toContain('data:write')
    const granted = await make(ada, { permission: 'custom', scopes: ['data:read'] })
    expect(granted.body.scopes).toEqual(['data:read'])
  })

  test('makes no key that outlives its maker', async () => {
    const expiresAt = inAnHour()
    const ada = await newPerson(service.api, { expiresAt })

    const later = new Date(Date.parse(expiresAt) + 1).toISOString()
    expect((await make(ada, { expiresAt: later })).status).toBe(403)
    const { body } = await make(ada, {})
    expect(Date.parse(String(body['expiresAt']))).toBe(Date.parse(expiresAt))
  })

  test('is for other users only with platform:admin, and tells nobody else who there is', async () => {
    const ada = await newPerson(service.api)
    const bob = await newPerson(service.api)
    const nobody = '00000000-0000-4000-8000-000000000000'

    const foreign = await make(ada, { userId: bob.userId })
    const unknown = await make(ada, { userId: nobody })

    expect(foreign.status).toBe(403)
    expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body])
    expect((await make(ada, { userId: ada.userId })).status).toBe(201)
  })

  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an unknown kind', { kind: 'demo' }, 'kind'],
    ['an unknown permission', { permission: 'root' }, 'permission'],
    ['custom without scopes', { permission: 'custom' }, 'scopes'],
    ['scopes without custom', { scopes: ['data:read'] }, 'scopes'],
    ['no scope at all', { permission: 'custom', scopes: [] }, 'scopes'],
    ['an unknown scope', { permission: 'custom', scopes: ['data:all'] }, 'scopes.0'],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['an expiry without a zone', { expiresAt: '2040-01-01T00:00:00' }, 'expiresAt'],
    ['an expiry that no row could give back', { expiresAt: '2999-01-01T00:00:00Z' }, 'expiresAt'],
    ['an unknown field', { secret: 'x' }, 'secret'],
  ])('answers %s with 400, naming it', async (_, body, path) => {
    const ada = await newPerson(service.api)

    const answer = await make(ada, body)

    expect(answer.status).toBe(400)
    expect(answer.body['details']).toMatchObject([{ path }])
  })

  test('takes the latest expiry that there is, and shows it', async () => {
    const ada = await newPerson(service.api)
    const expiresAt = '2254-12-31T23:59:59.000000Z'

    expect((await make(ada, { expiresAt })).body).toMatchObject({ expiresAt })
    const listed = (await ada.withKey<MadeKey[]>('GET', '/keys')).body
    expect(listed.map((key) => key['expiresAt'])).toContain(expiresAt)
  })

  test('stops at 1,000 keys of a user, also when they are made at one time', async () => {
    const ada = await newPerson(service.api)
    const statuses: number[] = []
    for (let batch = 0; batch < 21; batch++) {
      const made = Array.from({ length: 50 }, () => make(ada, {}))
      statuses.push(...(await Promise.all(made)).map(({ status }) => status))
    }

    // Ada's own key is one of them.
    expect(statuses.filter((status) => status === 201)).toHaveLength(999)
    expect(statuses.filter((status) => status === 409)).toHaveLength(51)
  })
})

describe('a key', () => {
  test('that has expired is 401, and so are its tokens', async () => {
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const ada = await newPerson(service.api, { expiresAt })
    const token = await ada.token()
    const headers = { authorization: `Bearer ${token}` }
    const validated = await service.api.request('GET', '/auth/validate', { headers })
    expect(validated.body).toMatchObject({ valid: true, expiresAt: ada.key['expiresAt'] })

    await expect.poll(() => works(ada.key)).toBe(false)

    const late = await service.api.request('GET', '/auth/validate', { headers })
    expect(late.status).toBe(401)
    expect(late.body).toMatchObject({ error: 'invalid_api_key' })
  })

  test('shows when it was last used', async () => {
    const ada = await newPerson(service.api)
    const { body: made } = await make(ada, {})
    await works(made)

    const { body: keys } = await ada.withKey<MadeKey[]>('GET', '/keys')

    const listed = keys.find(({ apiKey }) => apiKey === made.apiKey)
    expect(Date.parse(String(listed?.['lastUsedAt']))).toBeGreaterThan(
      Date.parse(String(made['createdAt'])) - 1,
    )
  })
})

describe('GET /keys', () => {
  test('lists one’s own keys without secrets, page by page', async () => {
    const ada = await newPerson(service.api)
    const made = [ada.key]
    for (let count = 0; count < 4; count++) made.push((await make(ada, {})).body)

    const listed: MadeKey[] = []
    let path = '/keys?limit=2'
    while (path !== '') {
      const { body, headers } = await ada.withKey<MadeKey[]>('GET', path)
      listed.push(...body)
      path = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }

    expect(listed.map(({ apiKey }) => apiKey)).toEqual(made.map(({ apiKey }) => apiKey))
    const text = JSON.stringify(listed)
    expect(made.filter(({ apiSecret }) => text.includes(apiSecret))).toEqual([])
    expect(text).not.toContain('digest')
  })

  test('lists those of another user to platform:admin only', async () => {
    const ada = await newPerson(service.api)
    const bob = await newPerson(service.api)
    const path = `/keys?userId=${ada.userId}`

    expect((await bob.withKey('GET', path)).status).toBe(403)
    const { body } = await service.api.withKey<MadeKey[]>('GET', path)
    expect(body.map(({ apiKey }) => apiKey)).toEqual([ada.key.apiKey])
  })

  test('needs keys:admin', async () => {
    const ada = await newPerson(service.api, { permission: 'read_write' })

    expect((await ada.withKey('GET', '/keys')).status).toBe(403)
  })
})

describe('DELETE /keys/{id}', () => {
  test('ends the key and its tokens with the very next request', async () => {
    const ada = await newPerson(service.api)
    const { body: made } = await make(ada, {})
    const headers = { authorization: `Bearer ${await personOf(service.api, made).token()}` }
    expect((await service.api.request('GET', '/users', { headers })).status).toBe(200)

    expect((await ada.withKey('DELETE', `/keys/${made.apiKey}`)).status).toBe(204)

    expect((await service.api.request('GET', '/users', { headers })).status).toBe(401)
    expect(await works(made)).toBe(false)
    expect((await ada.withKey('DELETE', `/keys/${made.apiKey}`)).status).toBe(404)
  })

  test('answers for foreign keys just as for unknown ones', async () => {
    const ada = await newPerson(service.api)
    const bob = await newPerson(service.api)
    const unknown = 'sv_test_000000000000000000000000'

    for (const [method, tail] of [
      ['DELETE', ''],
      ['POST', '/rotate'],
    ]) {
      const path = (id: string) => `/keys/${id}${tail}`
      const foreign = await ada.withKey(String(method), path(bob.key.apiKey))
      const absent = await ada.withKey<object>(String(method), path(unknown))
      expect(foreign.status).toBe(404)
      expect(JSON.stringify(foreign.body).replaceAll(bob.key.apiKey, unknown)).toBe(
        JSON.stringify(absent.body),
      )
    }
    expect(await works(bob.key)).toBe(true)
  })

  test('does not end the last key with platform:admin', async () => {
    const expiresAt = inAnHour()
    await createKey(service.api, { permission: 'custom', scopes: ['platform:admin'], expiresAt })

    const answer = await service.api.withKey('DELETE', `/keys/${adminKey}`)

    expect(answer.status).toBe(409)
    expect((await service.api.withKey('GET', '/users')).status).toBe(200)
  })
})
