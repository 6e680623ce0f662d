import { beforeAll, describe, expect, test } from 'vitest'
import { asDevice, type MadeDevice, newDevice, newStreams } from '../support/devices.ts'
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
}

function send(device: Pick<MadeDevice, 'apiKey' | 'apiSecret'>, streamId = own) {
  return asDevice<Refused>(service.api, device, ['POST', `/streams/${streamId}/data`, reading])
}

describe('a device', () => {
  test('that is revoked is refused at once with its tokens, and stays in the list', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const { apiKey, apiSecret } = device
    expect((await send(device)).status).toBe(202)
    const { body: token } = await service.api.request<{ accessToken: string }>(
      'POST',
      '/auth/token',
      { body: { apiKey, apiSecret } },
    )

    const revoked = await ada.withKey<MadeDevice>('POST', `/devices/${device.id}/revoke`)

    expect([revoked.status, revoked.body['state']]).toEqual([200, 'revoked'])
    expect((await send(device)).status).toBe(401)
    const headers = { authorization: `Bearer ${token.accessToken}` }
    const path = `/streams/${own}/data`
    expect((await service.api.request('POST', path, { headers, body: reading })).status).toBe(401)
    const listed = await ada.withKey<MadeDevice[]>('GET', '/devices?state=revoked')
    expect(listed.body.map(({ id }) => id)).toContain(device.id)
    const changed = await ada.withKey('PUT', `/devices/${device.id}`, { name: 'alive' })
    expect(changed.status).toBe(409)
    const rotated = await ada.withKey('POST', `/devices/${device.id}/rotate`)
    expect(rotated.status).toBe(409)
  })

  test('that is deleted is gone, and what it sent stays', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    await send(device)
    const before = await received(ada, own)

    expect((await ada.withKey('DELETE', `/devices/${device.id}`)).status).toBe(204)

    expect((await send(device)).status).toBe(401)
    expect((await ada.withKey('GET', `/devices/${device.id}`)).status).toBe(404)
    expect((await ada.withKey('DELETE', `/devices/${device.id}`)).status).toBe(404)
    expect(await received(ada, own)).toBe(before)
  })

  test('gets other streams by PUT, and keeps what is not sent', async () => {
    const device = await newDevice(ada, { streamIds: [own], clientId: 'seven' })
    expect((await send(device)).status).toBe(202)

    const changed = await ada.withKey<MadeDevice>('PUT', `/devices/${device.id}`, {
      streamIds: [other],
      rateLimit: { readingsPerSecond: 5, burst: 5 },
    })

    expect(changed.body).toMatchObject({ streamIds: [other], clientId: 'seven', name: 'a device' })
    expect([(await send(device)).status, (await send(device, other)).status]).toEqual([404, 202])
    const freed = await ada.withKey<MadeDevice>('PUT', `/devices/${device.id}`, {
      clientId: null,
      rateLimit: null,
    })
    expect(freed.body).toMatchObject({ clientId: null, rateLimit: null, streamIds: [other] })
  })

  test('sends nothing more once its stream is deleted', async () => {
    const { streamIds } = await newStreams(ada, 1)
    const device = await newDevice(ada, { streamIds })
    expect((await send(device, streamIds[0])).status).toBe(202)

    await ada.withToken('DELETE', `/streams/${streamIds[0]}`)

    expect((await send(device, streamIds[0])).status).toBe(404)
    const { body } = await ada.withKey<MadeDevice>('GET', `/devices/${device.id}`)
    expect(body.streamIds).toEqual([])
  })

  test('ends with its user', async () => {
    const bob = await newPerson(service.api)
    const { streamIds } = await newStreams(bob, 1)
    const device = await newDevice(bob, { streamIds })
    expect((await send(device, streamIds[0])).status).toBe(202)

    await service.api.withKey('DELETE', `/users/${bob.userId}`)

    expect((await send(device, streamIds[0])).status).toBe(401)
  })

  test('that has expired is refused', async () => {
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const device = await newDevice(ada, { streamIds: [own], expiresAt })
    expect((await send(device)).status).toBe(202)

    await expect.poll(async () => (await send(device)).status).toBe(401)

    const listed = await ada.withKey<MadeDevice[]>('GET', '/devices?state=expired')
    expect(listed.body.map(({ id }) => id)).toEqual([device.id])
  })

  test('with a rate is told to wait, and for how long', async () => {
    const rateLimit = { readingsPerSecond: 0.01, burst: 3 }
    const device = await newDevice(ada, { streamIds: [own], rateLimit })
    const path = `/streams/${own}/data`
    const push = (count: number) =>
      asDevice<Refused & { retryAfter: number }>(service.api, device, [
        'POST',
        path,
        Array.from({ length: count }, () => reading),
      ])

    expect((await push(2)).status).toBe(202)
    const refused = await push(2)
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited'])
    expect(refused.body.retryAfter).toBeGreaterThan(90)
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.retryAfter))
    expect((await push(1)).status).toBe(202)
  })
})

describe('a key that may not send readings', () => {
  test.each([
    ['other streams', () => ({ streamIds: [other] })],
    ['a certificate', () => ({ certificateName: `${ada.userId}:mine` })],
    ['a registration', () => ({ mayRegisterAgain: true })],
    ['a later end', () => ({ expiresAt: null })],
  ])('gives no device %s', async (_, change) => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const { id } = await newDevice(ada, { streamIds: [own], expiresAt })
    const { userId } = ada
    const scopes = ['keys:admin', 'streams:read']
    const keeper = personOf(
      service.api,
      await createKey(service.api, { userId, permission: 'custom', scopes }),
    )
    const path = `/devices/${id}`
    const { body: before } = await ada.withKey('GET', path)

    const refused = await keeper.withKey<Refused>('PUT', path, change())

    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_permissions'])
    expect((await ada.withKey('GET', path)).body).toEqual(before)
    expect((await keeper.withKey('PUT', path, { name: 'boiler' })).status).toBe(200)
  })
})

describe('POST /devices/{id}/rotate', () => {
  test('gives a new secret, and lets the old one work for the overlap', async () => {
    const device = await newDevice(ada, { streamIds: [own] })

    const rotated = await ada.withKey<MadeDevice>('POST', `/devices/${device.id}/rotate`, {
      overlapSeconds: 8,
    })

    expect(rotated.status).toBe(200)
    expect([(await send(device)).status, (await send(rotated.body)).status]).toEqual([202, 202])
    await expect.poll(async () => (await send(device)).status).toBe(401)
    expect((await send(rotated.body)).status).toBe(202)
  })

  test('with no overlap ends the old secret at once', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    expect((await send(device)).status).toBe(202)

    const rotated = await ada.withKey<MadeDevice>('POST', `/devices/${device.id}/rotate`, {
      overlapSeconds: 0,
    })

    expect([(await send(device)).status, (await send(rotated.body)).status]).toEqual([401, 202])
  })

  test('with no overlap ends the tokens of the old secret, and none of the new one', async () => {
    const { apiKey, apiSecret, id } = await newDevice(ada, { streamIds: [own] })
    const tokenOf = async (secret: string) => {
      const body = { apiKey, apiSecret: secret }
      const path = '/auth/token'
      return (await service.api.request<{ accessToken: string }>('POST', path, { body })).body
    }
    const sendWith = async ({ accessToken }: { readonly accessToken: string }) => {
      const headers = { authorization: `Bearer ${accessToken}` }
      const path = `/streams/${own}/data`
      return (await service.api.request('POST', path, { headers, body: reading })).status
    }
    const old = await tokenOf(apiSecret)
    expect(await sendWith(old)).toBe(202)
    let current = apiSecret
    const rotate = async () => {
      const path = `/devices/${id}/rotate`
      const { body } = await ada.withKey<MadeDevice>('POST', path, { overlapSeconds: 0 })
      current = body.apiSecret
    }

    // Tokens tell the time in seconds.
    const statusAfterRotation = async () => {
      await rotate()
      return await sendWith(old)
    }
    await expect.poll(statusAfterRotation, { interval: 200 }).toBe(401)

    expect(await sendWith(await tokenOf(current))).toBe(202)
  })

  test('at one time gives each a secret that works, or says conflict', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const path = `/devices/${device.id}/rotate`

    const answers = await Promise.all(
      Array.from({ length: 4 }, () => ada.withKey<MadeDevice>('POST', path, { overlapSeconds: 0 })),
    )

    const won = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4 - won.length)
    const working = await Promise.all(won.map(async ({ body }) => (await send(body)).status))
    expect(working.filter((status) => status === 202)).toHaveLength(1)
  })
})

describe('GET /devices', () => {
  test('finds by stream, vault and name, page by page', async () => {
    const bob = await newPerson(service.api)
    const one = await newStreams(bob, 2)
    const two = await newStreams(bob, 1)
    const names = ['boiler 1', 'Boiler 2', 'pump']
    const made: string[] = []
    for (const [index, streamId] of [...one.streamIds, ...two.streamIds].entries()) {
      made.push((await newDevice(bob, { name: names[index], streamIds: [streamId] })).id)
    }
    const found = async (query: string) => {
      const { body } = await bob.withKey<MadeDevice[]>('GET', `/devices?${query}`)
      return body.map(({ id }) => made.indexOf(id))
    }

    expect(await found('')).toEqual([0, 1, 2])
    expect(await found(`streamId=${one.streamIds[1]}`)).toEqual([1])
    expect(await found(`vaultId=${one.vaultId}`)).toEqual([0, 1])
    expect(await found('name=boiler*')).toEqual([0, 1])
    expect(await found('name=pump&state=active')).toEqual([2])
    expect(await found('state=revoked')).toEqual([])
    const first = await bob.withKey<MadeDevice[]>('GET', '/devices?limit=2')
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await bob.withKey<MadeDevice[]>('GET', next)
    expect([...first.body, ...second.body].map(({ id }) => made.indexOf(id))).toEqual([0, 1, 2])
    expect(second.headers.get('link')).toBeNull()
  })
})

test('what happens to devices stands in the audit log', async () => {
  const device = await newDevice(ada, { streamIds: [own] })
  await ada.withKey('PUT', `/devices/${device.id}`, { name: 'other' })
  await ada.withKey('POST', `/devices/${device.id}/rotate`)
  for (let count = 0; count < 2; count++) {
    await ada.withKey('POST', `/devices/${device.id}/revoke`)
  }
  await ada.withKey('DELETE', `/devices/${device.id}`)

  const { body } = await service.api.withKey<{ action: string; subjectId: string }[]>(
    'GET',
    `/audit?userId=${ada.userId}&limit=1000`,
  )

  const actions = body.filter(({ subjectId }) => subjectId === device.id).map((one) => one.action)
  expect(actions.toReversed()).toEqual([
    'device.created',
    'device.changed',
    'device.rotated',
    'device.revoked',
    'device.deleted',
  ])
})
