import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type MadeKey, newPerson, type Person, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Exchange {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

const template = { name: 'late', hint: '', required_streams: [] }

function byKey({ key }: Person): Record<string, string> {
  return { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
}

/** Sends a body only after the head was let in, and something has happened since. */
async function answerToLateBody(
  { path, headers, body }: Exchange,
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const bytes = JSON.stringify(body)
  const outgoing = request(service.process.http + path, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': bytes.length,
      // What the service says to it comes in the same turn in which it looks at the credentials.
      expect: '100-continue',
      ...headers,
    },
  })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  await meanwhile()
  outgoing.end(bytes)
  const [incoming] = await answered
  const chunks = (await incoming.toArray()) as Buffer[]
  const text = Buffer.concat(chunks).toString()
  return {
    status: incoming.statusCode ?? 0,
    body: JSON.parse(text) as Record<string, unknown>,
  }
}

function revoke({ key }: Person) {
  return service.api.withKey('DELETE', `/keys/${key.apiKey}`)
}

describe('a body that comes late', () => {
  test('is taken when the credentials are still good', async () => {
    const ada = await newPerson(service.api)

    const answer = await answerToLateBody(
      { path: '/templates', headers: byKey(ada), body: template },
      async () => undefined,
    )

    expect(answer.status).toBe(201)
  })

  test('changes nothing once its key was revoked', async () => {
    const ada = await newPerson(service.api)
    const other = personOf(service.api, (await newKeyOf(ada)).body)

    const answer = await answerToLateBody(
      { path: '/templates', headers: byKey(ada), body: template },
      () => revoke(ada),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
    const { body } = await other.withKey('GET', '/templates')
    expect(body).toMatchObject({ total_records: 0 })
  })

  test('changes nothing once the key of its token was revoked', async () => {
    const ada = await newPerson(service.api)
    const headers = { authorization: `Bearer ${await ada.token()}` }

    const answer = await answerToLateBody({ path: '/templates', headers, body: template }, () =>
      revoke(ada),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
  })

  test('changes nothing once its token was ended with all others', async () => {
    const ada = await newPerson(service.api)
    const headers = { authorization: `Bearer ${await ada.token()}` }

    const answer = await answerToLateBody({ path: '/templates', headers, body: template }, () =>
      service.api.withKey('POST', '/auth/signing-keys/rotate', { overlapSeconds: 0 }),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
  })

  test('changes nothing once its secret is the one before the last, and its time is up', async () => {
    const ada = await newPerson(service.api)
    const rotated = await ada.withKey('POST', `/keys/${ada.key.apiKey}/rotate`, {
      overlapSeconds: 8,
    })
    expect(rotated.status).toBe(200)
    const works = async () => (await ada.withKey('GET', '/users')).status === 200

    const answer = await answerToLateBody(
      { path: '/templates', headers: byKey(ada), body: template },
      () => expect.poll(works).toBe(false),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
  })

  test('is not looked at once its user was deleted', async () => {
    const ada = await newPerson(service.api)
    const streamId = await service.api.createStream()

    const answer = await answerToLateBody(
      { path: `/streams/${streamId}/data`, headers: byKey(ada), body: { temperature: 1 } },
      () => service.api.withKey('DELETE', `/users/${ada.userId}`),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
  })

  test('makes no key that outlives the one it came with, which has expired', async () => {
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const ada = await newPerson(service.api, { expiresAt })
    const works = async () => (await ada.withKey('GET', '/users')).status === 200

    const answer = await answerToLateBody(
      {
        path: '/keys',
        headers: byKey(ada),
        body: { name: 'for ever', kind: 'test', permission: 'admin' },
      },
      () => expect.poll(works).toBe(false),
    )

    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_api_key' } })
    expect((await keysOf(ada)).map(({ apiKey }) => apiKey)).toEqual([ada.key.apiKey])
  })
})

function newKeyOf(person: Person) {
  const body = { name: 'other', kind: 'test', permission: 'admin' }
  return person.withKey<MadeKey>('POST', '/keys', body)
}

async function keysOf({ userId }: Person): Promise<readonly MadeKey[]> {
  return (await service.api.withKey<MadeKey[]>('GET', `/keys?userId=${userId}`)).body
}
