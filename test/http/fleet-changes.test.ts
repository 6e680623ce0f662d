import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { fleetOf, type ShownFleet, storedIn, TestFleet } from '../support/fleets.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api, { foreignTopics: 'ignore' })
  vaultId = await vaultOf(ada)
})

interface ShownStream {
  readonly name: string
  readonly version: number
  readonly tags: Readonly<Record<string, string>>
  readonly source: Readonly<Record<string, unknown>>
  readonly schema: object
  readonly fleetId?: string
  readonly device?: string
}

async function stream(id: string): Promise<ShownStream> {
  return (await ada.withToken<ShownStream>('GET', `/streams/${id}`)).body
}

/** A fleet whose devices have sent a reading each. */
async function fleetWith(devices: readonly string[], changes: object = {}): Promise<TestFleet> {
  const fleet = await TestFleet.make(ada, vaultId, changes)
  const { mqtt } = await connect(ada.key)
  for (const device of devices) await fleet.publish(mqtt, device, { temperature: 1 })
  return fleet
}

function put(fleet: TestFleet, change: object, headers = {}) {
  return ada.withToken<ShownFleet & ErrorBody>('PUT', fleet.path, change, headers)
}

describe('PUT /fleets/{fleetId}', () => {
  test('makes the next version of each stream, and of each new one', async () => {
    const fleet = await fleetWith(['a', 'b'], { tags: { site: 'berlin', floor: '1' } })

    const { status, body, headers } = await put(fleet, {
      definition: { schema: { humidity: { type: 'number' } } },
      tags: { site: 'paris', floor: null },
    })

    expect(status).toBe(200)
    expect(headers.get('etag')).toBe('"2"')
    expect(body).toMatchObject({ version: 2, tags: { site: 'paris' } })
    await fleet.settled()
    const { mqtt } = await connect(ada.key)
    await fleet.publish(mqtt, 'c', { humidity: 2 })
    for (const [device, version] of [
      ['a', 2],
      ['b', 2],
      ['c', 1],
    ] as const) {
      expect(await stream(await fleet.streamOf(device))).toMatchObject({
        name: device,
        version,
        tags: { site: 'paris', device },
        schema: { temperature: { type: 'number' }, humidity: { type: 'number' } },
        fleetId: fleet.id,
        device,
      })
    }
    expect((await stream(await fleet.streamOf('a'))).tags).not.toHaveProperty('floor')
  })

  test('leaves the name and the own tags of a stream alone', async () => {
    const fleet = await fleetWith(['a'])
    const id = await fleet.streamOf('a')
    await ada.withToken('PUT', `/streams/${id}`, { name: 'my own', tags: { own: 'yes' } })

    await put(fleet, { tags: { site: 'berlin' } })

    await fleet.settled()
    expect(await stream(id)).toMatchObject({
      name: 'my own',
      tags: { own: 'yes', site: 'berlin', device: 'a' },
    })
  })

  test('moves the devices to another topic at once', async () => {
    const fleet = await fleetWith(['a'])
    const id = await fleet.streamOf('a')
    const { body } = await put(fleet, {
      definition: { source: { topic: `moved/${fleet.id}/{device}` } },
    })
    const moved = new TestFleet(ada, body)
    const { mqtt } = await connect(ada.key)

    await moved.publish(mqtt, 'a', { temperature: 2 })
    await fleet.publish(mqtt, 'a', { temperature: 3 })

    await storedIn(ada, id, 2)
    await fleet.settled()
    expect((await stream(id)).source['topic']).toBe(`moved/${fleet.id}/a`)
  })

  test('changes nothing of the streams where only the name and the limit are others', async () => {
    const fleet = await fleetWith(['a'])

    const { body } = await put(fleet, { name: `${fleet.id} renamed`, streamsMax: 7 })

    expect(body).toMatchObject({
      name: `${fleet.id} renamed`,
      streamsMax: 7,
      version: 1,
      change: null,
    })
    expect((await stream(await fleet.streamOf('a'))).version).toBe(1)
  })

  test('takes what it answers', async () => {
    const fleet = await TestFleet.make(ada, vaultId, { tags: { site: 'berlin' } })
    const { name, tags, definition, streamsMax, vaultId: vault } = await fleet.read()

    const { status, body } = await put(fleet, {
      name,
      tags,
      definition,
      streamsMax,
      vaultId: vault,
    })

    expect({ status, version: body.version }).toEqual({ status: 200, version: 1 })
  })

  test.each([
    ['another vault', { vaultId: '00000000-0000-4000-8000-000000000000' }, 'vaultId'],
    ['another type', { definition: { type: 'manufacturing' } }, 'definition.type'],
    [
      'a topic without the device',
      { definition: { source: { topic: 'x/y' } } },
      'definition.source.topic',
    ],
    ['the tag of the device', { tags: { device: 'x' } }, 'tags.device'],
  ])('refuses %s', async (_, change, path) => {
    const fleet = await TestFleet.make(ada, vaultId)

    const { status, body } = await put(fleet, change)

    expect(status).toBe(400)
    expect(body.details?.map((detail) => detail.path)).toEqual([path])
  })

  test('refuses the name of another fleet', async () => {
    const other = await (await TestFleet.make(ada, vaultId)).read()
    const fleet = await TestFleet.make(ada, vaultId)

    expect((await put(fleet, { name: other.name.toUpperCase() })).status).toBe(409)
  })

  test('with If-Match changes only the version that is named', async () => {
    const fleet = await TestFleet.make(ada, vaultId)

    expect((await put(fleet, { tags: { a: 'b' } }, { 'if-match': '"2"' })).status).toBe(412)
    expect((await put(fleet, { tags: { a: 'b' } }, { 'if-match': '"1"' })).status).toBe(200)
  })
})

describe('PUT /streams/{streamId} of a device', () => {
  test.each([
    { schema: { other: { type: 'number' } } },
    { source: { topic: 'elsewhere' } },
    { processing: { validation: 'strict' } },
    { tags: { device: 'other' } },
  ])('is 409 for what is of the fleet: %j', async (change) => {
    const fleet = await fleetWith(['a'])

    const { status, body } = await ada.withToken<ErrorBody>(
      'PUT',
      `/streams/${await fleet.streamOf('a')}`,
      change,
    )

    expect(status).toBe(409)
    expect(body.remedy).toContain('/fleets/{fleetId}')
  })
})

describe('lists of streams', () => {
  test('show the fleet and the device', async () => {
    const fleet = await fleetWith(['a'])

    const { body } = await ada.withToken<readonly ShownStream[]>(
      'GET',
      `/streams?name=a&limit=1000`,
    )

    expect(body).toContainEqual(expect.objectContaining({ fleetId: fleet.id, device: 'a' }))
  })
})

describe('DELETE /fleets/{fleetId}', () => {
  test('leaves ordinary streams with their readings, and messages lead nowhere', async () => {
    const fleet = await fleetWith(['a', 'b'])
    const id = await fleet.streamOf('a')

    expect((await ada.withToken('DELETE', fleet.path)).status).toBe(204)

    const { mqtt } = await connect(ada.key)
    await fleet.publish(mqtt, 'a', { temperature: 5 })
    expect((await ada.withToken('GET', fleet.path)).status).toBe(404)
    await expect.poll(async () => stream(id)).not.toHaveProperty('fleetId')
    const left = await stream(id)
    expect(left).toMatchObject({ name: 'a', tags: { device: 'a' } })
    expect(left.source).not.toHaveProperty('topic')
    await storedIn(ada, id, 1)
    const own = await ada.withToken('PUT', `/streams/${id}`, { schema: { t: { type: 'number' } } })
    expect(own.status).toBe(200)
  })

  test('with streams=delete deletes them, too', async () => {
    const fleet = await fleetWith(['a', 'b'])
    const ids = [await fleet.streamOf('a'), await fleet.streamOf('b')]

    expect((await ada.withToken('DELETE', `${fleet.path}?streams=delete`)).status).toBe(204)

    for (const id of ids) {
      const path = `/streams/${id}/deletion`
      await expect.poll(async () => (await ada.withToken('GET', path)).status).toBe(200)
    }
  })

  test('frees the name', async () => {
    const fleet = await TestFleet.make(ada, vaultId)
    const { name } = await fleet.read()
    await ada.withToken('DELETE', fleet.path)

    const { status } = await ada.withToken('POST', '/fleets', fleetOf(vaultId, { name }))

    expect(status).toBe(201)
  })

  test('is needed before its vault can be deleted', async () => {
    const own = await vaultOf(ada)
    const fleet = await TestFleet.make(ada, own)

    const before = await ada.withToken<ErrorBody>('DELETE', `/vaults/${own}`)
    await ada.withToken('DELETE', fleet.path)
    const after = await ada.withToken('DELETE', `/vaults/${own}`)

    expect([before.status, after.status]).toEqual([409, 204])
    expect(before.body.remedy).toContain('DELETE /fleets/{fleetId}')
  })
})

test('what happens to a fleet is in the audit log', async () => {
  const fleet = await TestFleet.make(ada, vaultId)
  await put(fleet, { tags: { a: 'b' }, streamsMax: 5 })
  await fleet.act('x', 'deny')
  await fleet.act('x', 'allow')
  await ada.withToken('DELETE', fleet.path)

  const { body } = await service.api.withToken<
    readonly { action: string; subjectId: string; details: Readonly<Record<string, string>> }[]
  >('GET', `/audit?userId=${ada.userId}&limit=50`)

  const own = body.filter(({ subjectId }) => subjectId === fleet.id)
  expect(own.map(({ action }) => action)).toEqual([
    'fleet.deleted',
    'fleet.device_allowed',
    'fleet.device_denied',
    'fleet.changed',
    'fleet.created',
  ])
  expect(own[3]?.details['changed']).toBe('streamsMax, tags')
})

test('the fleets of a user who is deleted go', async () => {
  const bob = await newPerson(service.api)
  const fleet = await TestFleet.make(bob, await vaultOf(bob))
  await fleet.act('x', 'deny')

  const { status } = await service.api.withKey('DELETE', `/users/${bob.userId}`)

  expect(status).toBe(204)
  const rows = () => {
    const state = new DatabaseSync(join(service.process.dataDir, 'state.db'), { readOnly: true })
    const [fleets, devices] = ['fleets WHERE id', 'fleet_devices WHERE fleet_id'].map((place) =>
      state.prepare(`SELECT count(*) AS count FROM ${place} = ?`).get(fleet.id),
    )
    state.close()
    return [fleets?.['count'], devices?.['count']]
  }
  await expect.poll(rows).toEqual([0, 0])
})
