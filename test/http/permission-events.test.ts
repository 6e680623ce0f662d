import { beforeEach, describe, expect, test } from 'vitest'
import {
  createKey,
  createUser,
  newPerson,
  newUsername,
  type Person,
  personOf,
  vaultOf,
} from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'
import { isSigned, webhooksAt } from '../support/webhook-client.ts'

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
const secret = 'a secret of who is told'

let owner: Person
let holder: Person
let username: string

beforeEach(async () => {
  owner = await newPerson(service.api)
  username = newUsername()
  const userId = await createUser(service.api, username)
  holder = personOf(service.api, await createKey(service.api, { userId }))
})

interface Shown extends Readonly<Record<string, unknown>> {
  readonly id: string
}

interface Entry {
  readonly event_type: string
  readonly [field: string]: unknown
}

/** What of a person's can be shared, and what is told of it. */
const kinds = {
  vault: {
    make: (person: Person) => vaultOf(person),
    at: '/vaults',
    filter: 'vault_ids',
    member: 'vault_id',
    service: 'vault',
  },
  stream: {
    async make(person: Person) {
      const body = { asset_code: `CODE${++made}`, description: null }
      return (await person.withKey<Shown>('POST', '/streams', body)).body.id
    },
    at: '/streams',
    filter: 'stream_ids',
    member: 'stream_id',
    service: 'asset_stream',
  },
} as const
let made = 0

type Kind = keyof typeof kinds
const deeds = ['granted', 'updated', 'revoked'] as const

/** Grants a permission, changes it and takes it back; resolves with the record after each. */
async function shareFor(kind: Kind, id: string): Promise<readonly Shown[]> {
  const at = `${kinds[kind].at}/${id}/permissions`
  const wish = { username, role: 'READ' }
  const { body: granted } = await owner.withKey<Shown>('POST', at, wish)
  const one = `${at}/${granted.id}`
  const { body: updated } = await owner.withKey<Shown>('PUT', one, { role: 'WRITE' })
  await owner.withKey('PUT', one, { role: 'WRITE' })
  await owner.withKey('DELETE', one)
  return [granted, updated, updated]
}

async function toldIn(person: Person): Promise<readonly Entry[]> {
  const path = '/notifications/in-app?page_size=100'
  const { body } = await person.withKey<{ content: readonly Entry[] }>('GET', path)
  return body.content.filter((one) => one.event_type.includes('permission')).toReversed()
}

async function webhook(person: Person, body: object): Promise<void> {
  const { status } = await person.withToken('POST', '/webhooks', {
    url: receiver.url,
    secret,
    ...body,
  })
  expect(status).toBe(201)
}

/** Bodies that have come, in whatever order, by what they say happened. */
async function received(count: number): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const requests = await receiver.requests(count)
  expect(requests.every((one) => isSigned(one, secret))).toBe(true)
  return requests.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>)
}

describe.each(['vault', 'stream'] as const)('a permission of a %s', (kind) => {
  const types = deeds.map((deed) => `${kind}.permission.${deed}`)

  test('is told of to its owner and its holder, by the inbox', async () => {
    const id = await kinds[kind].make(owner)
    const [granted] = await shareFor(kind, id)
    const places = { vault_id: null, stream_id: null, [kinds[kind].member]: id }
    const about = { resource_type: `${kind}_permission`, resource_id: granted?.id, ...places }
    const title = `Permission of a ${kind} granted`

    for (const person of [owner, holder]) {
      const told = await toldIn(person)
      expect(told).toMatchObject(types.map((type) => ({ event_type: type, ...about })))
      expect(told[0]).toMatchObject({ type: 'INFO', title, message: `${title}: ${username}` })
    }
  })

  test('is told of in the emitted format, as its owner sees it, to both', async () => {
    const id = await kinds[kind].make(owner)
    for (const person of [owner, holder]) await webhook(person, { events: types })
    const records = await shareFor(kind, id)

    const bodies = await received(6)
    for (const [index, type] of types.entries()) {
      const told = bodies.filter((one) => one['event_type'] === type)
      expect(told.map(({ data }) => data)).toEqual([records[index], records[index]])
    }
  })

  test('is filtered by what is shared', async () => {
    const id = await kinds[kind].make(owner)
    const other = await kinds[kind].make(owner)
    for (const one of [id, other]) {
      const filters = { resource_filters: { [kinds[kind].filter]: [one] } }
      const body = { url: receiver.url, event_types: [types[0]], secret, ...filters }
      expect((await holder.withKey('POST', webhooksAt, body)).status).toBe(201)
    }
    await shareFor(kind, id)
    await shareFor(kind, other)

    const bodies = await received(2)
    const shared = bodies.map(({ data }) => String((data as Shown)[kinds[kind].member]))
    expect(shared.toSorted()).toEqual([id, other].toSorted())
  })

  test('is not told of by a channel that preferences have closed', async () => {
    const closed = { permission_notifications: { enabled: false } }
    await holder.withKey('PUT', '/notifications/preferences', { category_preferences: closed })
    const one = { [`${kind}.permission.updated`]: { channels: ['email'] } }
    await owner.withKey('PUT', '/notifications/preferences', { event_preferences: one })
    await shareFor(kind, await kinds[kind].make(owner))

    expect(await toldIn(holder)).toEqual([])
    expect((await toldIn(owner)).map((entry) => entry.event_type)).toEqual([types[0], types[2]])
  })

  test('that is granted, revoked and granted anew is told of three times', async () => {
    const at = `${kinds[kind].at}/${await kinds[kind].make(owner)}/permissions`
    const grant = () => owner.withKey<Shown>('POST', at, { username, role: 'READ' })
    await owner.withKey('DELETE', `${at}/${(await grant()).body.id}`)
    await grant()

    const expected = [types[0], types[2], types[0]]
    for (const person of [owner, holder]) {
      expect((await toldIn(person)).map((entry) => entry.event_type)).toEqual(expected)
    }
  })

  test('that changes twice within minutes is told of once, as all that repeats', async () => {
    const at = `${kinds[kind].at}/${await kinds[kind].make(owner)}/permissions`
    const { body } = await owner.withKey<Shown>('POST', at, { username, role: 'READ' })
    for (const role of ['WRITE', 'READ']) await owner.withKey('PUT', `${at}/${body.id}`, { role })

    expect((await toldIn(holder)).map((entry) => entry.event_type)).toEqual(types.slice(0, 2))
  })

  test('is told of in streams of the service, with the key of who did it to that user alone', async () => {
    const streams: Record<'owner' | 'holder', string> = { owner: '', holder: '' }
    for (const [who, person] of Object.entries({ owner, holder })) {
      const body = { name: 'changes', vaultId: await vaultOf(person), type: 'service' }
      const { body: stream } = await person.withToken<Shown>('POST', '/streams', body)
      streams[who as 'owner' | 'holder'] = String(stream['streamId'])
    }
    const id = await kinds[kind].make(owner)
    const [granted] = await shareFor(kind, id)

    for (const [who, person] of Object.entries({ owner, holder })) {
      const path = `/streams/${streams[who as 'owner' | 'holder']}/data?limit=100`
      const told = async () => {
        const { body } = await person.withToken<{ data: readonly Entry[] }>('GET', path)
        return body.data.filter((one) => String(one['event']).includes('permission'))
      }
      await expect.poll(async () => (await told()).length).toBe(3)
      for (const [index, one] of (await told()).entries()) {
        expect(one).toMatchObject({
          event: `${kinds[kind].service}.permission.${deeds[index]}`,
          resourceType: `${kinds[kind].service}_permission`,
          resourceId: granted?.id,
        })
        expect(one['apiKeyId']).toBe(who === 'owner' ? owner.key.apiKey : undefined)
      }
    }
  })
})

describe('vault.permission_changed', () => {
  const events = ['vault.permission_changed']

  test('is told of each change in the forthcoming format to both, and of streams never', async () => {
    const vaultId = await vaultOf(owner)
    for (const person of [owner, holder]) await webhook(person, { events })
    await shareFor('stream', await kinds.stream.make(owner))
    const [granted] = await shareFor('vault', vaultId)

    const bodies = await received(6)
    const about = { permissionId: granted?.id, vaultId, userId: holder.userId, username }
    for (const [index, change] of deeds.entries()) {
      const told = bodies.filter(({ data }) => (data as { change?: string }).change === change)
      const role = index === 0 ? 'READ' : 'WRITE'
      const data = { ...about, role, expiresAt: null, change }
      expect(told.map((one) => one['data'])).toEqual([data, data])
      expect(told[0]).toMatchObject({ eventType: 'vault.permission_changed' })
    }
    const types = [...(await toldIn(owner)), ...(await toldIn(holder))].map((one) => one.event_type)
    expect(types).not.toContain('vault.permission_changed')
  })

  test('is told each time, however soon it is repeated', async () => {
    await webhook(holder, { events })
    const at = `/vaults/${await vaultOf(owner)}/permissions`
    const { body } = await owner.withKey<Shown>('POST', at, { username, role: 'READ' })
    for (const role of ['WRITE', 'READ', 'WRITE']) {
      await owner.withKey('PUT', `${at}/${body.id}`, { role })
    }

    expect(await received(4)).toHaveLength(4)
  })

  test.each([
    ['vaultIds', () => vaultOf(owner)],
    ['userIds', async () => holder.userId],
  ] as const)('is filtered by %s', async (name, passing) => {
    const passes = await passing()
    const vaultId = name === 'vaultIds' ? passes : await vaultOf(owner)
    await webhook(holder, { events, filters: { [name]: [owner.userId] } })
    await webhook(holder, { events, filters: { [name]: [passes] } })
    await shareFor('vault', await vaultOf(owner))
    await shareFor('vault', vaultId)

    const bodies = await received(name === 'vaultIds' ? 3 : 6)
    const vaults = new Set(bodies.map(({ data }) => (data as { vaultId: string }).vaultId))
    expect(vaults.size).toBe(name === 'vaultIds' ? 1 : 2)
    expect(vaults).toContain(vaultId)
  })
})

test('of other things that happen to a shared vault only its owner is told', async () => {
  const vaultId = await vaultOf(owner)
  await owner.withKey('POST', `/vaults/${vaultId}/permissions`, { username, role: 'WRITE' })
  await owner.withKey('DELETE', `/vaults/${vaultId}`)
  // What has ended with it is the last thing that either is told.
  await expect
    .poll(async () => (await toldIn(holder)).map((entry) => entry.event_type))
    .toEqual(['vault.permission.granted', 'vault.permission.revoked'])

  const path = '/notifications/in-app?page_size=100'
  const all = await holder.withKey<{ content: readonly Entry[] }>('GET', path)
  const types = all.body.content.map((entry) => entry.event_type)
  expect(types.filter((type) => type.startsWith('vault.') && !type.includes('permission'))).toEqual(
    [],
  )
  const own = await owner.withKey<{ content: readonly Entry[] }>('GET', path)
  expect(own.body.content.map((entry) => entry.event_type)).toContain('vault.deleted')
})

test('a permission ends when its time is over, and both are told within seconds', async () => {
  const at = `/vaults/${await vaultOf(owner)}/permissions`
  const expires = new Date(Date.now() + 1_500).toISOString()
  const wish = { username, role: 'READ', expires_at: expires }
  expect((await owner.withKey('POST', at, wish)).status).toBe(201)

  const types = ['vault.permission.granted', 'vault.permission.revoked']
  for (const person of [owner, holder]) {
    const told = async () => (await toldIn(person)).map((entry) => entry.event_type)
    await expect.poll(told).toEqual(types)
  }
  expect((await owner.withKey('GET', at)).body).toMatchObject({ total_records: 0 })
})

test.each(['owner', 'holder'] as const)(
  'a permission ends when its %s is deleted, and the other one is told',
  async (who) => {
    const at = `/vaults/${await vaultOf(owner)}/permissions`
    await owner.withKey('POST', at, { username, role: 'READ' })
    const parties = { owner, holder }
    const gone = await service.api.withKey('DELETE', `/users/${parties[who].userId}`)
    expect(gone.status).toBe(204)

    const other = who === 'owner' ? holder : owner
    const told = async () => (await toldIn(other)).map((entry) => entry.event_type)
    await expect.poll(told).toEqual(['vault.permission.granted', 'vault.permission.revoked'])
    if (who === 'holder') {
      expect((await owner.withKey('GET', at)).body).toMatchObject({ total_records: 0 })
    }
  },
)
