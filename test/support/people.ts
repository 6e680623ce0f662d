import type { Answer, ApiClient } from './api-client.ts'

/** A key with its secret, as it was shown once. */
export interface MadeKey {
  readonly apiKey: string
  readonly apiSecret: string
  readonly userId: string
  readonly scopes: readonly string[]
  readonly [field: string]: unknown
}

type Send = <Body>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer<Body>>

/** A user of the service, and one key. Speaks either interface. */
export interface Person {
  readonly userId: string
  readonly key: MadeKey
  readonly withKey: Send
  readonly withToken: Send
  /** A new token of the key. */
  readonly token: () => Promise<string>
}

let people = 0

/** A name that no other user of a test has. */
export function newUsername(): string {
  return `person-${process.pid}-${++people}`
}

/** Makes a user, by the bootstrap user. */
export async function createUser(api: ApiClient, username = newUsername()): Promise<string> {
  const body = { username, first_name: 'Ada', last_name: 'Lovelace' }
  const answer = await api.withKey<{ id: string }>('POST', '/users', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

/** Makes a key, by the bootstrap user. */
export async function createKey(api: ApiClient, body: object = {}): Promise<MadeKey> {
  const wanted = { name: 'a key', kind: 'test', permission: 'admin', ...body }
  const answer = await api.withKey<MadeKey>('POST', '/keys', wanted)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Makes a user with a key, an Admin one unless something else is asked for. */
export async function newPerson(api: ApiClient, key: object = {}): Promise<Person> {
  const userId = await createUser(api)
  return personOf(api, await createKey(api, { userId, ...key }))
}

/** Speaks with this key. */
export function personOf(api: ApiClient, key: MadeKey): Person {
  const token = async () => {
    const { apiKey, apiSecret } = key
    const answer = await api.request<{ accessToken: string }>('POST', '/auth/token', {
      body: { apiKey, apiSecret },
    })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.accessToken
  }
  return {
    userId: key.userId,
    key,
    token,
    withKey: (method, path, body, headers = {}) =>
      api.request(method, path, {
        headers: { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret, ...headers },
        body,
      }),
    withToken: async (method, path, body, headers = {}) =>
      api.request(method, path, {
        headers: { authorization: `Bearer ${await token()}`, ...headers },
        body,
      }),
  }
}

/** A new vault of this person. */
export async function vaultOf(person: Pick<Person, 'withKey'>): Promise<string> {
  const template = await person.withKey<{ id: string }>('POST', '/templates', {
    name: 'boiler',
    hint: '',
    required_streams: [],
  })
  const vault = await person.withKey<{ id: string }>('POST', '/vaults', {
    template_id: template.body.id,
    name: 'boiler 7',
  })
  return vault.body.id
}

/** A new stream of numbers called `temperature`, in a vault of its own. */
export async function streamOf(person: Person, processing: object = {}): Promise<string> {
  const stream = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: await vaultOf(person),
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
    processing,
  })
  return stream.body.streamId
}

/** Readings of a stream that were received, once nothing is on its way any more. */
export async function received(person: Person, streamId: string): Promise<number> {
  const { body } = await person.withToken<{ counters: { received: number } }>(
    'GET',
    `/streams/${streamId}/status`,
  )
  return body.counters.received
}
