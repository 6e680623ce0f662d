import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { createKey, newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const refused = 0x80

describe('a client may subscribe to', () => {
  test.each([
    ['the data of an own stream', 'streams/{stream}/data'],
    ['the events of an own stream', 'streams/{stream}/events'],
    ['a topic of its space', 'users/{user}/commands/boiler'],
    ['a level of its space', 'users/{user}/+/boiler'],
    ['all of its space', 'users/{user}/#'],
  ])('%s', async (_, filter) => {
    const ada = await newPerson(service.api)
    const stream = await streamOf(ada)
    const client = await connect(ada.key)

    const written = filter.replace('{user}', ada.userId).replace('{stream}', stream)

    expect(await client.subscribe(written, 2)).toEqual([2])
  })
})

describe('a client may not subscribe to', () => {
  test.each([
    '#',
    '+/#',
    '+/{user}/commands',
    'users/#',
    'users/+/commands',
    'users/{user}',
    'users/{other}/commands',
    'users/{other}/#',
    'streams/#',
    'streams/+/data',
    'streams/{stream}/+',
    'streams/{stream}/#',
    'streams/{stream}/quarantine',
    'streams/{foreign}/data',
    'streams/{foreign}/events',
    'streams/00000000-0000-4000-8000-000000000000/data',
    '$SYS/#',
    '$share/group/users/{user}/commands',
    'factory/hall-3',
  ])('%s, and stays connected', async (filter) => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const written = filter
      .replace('{user}', ada.userId)
      .replace('{other}', bob.userId)
      .replace('{stream}', await streamOf(ada))
      .replace('{foreign}', await streamOf(bob))
    const client = await connect(ada.key)

    expect(await client.subscribe(written)).toEqual([refused])
    expect(await client.subscribe(`users/${ada.userId}/commands`)).toEqual([1])
  })

  test('anything with a key that lacks data:read', async () => {
    const ada = await newPerson(service.api)
    const key = { userId: ada.userId, permission: 'custom', scopes: ['data:write'] }
    const client = await connect(await createKey(service.api, key))

    const filters = [`streams/${await streamOf(ada)}/data`, `users/${ada.userId}/commands`]

    expect(await client.subscribe(filters)).toEqual([refused, refused])
  })
})

describe('in the space of a user', () => {
  test.each([0, 1, 2] as const)('a message with QoS %i is passed on', async (qos) => {
    const ada = await newPerson(service.api)
    const [device, service_] = [await connect(ada.key), await connect(ada.key)]
    const topic = `users/${ada.userId}/commands/boiler`
    await device.subscribe(`users/${ada.userId}/commands/+`, 2)

    await service_.mqtt.publishAsync(topic, 'open', { qos })

    await expect
      .poll(() => device.messages)
      .toEqual([{ topic, payload: 'open', qos, retain: false }])
  })

  test('a message to the space of somebody else is dropped', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const [device, stranger] = [await connect(ada.key), await connect(bob.key)]
    const topic = `users/${ada.userId}/commands/boiler`
    await device.subscribe(topic)

    await stranger.mqtt.publishAsync(topic, 'explode', { qos: 1 })
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'open', { qos: 1 })

    await expect.poll(() => device.messages).toMatchObject([{ payload: 'open' }])
  })
})

describe('two users with one client id', () => {
  test('do not end each other’s connections', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const adas = await connect(ada.key, { clientId: 'gateway' })
    const bobs = await connect(bob.key, { clientId: 'gateway' })
    const topic = `users/${ada.userId}/commands`

    expect(await adas.subscribe(topic)).toEqual([1])
    expect(await bobs.subscribe(`users/${bob.userId}/commands`)).toEqual([1])
    await adas.mqtt.publishAsync(topic, 'open', { qos: 1 })

    await expect.poll(() => adas.messages).toMatchObject([{ payload: 'open' }])
    expect(bobs.messages).toEqual([])
  })

  test('do not inherit each other’s queues', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const session = { clientId: 'gateway', clean: false }
    const adas = await connect(ada.key, session)
    await adas.subscribe(`users/${ada.userId}/commands`)
    await adas.mqtt.endAsync()
    await (await connect(ada.key)).mqtt.publishAsync(`users/${ada.userId}/commands`, 'open', {
      qos: 1,
    })

    const bobs = await connect(bob.key, session)
    const back = await connect(ada.key, session)

    await expect.poll(() => back.messages).toMatchObject([{ payload: 'open' }])
    expect(bobs.messages).toEqual([])
  })
})

describe('a user who sets wildcards in more than 100 ways', () => {
  test('is refused them, over all clients', async () => {
    const ada = await newPerson(service.api)
    const [one, other] = [await connect(ada.key), await connect(ada.key)]
    const before = await metricOf(service.process, 'mqtt_filters_refused_total')

    expect(await one.subscribe(filtersOf(ada.userId, 0))).toEqual(Array(60).fill(1))
    const codes = await other.subscribe(filtersOf(ada.userId, 60))

    expect(codes).toEqual([...Array(40).fill(1), ...Array(20).fill(refused)])
    expect(await metricOf(service.process, 'mqtt_filters_refused_total')).toBe(before + 20)
  })

  test('is refused them, over all sessions, whoever is away', async () => {
    const ada = await newPerson(service.api)
    const one = await connect(ada.key, { clean: false, clientId: 'one' })
    await one.subscribe(filtersOf(ada.userId, 0))
    await one.mqtt.endAsync()

    const other = await connect(ada.key, { clean: false, clientId: 'other' })
    const codes = await other.subscribe(filtersOf(ada.userId, 60))

    expect(codes).toEqual([...Array(40).fill(1), ...Array(20).fill(refused)])
  })

  test('has room again when a client has gone', async () => {
    const ada = await newPerson(service.api)
    const [one, other] = [await connect(ada.key), await connect(ada.key)]
    await one.subscribe(filtersOf(ada.userId, 0))
    await other.subscribe(filtersOf(ada.userId, 60).slice(0, 40))
    const wanted = filterOf(ada.userId, 100)
    expect(await other.subscribe(wanted)).toEqual([refused])

    one.mqtt.end(true)

    await expect.poll(() => other.subscribe(wanted)).toEqual([1])
  })

  test('does not keep others from setting theirs', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const [adas, bobs] = [await connect(ada.key), await connect(bob.key)]
    await adas.subscribe(filtersOf(ada.userId, 0))
    await adas.subscribe(filtersOf(ada.userId, 60))

    expect(await bobs.subscribe(filtersOf(bob.userId, 0))).toEqual(Array(60).fill(1))
  })
})

/** Filters in the space of a user, which set wildcards in another way for each number. */
function filterOf(userId: string, index: number): string {
  const levels = Array.from(index.toString(2).padStart(8, '0'), (bit) => (bit === '1' ? '+' : 'a'))
  return `users/${userId}/${levels.join('/')}`
}

function filtersOf(userId: string, first: number): string[] {
  return Array.from({ length: 60 }, (_, index) => filterOf(userId, first + index))
}
