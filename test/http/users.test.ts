import { describe, expect, test } from 'vitest'
import { createKey, createUser, newPerson, newUsername } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const nobody = '00000000-0000-4000-8000-000000000000'

interface User {
  readonly id: string
  readonly username: string
  readonly entities: readonly { readonly id: string }[]
  readonly credentials: readonly { readonly id: string }[]
}

describe('GET /users', () => {
  test('answers the calling user with exactly the fields of the specification', async () => {
    const ada = await newPerson(service.api)

    expect((await ada.withKey('GET', '/users')).body).toEqual({
      id: ada.userId,
      first_name: 'Ada',
      last_name: 'Lovelace',
      username: expect.stringMatching(/^person-/) as string,
      user_profile_picture: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string,
      entities: [],
      credentials: [],
      image_upload_url: expect.stringContaining('/uploads/user-image.') as string,
      image_download_url: '',
    })
  })

  test('answers the same in both interfaces, and for a key that may do nothing else', async () => {
    const ada = await newPerson(service.api, { permission: 'custom', scopes: ['data:write'] })

    const withKey = await ada.withKey('GET', '/users')
    expect(withKey.status).toBe(200)
    expect((await ada.withToken('GET', '/users')).body).toEqual(withKey.body)
  })
})

describe('POST /users', () => {
  test('needs platform:admin, and names it', async () => {
    const ada = await newPerson(service.api)
    const body = { username: newUsername(), first_name: '', last_name: '' }

    const answer = await ada.withKey('POST', '/users', body)

    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({
      error: 'insufficient_permissions',
      message: expect.stringContaining('platform:admin') as string,
    })
  })

  test('refuses a name that is taken, in whatever case', async () => {
    const username = newUsername()
    await createUser(service.api, username)

    const body = { username: username.toUpperCase(), first_name: '', last_name: '' }
    const answer = await service.api.withKey('POST', '/users', body)

    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ error: 'conflict', statusCode: 409 })
  })

  test('makes one user when many ask for one name at a time', async () => {
    const username = newUsername()
    const body = { username, first_name: '', last_name: '' }
    const asked = Array.from({ length: 8 }, () => service.api.withKey('POST', '/users', body))

    const statuses = (await Promise.all(asked)).map(({ status }) => status)

    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(7)
  })

  test.each([
    ['no username', { first_name: '', last_name: '' }, 'username'],
    ['an empty username', { username: '', first_name: '', last_name: '' }, 'username'],
    ['a username with a colon', { username: 'a:b', first_name: '', last_name: '' }, 'username'],
    ['letters that look alike', { username: 'аda', first_name: '', last_name: '' }, 'username'],
    ['an unknown field', { username: 'a', first_name: '', last_name: '', age: 3 }, 'age'],
  ])('answers %s with 400, naming it', async (_, body, path) => {
    const answer = await service.api.withKey('POST', '/users', body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ details: [{ path }] })
  })
})

describe('GET /users/{id}', () => {
  test('answers oneself, and anybody to platform:admin', async () => {
    const ada = await newPerson(service.api)

    expect((await ada.withKey('GET', `/users/${ada.userId}`)).status).toBe(200)
    expect((await service.api.withKey('GET', `/users/${ada.userId}`)).status).toBe(200)
  })

  test('answers for others just as for ids that nobody has', async () => {
    const ada = await newPerson(service.api)
    const bob = await newPerson(service.api)

    const foreign = await ada.withKey('GET', `/users/${bob.userId}`)
    const unknown = await ada.withKey('GET', `/users/${nobody}`)

    expect(foreign.status).toBe(404)
    expect(foreign).toMatchObject({
      body: JSON.parse(JSON.stringify(unknown.body).replaceAll(nobody, bob.userId)) as object,
    })
  })
})

describe('GET /platform/users', () => {
  test('lists users in pages to platform:admin only', async () => {
    const ada = await newPerson(service.api)

    const page = await service.api.withKey<{ total_records: number; content: User[] }>(
      'GET',
      '/platform/users?page_size=100',
    )

    expect(page.status).toBe(200)
    expect(page.body.content.map(({ id }) => id)).toContain(ada.userId)
    expect((await ada.withKey('GET', '/platform/users')).status).toBe(403)
  })

  test('tells how many users there are, without those who were deleted or never made', async () => {
    const total = async () =>
      (await service.api.withKey<{ total_records: number }>('GET', '/platform/users')).body
        .total_records
    const before = await total()

    const username = newUsername()
    const id = await createUser(service.api, username)
    await expect(createUser(service.api, username)).rejects.toThrow('conflict')
    expect(await total()).toBe(before + 1)

    await service.api.withKey('DELETE', `/users/${id}`)
    await service.api.withKey('DELETE', `/users/${id}`)
    expect(await total()).toBe(before)
  })

  test('shows of each user what is theirs', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    for (const person of [ada, bob]) {
      const entity = { name: `of ${person.userId}`, description: '', type: 'LEGAL_ENTITY' }
      await person.withKey('POST', `/users/${person.userId}/entities`, entity)
    }

    const { body } = await service.api.withKey<{
      content: { id: string; entities: { name: string }[] }[]
    }>('GET', '/platform/users?page_size=100')

    for (const { userId } of [ada, bob]) {
      const shown = body.content.find(({ id }) => id === userId)
      expect(shown?.entities.map(({ name }) => name)).toEqual([`of ${userId}`])
    }
  })

  test('finds the one of a name, in whatever case, with a total of one', async () => {
    const username = newUsername()
    const id = await createUser(service.api, username)
    const path = `/platform/users?username=${username.toUpperCase()}`

    const found = await service.api.withKey('GET', path)
    const none = await service.api.withKey('GET', `${path}-none`)

    expect(found.body).toMatchObject({ total_records: 1, content: [{ id, username }] })
    expect(none.body).toMatchObject({ total_records: 0, content: [] })
  })
})

describe('DELETE /users/{id}', () => {
  test('ends keys and tokens at once, and frees the name', async () => {
    const username = newUsername()
    const userId = await createUser(service.api, username)
    const key = await createKey(service.api, { userId })
    const headers = { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
    const token = await service.api.request<{ accessToken: string }>('POST', '/auth/token', {
      body: { apiKey: key.apiKey, apiSecret: key.apiSecret },
    })
    const bearer = { authorization: `Bearer ${token.body.accessToken}` }
    expect((await service.api.request('GET', '/users', { headers: bearer })).status).toBe(200)

    expect((await service.api.withKey('DELETE', `/users/${userId}`)).status).toBe(204)

    expect((await service.api.request('GET', '/users', { headers })).status).toBe(401)
    expect((await service.api.request('GET', '/users', { headers: bearer })).status).toBe(401)
    expect((await service.api.withKey('GET', `/users/${userId}`)).status).toBe(404)
    expect((await service.api.withKey('DELETE', `/users/${userId}`)).status).toBe(404)
    expect(await createUser(service.api, username)).not.toBe(userId)
  })

  test('makes no key for a deleted user', async () => {
    const userId = await createUser(service.api)
    await service.api.withKey('DELETE', `/users/${userId}`)

    const body = { name: 'late', kind: 'test', permission: 'admin', userId }
    expect((await service.api.withKey('POST', '/keys', body)).status).toBe(404)
  })

  test('needs platform:admin, also for oneself', async () => {
    const ada = await newPerson(service.api)

    expect((await ada.withKey('DELETE', `/users/${ada.userId}`)).status).toBe(403)
  })

  test('does not end the last user with platform:admin', async () => {
    const { body } = await service.api.withKey<User>('GET', '/users')
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const scopes = ['platform:admin']
    const passing = await newPerson(service.api, { permission: 'custom', scopes, expiresAt })

    const answer = await passing.withKey('DELETE', `/users/${body.id}`)

    expect(answer.status).toBe(409)
    expect((await service.api.withKey('GET', '/users')).status).toBe(200)
  })

  test('leaves one of two who end each other at the same moment', async () => {
    const scopes = ['platform:admin']
    const ada = await newPerson(service.api, { permission: 'custom', scopes })
    const bob = await newPerson(service.api, { permission: 'custom', scopes })
    const { body: root } = await service.api.withKey<User>('GET', '/users')

    const answers = await Promise.all([
      ada.withKey('DELETE', `/users/${bob.userId}`),
      bob.withKey('DELETE', `/users/${ada.userId}`),
      ada.withKey('DELETE', `/users/${root.id}`),
    ])

    const left = await Promise.all([
      ada.withKey('GET', '/users'),
      bob.withKey('GET', '/users'),
      service.api.withKey('GET', '/users'),
    ])
    expect(left.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect(answers.map(({ status }) => status)).not.toContain(500)
  })
})
