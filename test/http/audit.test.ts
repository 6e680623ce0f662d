import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { metricOf } from '../support/metrics.ts'
import { createKey, newPerson } from '../support/people.ts'
import { adminKey } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

interface Entry {
  readonly id: string
  readonly timestamp: string
  readonly action: string
  readonly actorKeyId: string | null
  readonly subjectId: string | null
  readonly userId: string | null
  readonly address: string | null
  readonly details: Readonly<Record<string, unknown>>
}

async function started(folder = services.newFolder()) {
  const service = await services.start(folder)
  return { folder, service, api: new ApiClient(service.http) }
}

async function entries(api: ApiClient, query = ''): Promise<readonly Entry[]> {
  return (await api.withKey<Entry[]>('GET', `/audit?limit=1000${query}`)).body
}

test('tells who did what to whom, newest first, and never a secret', async () => {
  const { api } = await started()
  const ada = await newPerson(api)
  const rotated = await ada.withKey<{ apiSecret: string }>('POST', `/keys/${ada.key.apiKey}/rotate`)
  await api.withKey('DELETE', `/keys/${ada.key.apiKey}`)
  await api.withKey('DELETE', `/users/${ada.userId}`)
  await api.withKey('POST', '/auth/signing-keys/rotate')

  const log = await entries(api)

  expect(log.map(({ action }) => action)).toEqual([
    'signing_key.rotated',
    'user.deleted',
    'key.revoked',
    'key.rotated',
    'key.created',
    'user.created',
    'content_key.rotated',
    'signing_key.rotated',
  ])
  expect(log[3]).toMatchObject({
    actorKeyId: ada.key.apiKey,
    subjectId: ada.key.apiKey,
    userId: ada.userId,
    address: '127.0.0.1',
  })
  expect(log[4]).toMatchObject({ actorKeyId: adminKey, subjectId: ada.key.apiKey })
  const text = JSON.stringify(log)
  expect([ada.key.apiSecret, rotated.body.apiSecret].filter((one) => text.includes(one))).toEqual(
    [],
  )
})

test('has nothing of what did not come about', async () => {
  const { api } = await started()
  const { body: self } = await api.withKey<{ id: string; username: string }>('GET', '/users')
  const before = await entries(api)

  const refused = await Promise.all([
    api.withKey('POST', '/users', { username: self.username, first_name: '', last_name: '' }),
    api.withKey('DELETE', `/users/${self.id}`),
    api.withKey('DELETE', `/keys/${adminKey}`),
    api.withKey('POST', `/keys/${adminKey}/rotate`),
  ])

  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409])
  expect(await entries(api)).toEqual(before)
})

test('is read in pages, and by user and action', async () => {
  const { api } = await started()
  const ada = await newPerson(api)
  for (let count = 0; count < 3; count++) await createKey(api, { userId: ada.userId })

  const all = await entries(api)
  const paged: Entry[] = []
  let path = '/audit?limit=2'
  while (path !== '') {
    const { body, headers } = await api.withKey<Entry[]>('GET', path)
    paged.push(...body)
    path = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
  }

  expect(paged).toEqual(all)
  expect(await entries(api, `&userId=${ada.userId}&action=key.created`)).toHaveLength(4)
  expect((await api.withKey('GET', '/audit?cursor=x')).status).toBe(400)
  expect((await api.withKey('GET', '/audit?action=key.make')).status).toBe(400)
})

test('is for platform:admin only', async () => {
  const { api } = await started()
  const ada = await newPerson(api)

  expect((await ada.withKey('GET', '/audit')).status).toBe(403)
})

test('sums up failed logins, and names only keys that there are', async () => {
  const { folder, service, api } = await started()
  const ada = await newPerson(api)
  const attempts = [
    { 'x-api-key': ada.key.apiKey, 'x-api-secret': 'wrong' },
    { 'x-api-key': ada.key.apiKey, 'x-api-secret': 'wrong again' },
    { 'x-api-key': ada.key.apiSecret, 'x-api-secret': ada.key.apiKey },
    { authorization: 'Bearer nonsense' },
  ]
  for (const headers of attempts) {
    expect((await api.request('GET', '/users', { headers })).status).toBe(401)
  }
  expect(await metricOf(service, 'logins_failed_total')).toBe(4)
  expect(await metricOf(service, 'api_keys')).toBe(2)
  // They are written down once a minute, and when the service stops.
  await service.end('SIGTERM')

  const log = await entries((await started(folder)).api, '&action=login.failed')

  const found = log.map(({ subjectId, userId, address, details }) => [
    subjectId,
    userId,
    address,
    details,
  ])
  expect(found).toHaveLength(2)
  expect(found).toEqual(
    expect.arrayContaining([
      [ada.key.apiKey, ada.userId, '127.0.0.1', { count: 2 }],
      [null, null, '127.0.0.1', { count: 2 }],
    ]),
  )
})
