import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

type Body = Readonly<Record<string, unknown>>

interface Operation {
  readonly path: string
  readonly body: Body
  /** Something else that the operation takes as well. */
  readonly other: Body
  /** How many there are of what it makes. */
  readonly count: () => Promise<number>
}

let operations: Readonly<Record<string, Operation>> = {}
let keys = 0

async function post(path: string, key: string, body: unknown): Promise<Answer<Body>> {
  return await service.api.withToken<Body>('POST', path, body, { 'idempotency-key': key })
}

async function totalOf(path: string): Promise<number> {
  const { body } = await service.api.withKey<{ total_records: number }>('GET', path)
  return body.total_records
}

beforeAll(async () => {
  const { api } = service
  const template = { name: 'boiler', hint: 'a boiler', required_streams: [] }
  const { body: made } = await api.withKey<{ id: string }>('POST', '/templates', template)
  const vault = { template_id: made.id, name: 'boiler 7' }
  const { body: home } = await api.withKey<{ id: string }>('POST', '/vaults', vault)
  const favorites = `/users/${await api.userId()}/favorites`
  const stream = {
    name: 'temperature',
    vaultId: home.id,
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
  }
  operations = {
    template: {
      path: '/templates',
      body: template,
      other: { ...template, name: 'pump' },
      count: () => totalOf('/templates'),
    },
    vault: {
      path: '/vaults',
      body: vault,
      other: { ...vault, name: 'boiler 8' },
      count: () => totalOf('/vaults'),
    },
    stream: {
      path: '/streams',
      body: stream,
      other: { ...stream, name: 'pressure' },
      count: async () => (await api.withToken<unknown[]>('GET', '/streams?limit=1000')).body.length,
    },
    favorite: {
      path: favorites,
      body: { type: 'NFT', ref: 'boiler 7' },
      other: { type: 'TOKEN', ref: 'boiler 7' },
      count: () => totalOf(favorites),
    },
  }
})

describe.each(['template', 'vault', 'stream', 'favorite'])('a %s that is posted', (what) => {
  function operation(): Operation {
    return operations[what] as Operation
  }

  test('fifty times at once under one key is made once, and all are answered the same', async () => {
    const { path, body, count } = operation()
    const before = await count()
    const key = `key ${keys++}`

    const answers = await Promise.all(Array.from({ length: 50 }, () => post(path, key, body)))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    const replays = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')
    expect(replays).toHaveLength(49)
    expect(await count()).toBe(before + 1)
  })

  test('with another body under the same key is 422 idempotency_conflict', async () => {
    const { path, body, other, count } = operation()
    const key = `key ${keys++}`
    // A favorite that is there already is refused, and a refusal is not remembered.
    await post(path, key, what === 'favorite' ? { ...body, ref: 'boiler 9' } : body)
    const before = await count()

    const answer = await post(path, key, other)

    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ error: 'idempotency_conflict' })
    expect(await count()).toBe(before)
  })

  test('with the same body in another spelling is another body', async () => {
    const { path, body } = operation()
    const key = `key ${keys++}`
    const given = what === 'favorite' ? { ...body, ref: 'boiler 10' } : body
    await post(path, key, given)

    const answer = await post(path, key, JSON.stringify(given, null, 1))

    expect(answer.status).toBe(422)
  })
})

test('a refusal is not remembered: the same request succeeds once it can', async () => {
  const path = `/users/${await service.api.userId()}/favorites`
  const body = { type: 'NFT', ref: 'in the way' }
  const { body: first } = await service.api.withToken<{ id: string }>('POST', path, body)
  const refused = await post(path, 'later', body)
  await service.api.withToken('DELETE', `${path}/${first.id}`)

  const answer = await post(path, 'later', body)

  expect([refused.status, answer.status]).toEqual([409, 201])
})

test('what was deleted since is not made again by a repetition', async () => {
  const { path, body, count } = operations['vault'] as Operation
  const { body: made } = await post(path, 'gone', body)
  await service.api.withToken('DELETE', `${path}/${String(made['id'])}`)
  const before = await count()

  const again = await post(path, 'gone', body)

  expect([again.status, again.body]).toEqual([201, made])
  expect(await count()).toBe(before)
})

test('one path in two spellings is one path', async () => {
  const { body } = operations['vault'] as Operation
  const { body: made } = await post('/vaults', 'spelled', body)

  const again = await post('/%76aults', 'spelled', body)

  expect([again.status, again.body]).toEqual([201, made])
})

test('one key on two paths makes two things', async () => {
  const vault = operations['vault'] as Operation
  const stream = operations['stream'] as Operation

  const answers = [
    await post(vault.path, 'shared', vault.body),
    await post(stream.path, 'shared', stream.body),
  ]

  expect(answers.map(({ status }) => status)).toEqual([201, 201])
})

test('a key means nothing at POST /auth/token', async () => {
  const answer = await service.api.request('POST', '/auth/token', {
    headers: { 'idempotency-key': '' },
    body: { apiKey: 'x', apiSecret: 'y' },
  })

  expect(answer.status).toBe(401)
})
