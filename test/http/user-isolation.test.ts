import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const nobody = '00000000-0000-4000-8000-000000000000'

interface Owner extends Person {
  readonly templateId: string
  readonly vaultId: string
  readonly streamId: string
  readonly assetStreamId: string
}

let ada: Owner
let bob: Owner

beforeAll(async () => {
  ada = await newOwner()
  bob = await newOwner()
})

async function newOwner(): Promise<Owner> {
  const person = await newPerson(service.api)
  const template = await person.withKey<{ id: string }>('POST', '/templates', {
    name: 'boiler',
    hint: '',
    required_streams: [],
  })
  const vault = await person.withKey<{ id: string }>('POST', '/vaults', {
    template_id: template.body.id,
    name: 'boiler 7',
    public: false,
  })
  const stream = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: vault.body.id,
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
  })
  const asset = await person.withKey<{ id: string }>('POST', '/streams', {
    asset_code: 'GOLD',
    description: null,
  })
  return {
    ...person,
    templateId: template.body.id,
    vaultId: vault.body.id,
    streamId: stream.body.streamId,
    assetStreamId: asset.body.id,
  }
}

/** An answer with the id taken out of it: what is left must not tell ids apart. */
function tells({ status, body }: Answer<unknown>, id: string): unknown {
  return [status, JSON.stringify(body).replaceAll(id, 'ID')]
}

const reading = { timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 }

type Attempt = [method: string, path: string, idOf: (owner: Owner) => string, body?: object]

const attempts: Attempt[] = [
  ['GET', '/templates/ID', ({ templateId }) => templateId],
  ['DELETE', '/templates/ID', ({ templateId }) => templateId],
  ['GET', '/vaults/ID', ({ vaultId }) => vaultId],
  ['DELETE', '/vaults/ID', ({ vaultId }) => vaultId],
  ['POST', '/streams/ID/data', ({ streamId }) => streamId, reading],
  ['GET', '/streams/ID/data', ({ streamId }) => streamId],
  ['GET', '/streams/ID/status', ({ streamId }) => streamId],
  ['GET', '/streams/ID/quarantine', ({ streamId }) => streamId],
  ['GET', '/users/ID', ({ userId }) => userId],
  ['POST', '/users/ID/entities', ({ userId }) => userId, { name: 'mine' }],
  ['POST', '/users/ID/credentials', ({ userId }) => userId, { key: 'mine' }],
  ['GET', '/keys?userId=ID', ({ userId }) => userId],
  ['GET', '/platform/users?page=1', ({ userId }) => userId],
  ['GET', '/audit?userId=ID', ({ userId }) => userId],
]

async function post(owner: Owner, temperature: number): Promise<number> {
  const answer = await service.api.request('POST', `/streams/${owner.streamId}/data`, {
    headers: {
      authorization: `Bearer ${await owner.token()}`,
      'idempotency-key': 'the very same',
    },
    body: { temperature },
  })
  return answer.status
}

async function logIn(apiKey: string, apiSecret: string): Promise<number> {
  return (await service.api.request('POST', '/auth/token', { body: { apiKey, apiSecret } })).status
}

describe('one user', () => {
  test.each(attempts)(
    'is told the same of %s %s, known or not',
    async (method, path, idOf, body) => {
      const id = idOf(ada)
      // The owner first: what is at hand for one is at hand for nobody else.
      if (method === 'GET') await ada.withToken(method, path.replace('ID', id))

      const foreign = await bob.withToken(method, path.replace('ID', id), body)
      const unknown = await bob.withToken(method, path.replace('ID', nobody), body)

      expect(foreign.status).toBeGreaterThanOrEqual(403)
      expect(tells(foreign, id)).toEqual(tells(unknown, nobody))
    },
  )

  test.each([
    ['a vault of a foreign template', '/vaults', (id: string) => ({ template_id: id, name: 'x' })],
    [
      'a stream of a foreign vault',
      '/streams',
      (id: string) => ({
        name: 'x',
        vaultId: id,
        type: 'iot_sensor',
        schema: { temperature: { type: 'number' } },
      }),
    ],
  ])('makes no %s, and is told nothing of it', async (_, path, bodyWith) => {
    const id = path === '/vaults' ? ada.templateId : ada.vaultId
    const send = path === '/vaults' ? bob.withKey : bob.withToken

    const foreign = await send('POST', path, bodyWith(id))
    const unknown = await send('POST', path, bodyWith(nobody))

    expect(foreign.status).toBe(404)
    expect(tells(foreign, id)).toEqual(tells(unknown, nobody))
  })

  test('is shown in no list of another', async () => {
    const lists = ['/vaults', '/keys', '/streams', '/templates']
    const answers = await Promise.all(
      lists.flatMap((path) => [bob.withKey('GET', path), bob.withToken('GET', path)]),
    )
    const texts = JSON.stringify(answers.map(({ body }) => body))

    const { userId, templateId, vaultId, streamId, assetStreamId, key } = ada
    const ids = [userId, templateId, vaultId, streamId, assetStreamId, key.apiKey]
    expect(ids.filter((id) => texts.includes(id))).toEqual([])
  })

  test('with the same Idempotency-Key as another gets an answer of its own', async () => {
    expect(await post(ada, 1)).toBe(202)
    expect(await post(bob, 2)).toBe(202)
  })

  test('who fails to log in again and again keeps no other out', async () => {
    const statuses: number[] = []
    for (let count = 0; count < 30; count++) statuses.push(await logIn(bob.key.apiKey, 'wrong'))

    expect(statuses).toContain(429)
    expect(await logIn(ada.key.apiKey, ada.key.apiSecret)).toBe(200)
  })
})
