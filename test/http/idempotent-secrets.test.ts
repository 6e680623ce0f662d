import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { createKey, type MadeKey, newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const wanted = { name: 'gateway', kind: 'test', permission: 'read_only' }

function post(
  { apiKey, apiSecret }: Pick<MadeKey, 'apiKey' | 'apiSecret'>,
  path: string,
  { key, body }: { readonly key: string; readonly body?: object },
): Promise<Answer<MadeKey>> {
  return service.api.request('POST', path, {
    headers: { 'x-api-key': apiKey, 'x-api-secret': apiSecret, 'idempotency-key': key },
    body,
  })
}

async function keysOf(userId: string): Promise<number> {
  return (await service.api.withKey<unknown[]>('GET', `/keys?userId=${userId}`)).body.length
}

describe('a key that is made under an Idempotency-Key', () => {
  test('is made once, and its secret is answered again to who has not heard it', async () => {
    const { userId, key } = await newPerson(service.api)

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(key, '/keys', { key: 'k', body: wanted })),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => body.apiSecret)).size).toBe(1)
    expect(await keysOf(userId)).toBe(2)
    const made = answers[0]?.body as MadeKey
    const headers = { 'x-api-key': made.apiKey, 'x-api-secret': made.apiSecret }
    expect((await service.api.request('GET', '/vaults', { headers })).status).toBe(200)
  })

  test('is answered again when the end that was asked for has passed', async () => {
    const { key } = await newPerson(service.api)
    const body = { ...wanted, expiresAt: new Date(Date.now() + 8_000).toISOString() }
    const first = await post(key, '/keys', { key: 'k', body })
    let others = 0
    const another = async () =>
      (await post(key, '/keys', { key: `other ${others++}`, body })).status
    await expect.poll(another, { interval: 500 }).toBe(400)

    const again = await post(key, '/keys', { key: 'k', body })

    expect([again.status, again.body]).toEqual([201, first.body])
  })

  test('is kept in no cache when it is answered again', async () => {
    const { key } = await newPerson(service.api)
    await post(key, '/keys', { key: 'k', body: wanted })

    const { headers } = await post(key, '/keys', { key: 'k', body: wanted })

    expect(headers.get('idempotency-replayed')).toBe('true')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('is not shown again to another key of the same user, which may have fewer rights', async () => {
    const { userId, key } = await newPerson(service.api)
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const guest = await createKey(service.api, { userId, expiresAt })
    const first = await post(key, '/keys', { key: 'k', body: wanted })

    const second = await post(guest, '/keys', { key: 'k', body: wanted })

    expect(second.status).toBe(201)
    expect(second.body.apiKey).not.toBe(first.body.apiKey)
    expect(second.body.apiSecret).not.toBe(first.body.apiSecret)
    expect(second.body['expiresAt']).not.toBeNull()
  })

  test('leaves its secret nowhere in the state', async () => {
    const { key } = await newPerson(service.api)
    const { body } = await post(key, '/keys', { key: 'k', body: wanted })

    for (const file of ['state.db', 'state.db-wal']) {
      const bytes = readFileSync(join(service.process.dataDir, file))
      expect(bytes.includes(body.apiSecret)).toBe(false)
    }
    const wal = readFileSync(join(service.process.dataDir, 'state.db-wal'))
    expect(wal.includes(body.apiKey)).toBe(true)
  })
})

test('a rotation is done once: the secret of the first answer stays good', async () => {
  const { key } = await newPerson(service.api)
  const path = `/keys/${key.apiKey}/rotate`

  const first = await post(key, path, { key: 'k', body: {} })
  const second = await post(key, path, { key: 'k', body: {} })

  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.body).toEqual(first.body)
  const headers = { 'x-api-key': key.apiKey, 'x-api-secret': first.body.apiSecret }
  expect((await service.api.request('GET', '/vaults', { headers })).status).toBe(200)
})

describe.each([
  ['/notifications/webhooks', { event_types: ['vault.created'] }],
  ['/webhooks', { events: ['vault.created'] }],
])('a webhook that is made at %s', (path, events) => {
  const body = { url: 'https://93.184.215.14/hook', secret: 'of our own', ...events }

  test('is answered again to the key that has made it, and made anew for another', async () => {
    const { userId, key } = await newPerson(service.api)
    const other = await createKey(service.api, { userId })
    const first = await post(key, path, { key: 'k', body })

    const again = await post(key, path, { key: 'k', body })
    const second = await post(other, path, { key: 'k', body })

    expect([again.status, again.body]).toEqual([201, first.body])
    expect(second.status).toBe(201)
    expect(second.body).not.toEqual(first.body)
  })
})

test('a new secret of a webhook is answered again to the key that asked for it alone', async () => {
  const { userId, key } = await newPerson(service.api)
  const other = await createKey(service.api, { userId })
  const at = '/notifications/webhooks'
  const body = { url: 'https://93.184.215.14/hook', event_types: ['vault.created'] }
  const { id } = (await post(key, at, { key: 'k', body })).body
  const path = `${at}/${String(id)}/rotate-secret`
  const first = await post(key, path, { key: 'k', body: {} })

  const again = await post(key, path, { key: 'k', body: {} })
  const second = await post(other, path, { key: 'k', body: {} })

  expect([again.status, again.body]).toEqual([200, first.body])
  expect(second.status).toBe(200)
  expect(second.body['secret']).not.toBe(first.body['secret'])
})

test.each([
  ['/users', { username: 'ada.lovelace', first_name: 'Ada', last_name: 'Lovelace' }],
  ['/auth/signing-keys/rotate', {}],
])('%s is done once under a key', async (path, body) => {
  const send = () =>
    service.api.withToken('POST', path, body, { 'idempotency-key': 'once for all' })

  const answers = await Promise.all(Array.from({ length: 10 }, send))

  expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true)
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
})

test.each(['entities', 'credentials'])('%s of a user are added once under a key', async (part) => {
  const { userId, key } = await newPerson(service.api)
  const body = part === 'entities' ? { name: 'Plant Ltd' } : { key: 'ada@example.org' }
  const path = `/users/${userId}/${part}`

  const answers = await Promise.all(
    Array.from({ length: 10 }, () => post(key, path, { key: 'k', body })),
  )

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  const { body: user } = await service.api.withKey<Record<string, unknown[]>>(
    'GET',
    `/users/${userId}`,
  )
  expect(user[part]).toHaveLength(1)
})
