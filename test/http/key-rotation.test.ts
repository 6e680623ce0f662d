import { describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import { ApiClient } from '../support/api-client.ts'
import { createKey, type MadeKey, newPerson, type Person, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const service = runningService()
const services = startedServices()

function rotate(person: Person, key: MadeKey, body?: object) {
  const path = `/keys/${key.apiKey}/rotate`
  return person.withKey<MadeKey & { error: string }>('POST', path, body)
}

async function works({ apiKey, apiSecret }: MadeKey): Promise<boolean> {
  const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  return (await service.api.request('GET', '/users', { headers })).status === 200
}

describe('POST /keys/{id}/rotate', () => {
  test('gives a new secret, and lets the old one work for a day', async () => {
    const ada = await newPerson(service.api)
    const key = await createKey(service.api, { userId: ada.userId })

    const { status, body, headers } = await rotate(ada, key)

    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body.apiKey).toBe(key.apiKey)
    expect(body.apiSecret).not.toBe(key.apiSecret)
    const days = (Date.parse(String(body['previousSecretUntil'])) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(1, 2)
    expect([await works(key), await works(body)]).toEqual([true, true])
  })

  test('with an overlap of 0 ends the old secret at once, and no token', async () => {
    const ada = await newPerson(service.api)
    const headers = { authorization: `Bearer ${await ada.token()}` }

    const { body } = await rotate(ada, ada.key, { overlapSeconds: 0 })

    expect(body['previousSecretUntil']).toBeNull()
    expect([await works(ada.key), await works(body)]).toEqual([false, true])
    expect((await service.api.request('GET', '/users', { headers })).status).toBe(200)
  })

  test('lets the old secret go when the overlap ends', async () => {
    const ada = await newPerson(service.api)

    const { body } = await rotate(ada, ada.key, { overlapSeconds: 8 })

    expect(await works(ada.key)).toBe(true)
    await expect.poll(() => works(ada.key)).toBe(false)
    expect(await works(body)).toBe(true)
  })

  test('twice keeps two secrets, not three', async () => {
    const ada = await newPerson(service.api)

    const first = await rotate(ada, ada.key)
    const second = await rotate(ada, ada.key)

    const all = [ada.key, first.body, second.body]
    expect(await Promise.all(all.map(works))).toEqual([false, true, true])
  })

  test('at one time gives each a secret that works, or says conflict', async () => {
    const ada = await newPerson(service.api)
    const key = await createKey(service.api, { userId: ada.userId })

    const answers = await Promise.all(
      Array.from({ length: 4 }, () => rotate(ada, key, { overlapSeconds: 0 })),
    )

    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ status }) => status === 409)
    expect(won.length + lost.length).toBe(4)
    const last = await Promise.all(won.map(({ body }) => works(body)))
    expect(last.filter(Boolean)).toHaveLength(1)
  })

  test('of a key that can do more, or lives longer, is refused', async () => {
    const ada = await newPerson(service.api)
    const { userId } = ada
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const narrow = await newPerson(service.api, { permission: 'custom', scopes: ['keys:admin'] })
    const wide = await createKey(service.api, { userId: narrow.userId })
    const short = await createKey(service.api, { userId, expiresAt })

    expect((await rotate(narrow, wide)).body.error).toBe('insufficient_permissions')
    const answer = await rotate(personOf(service.api, short), ada.key)
    expect(answer.status).toBe(403)
    expect([await works(wide), await works(ada.key)]).toEqual([true, true])
  })

  test.each([-1, 604_801, 1.5, '60'])('refuses an overlap of %j', async (overlapSeconds) => {
    const ada = await newPerson(service.api)

    const answer = await rotate(ada, ada.key, { overlapSeconds })

    expect(answer.status).toBe(400)
    expect(answer.body['details']).toMatchObject([{ path: 'overlapSeconds' }])
  })
})

describe('the bootstrap key', () => {
  test('is not rotated while its secret stands in the settings', async () => {
    const answer = await service.api.withKey('POST', `/keys/${adminKey}/rotate`)

    expect(answer.status).toBe(409)
  })

  test('takes a new secret from the settings, and the old one ends', async () => {
    const folder = services.newFolder()
    const changed = 'another-secret-of-more-than-32-characters-for-tests'
    await (await services.start(folder)).end('SIGTERM')

    const { http } = await services.start(folder, { STREAMVAULT_ADMIN_SECRET: changed })

    const api = new ApiClient(http)
    const statusWith = async (secret: string) => {
      const headers = { 'x-api-key': adminKey, 'x-api-secret': secret }
      return (await api.request('GET', '/users', { headers })).status
    }
    expect([await statusWith(adminSecret), await statusWith(changed)]).toEqual([401, 200])
  })

  test('stays revoked over a restart, and what others have stays', async () => {
    const folder = services.newFolder()
    const before = await services.start(folder)
    const api = new ApiClient(before.http)
    // Nobody ends a key that has more than their own.
    const heir = await newPerson(api, { permission: 'custom', scopes })
    const { body: again } = await heir.withKey<MadeKey>('POST', `/keys/${heir.key.apiKey}/rotate`)
    expect((await heir.withKey('DELETE', `/keys/${adminKey}`)).status).toBe(204)
    expect((await api.withKey('GET', '/users')).status).toBe(401)
    await before.end('SIGTERM')

    const after = new ApiClient((await services.start(folder)).http)

    expect((await after.withKey('GET', '/users')).status).toBe(401)
    for (const { apiKey, apiSecret } of [heir.key, again]) {
      const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
      const answer = await after.request<MadeKey[]>('GET', '/keys', { headers })
      expect(answer.body).toMatchObject([
        { apiKey, scopes, lastUsedAt: expect.any(String) as string },
      ])
    }
  })
})
