import { beforeAll, describe, expect, test } from 'vitest'
import { asDevice, type MadeDevice, newDevice, newStreams } from '../support/devices.ts'
import { errorOf, type Json, neededQuery, operationsOf } from '../support/openapi-operations.ts'
import { createKey, newPerson, type Person, personOf, received } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const reading = { temperature: 21.5 }

let ada: Person
let own = ''
let other = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  const { streamIds } = await newStreams(ada, 2)
  own = streamIds[0] ?? ''
  other = streamIds[1] ?? ''
})

interface Refused {
  readonly error: string
  readonly message: string
  readonly details?: readonly { readonly path: string }[]
}

function send(device: Pick<MadeDevice, 'apiKey' | 'apiSecret'>, streamId = own) {
  return asDevice<Refused>(service.api, device, ['POST', `/streams/${streamId}/data`, reading])
}

describe('POST /devices', () => {
  test('answers a key of its own and a secret, and keeps the secret to itself', async () => {
    const answer = await ada.withKey<MadeDevice>('POST', '/devices', {
      name: 'boiler 7',
      streamIds: [own],
      clientId: 'boiler-7',
      rateLimit: { readingsPerSecond: 10, burst: 100 },
    })

    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { apiSecret, ...device } = answer.body
    expect(apiSecret).toHaveLength(43)
    expect(device).toMatchObject({
      apiKey: expect.stringMatching(/^sv_dev_[0-9a-f]{24}$/) as string,
      state: 'active',
      streamIds: [own],
      clientId: 'boiler-7',
      commandTopic: `users/${ada.userId}/devices/${device.id}/`,
      lastSeen: null,
    })
    expect((await ada.withKey('GET', `/devices/${device.id}`)).body).toEqual(device)
    const folder = await import('node:fs').then((fs) =>
      fs.globSync(`${service.process.dataDir}/*`).flatMap((path) => {
        return fs.statSync(path).isFile() ? [fs.readFileSync(path).includes(apiSecret)] : []
      }),
    )
    expect(folder.length).toBeGreaterThan(2)
    expect(folder).not.toContain(true)
  })

  test.each([
    ['no stream', { streamIds: [] }, ['streamIds']],
    ['too many streams', { streamIds: Array(17).fill('x') }, ['streamIds']],
    ['what is no id', { streamIds: ['x'] }, ['streamIds.0']],
    ['no name', { name: '' }, ['name']],
    [
      'a rate of nothing',
      { rateLimit: { readingsPerSecond: 0, burst: 0 } },
      ['rateLimit.readingsPerSecond', 'rateLimit.burst'],
    ],
    [
      'a rate of next to nothing',
      { rateLimit: { readingsPerSecond: 5e-324, burst: 1 } },
      ['rateLimit.readingsPerSecond'],
    ],
    ['a rate without a burst', { rateLimit: { readingsPerSecond: 1 } }, ['rateLimit.burst']],
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
    ['a member that nobody knows', { colour: 'red' }, ['colour']],
    ['line ends in the client id', { clientId: 'a\nb' }, ['clientId']],
  ])('refuses %s', async (_, wish, paths) => {
    const body = { name: 'a device', streamIds: [own], ...wish }

    const answer = await ada.withKey<Refused>('POST', '/devices', body)

    expect(answer.status).toBe(400)
    expect(answer.body.details?.map(({ path }) => path)).toEqual(paths)
  })

  test("is 404 for somebody else's stream, and makes nothing", async () => {
    const bob = await newPerson(service.api)

    const body = { name: 'a spy', streamIds: [own] }
    const answer = await bob.withKey<Refused>('POST', '/devices', body)

    expect([answer.status, answer.body.error]).toEqual([404, 'not_found'])
    expect((await bob.withKey('GET', '/devices')).body).toEqual([])
  })

  test('gives no more than its maker has, in scope or in time', async () => {
    const { userId } = ada
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const scopes = ['keys:admin']
    const narrow = personOf(
      service.api,
      await createKey(service.api, { userId, permission: 'custom', scopes }),
    )
    const short = personOf(service.api, await createKey(service.api, { userId, expiresAt }))
    const body = { name: 'a device', streamIds: [own] }

    expect((await narrow.withKey<Refused>('POST', '/devices', body)).status).toBe(403)
    const longer = { ...body, expiresAt: new Date(Date.now() + 7_200_000).toISOString() }
    expect((await short.withKey<Refused>('POST', '/devices', longer)).status).toBe(403)
    const made = await short.withKey<MadeDevice>('POST', '/devices', body)
    expect(Date.parse(String(made.body['expiresAt']))).toBe(Date.parse(expiresAt))
  })

  test('under one Idempotency-Key makes one device, and gives its secret again', async () => {
    const headers = { 'idempotency-key': 'device-1' }
    const body = { name: 'once', streamIds: [own] }

    const first = await ada.withKey<MadeDevice>('POST', '/devices', body, headers)
    const again = await ada.withKey<MadeDevice>('POST', '/devices', body, headers)

    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await ada.withKey<unknown[]>('GET', '/devices?name=once')).body).toHaveLength(1)
  })
})

describe('the key of a device', () => {
  test('sends readings of its own streams, by itself and by a token', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const { apiKey, apiSecret } = device
    const before = await received(ada, own)

    expect((await send(device)).status).toBe(202)
    const token = await service.api.request<{ accessToken: string; scope: string }>(
      'POST',
      '/auth/token',
      { body: { apiKey, apiSecret } },
    )
    expect(token.body.scope).toBe('data:write')
    const headers = { authorization: `Bearer ${token.body.accessToken}` }
    const path = `/streams/${own}/data`
    const byToken = await service.api.request('POST', path, { headers, body: reading })
    expect(byToken.status).toBe(202)
    const several = [
      { streamId: own, ...reading },
      { streamId: other, ...reading },
    ]
    const mixed = await asDevice<{
      accepted: number
      rejected: { index: number; error: string }[]
    }>(service.api, device, ['POST', '/data', several])

    expect(mixed.body.accepted).toBe(1)
    expect(mixed.body.rejected).toMatchObject([{ index: 1, error: 'not_found' }])
    expect(await received(ada, own)).toBe(before + 3)
    expect(await received(ada, other)).toBe(0)
  })

  test('finds no other stream of the same user, as if there were none', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const nobody = '00000000-0000-4000-8000-000000000000'

    const [foreign, unknown] = [await send(device, other), await send(device, nobody)]

    expect(foreign.status).toBe(404)
    expect(foreign.body.message.replace(other, '')).toBe(unknown.body.message.replace(nobody, ''))
    expect(await received(ada, other)).toBe(0)
  })

  test('is refused by every operation but those that send readings', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const { apiKey, apiSecret } = device
    const { body: document } = await service.api.request<Json>('GET', '/openapi.json')
    const { body: token } = await service.api.request<{ accessToken: string }>(
      'POST',
      '/auth/token',
      { body: { apiKey, apiSecret } },
    )
    const credentials = [
      { 'x-api-key': apiKey, 'x-api-secret': apiSecret },
      { authorization: `Bearer ${token.accessToken}` },
    ]
    const letIn = new Set<string>()
    const statuses = new Set<number>()
    for (const operation of operationsOf(document).filter(({ security }) => security.length > 0)) {
      const path = operation.path.replaceAll('{streamId}', own).replaceAll(/\{\w+\}/g, device.id)
      for (const headers of credentials) {
        const answer = await service.api.request<Refused>(
          operation.method,
          path + neededQuery(operation),
          { headers, body: operation.requestBody?.content['application/json']?.['example'] },
        )
        if (errorOf(answer) === 'insufficient_permissions') statuses.add(answer.status)
        else letIn.add(`${operation.method} ${operation.path}`)
      }
    }

    expect([...letIn].toSorted()).toEqual([
      'POST /api/v1/write',
      'POST /api/v2/write',
      'POST /data',
      'POST /fleets/{fleetId}/data',
      'POST /fleets/{fleetId}/devices/{device}/data',
      'POST /streams/{streamId}/data',
      'POST /v1/metrics',
      'POST /write',
    ])
    expect([...statuses]).toEqual([403])
  })

  test('of two devices may be used with the same Idempotency-Key', async () => {
    const devices = [
      await newDevice(ada, { streamIds: [own] }),
      await newDevice(ada, { streamIds: [own] }),
    ]
    const statuses: number[] = []
    for (const [index, { apiKey, apiSecret }] of devices.entries()) {
      const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret, 'idempotency-key': '1' }
      const body = { temperature: index }
      const path = `/streams/${own}/data`
      statuses.push((await service.api.request('POST', path, { headers, body })).status)
    }

    expect(statuses).toEqual([202, 202])
  })

  test.each(['sv_dev_000000000000000000000000', ''])(
    'is refused like one that nobody has: %j',
    async (apiKey) => {
      const device = await newDevice(ada, { streamIds: [own] })

      const wrong = await send({ apiKey: apiKey || device.apiKey, apiSecret: 'wrong' })

      expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_api_key'])
      expect(wrong.body.message).toBe('the key or its secret is not valid')
    },
  )
})
