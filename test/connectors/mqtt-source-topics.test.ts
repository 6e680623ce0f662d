import { describe, expect, test } from 'vitest'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { newPerson, type Person, received, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { metric, payloadOf } from '../support/sparkplug-payloads.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

async function streamOn(person: Person, topic: string, format = 'json'): Promise<string> {
  const { body } = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: await vaultOf(person),
    type: 'iot_sensor',
    source: { topic, format },
    schema: { temperature: { type: 'number' } },
  })
  return body.streamId
}

async function counters(person: Person, streamId: string): Promise<unknown> {
  const path = `/streams/${streamId}/status`
  return (await person.withToken<{ counters: unknown }>('GET', path)).body.counters
}

const reading = '{"temperature": 21.5}'

describe('a message on a topic that was given to a stream', () => {
  test.each([
    ['factory/hall-3/temp', 'factory/hall-3/temp'],
    ['factory/+/temp', 'factory/hall-3/temp'],
    ['factory/#', 'factory/hall-3/temp'],
    ['factory/#', 'factory'],
    ['#', 'anything/at/all'],
    ['/+', '/leading'],
  ])('%s matches %s', async (filter, topic) => {
    const ada = await newPerson(service.api)
    const streamId = await streamOn(ada, filter)
    const { mqtt } = await connect(ada.key)

    for (const qos of [0, 1, 2] as const) await mqtt.publishAsync(topic, reading, { qos })

    await expect.poll(() => received(ada, streamId)).toBe(3)
  })

  test.each([
    ['factory/+/temp', 'factory/hall/3/temp'],
    ['factory/+', 'factory'],
    ['factory/hall-3', 'Factory/hall-3'],
  ])('%s does not match %s', async (filter, topic) => {
    const ada = await newPerson(service.api)
    const streamId = await streamOn(ada, filter)
    const { mqtt } = await connect(ada.key)

    await mqtt.publishAsync(topic, reading, { qos: 1 })
    await mqtt.publishAsync(`streams/${streamId}/data`, reading, { qos: 1 })

    expect(await received(ada, streamId)).toBe(1)
  })

  test('goes to every stream of the user that it matches, and to nobody else', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const own = [await streamOn(ada, 'factory/+'), await streamOn(ada, 'factory/hall-3')]
    const foreign = await streamOn(bob, 'factory/+')
    const { mqtt } = await connect(ada.key)

    await mqtt.publishAsync('factory/hall-3', reading, { qos: 1 })

    expect(await Promise.all(own.map((id) => received(ada, id)))).toEqual([1, 1])
    expect(await received(bob, foreign)).toBe(0)
  })

  test('that is sent again with DUP is stored once in each of them', async () => {
    const ada = await newPerson(service.api)
    const own = [await streamOn(ada, 'factory/+'), await streamOn(ada, 'factory/hall-3')]
    const { apiKey: username, apiSecret: password } = ada.key
    const message = { topic: 'factory/hall-3', payload: reading, packetId: 7 }

    for (const isDup of [false, true]) {
      const connection = await RawMqttConnection.open(service.process.mqttPort)
      connection.send(connectPacket({ clientId: 'gateway', username, password }))
      connection.send(publishPacket({ ...message, isDup }))
      await connection.next(2)
      connection.destroy()
    }

    for (const streamId of own) {
      await expect.poll(() => counters(ada, streamId)).toMatchObject({ stored: 1, duplicates: 1 })
    }
  })

  test('meets the streams as they are now', async () => {
    const ada = await newPerson(service.api)
    const { mqtt } = await connect(ada.key)
    const publish = async () => mqtt.publishAsync('factory/hall-3', reading, { qos: 1 })
    await publish()
    const streamId = await streamOn(ada, 'factory/+')
    await publish()
    expect(await received(ada, streamId)).toBe(1)

    await ada.withToken('PUT', `/streams/${streamId}`, { source: { topic: 'cellar/+' } })
    await publish()
    expect(await received(ada, streamId)).toBe(1)

    await ada.withToken('PUT', `/streams/${streamId}`, { source: { topic: 'factory/#' } })
    await publish()
    expect(await received(ada, streamId)).toBe(2)

    await ada.withToken('POST', `/streams/${streamId}/pause`)
    await publish()
    const { body } = await ada.withToken<{ counters: { quarantined: number } }>(
      'GET',
      `/streams/${streamId}/status`,
    )
    expect(body.counters.quarantined).toBe(1)

    const other = await streamOn(ada, 'factory/+')
    await ada.withToken('DELETE', `/streams/${streamId}`)
    await publish()
    expect(await received(ada, other)).toBe(1)
  })
})

describe('a client may subscribe to', () => {
  test('what is among the topics of a stream of its user, and gets it in the user’s names', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    await streamOn(ada, 'plant/+/node/#')
    await streamOn(bob, 'plant/+/node/#')
    const [node, host, stranger] = [
      await connect(ada.key),
      await connect(ada.key),
      await connect(bob.key),
    ]
    expect(await node.subscribe('plant/NCMD/node/#')).toEqual([1])
    expect(await stranger.subscribe('plant/NCMD/node/#')).toEqual([1])

    await host.mqtt.publishAsync('plant/NCMD/node', 'rebirth', { qos: 1 })

    await expect
      .poll(() => node.messages)
      .toEqual([{ topic: 'plant/NCMD/node', payload: 'rebirth', qos: 1, retain: false }])
    expect(stranger.messages).toEqual([])
  })

  test.each(['plant/#', 'plant/+/+', '+/NCMD/node', '#', 'cellar/1'])(
    'no more than that: not %s',
    async (filter) => {
      const ada = await newPerson(service.api)
      await streamOn(ada, 'plant/+/node/#')
      const client = await connect(ada.key)

      expect(await client.subscribe(filter)).toEqual([0x80])
    },
  )
})

test('an edge node of Sparkplug B is asked for its birth, and nobody else is', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  const [filter, commands] = ['spBv1.0/plant/+/node7/#', 'spBv1.0/plant/NCMD/node7/#']
  const streamId = await streamOn(ada, filter, 'sparkplug')
  await streamOn(bob, filter, 'sparkplug')
  const [node, stranger] = [await connect(ada.key), await connect(bob.key)]
  expect(await node.subscribe(commands)).toEqual([1])
  expect(await stranger.subscribe(commands)).toEqual([1])
  const send = async (type: string, name: string, seq: number) => {
    const metrics = [metric('Double', 21.5, { name, alias: 1 })]
    const payload = Buffer.from(payloadOf(metrics, { seq, timestamp: Date.now() }))
    await node.mqtt.publishAsync(`spBv1.0/plant/${type}/node7`, payload, { qos: 0 })
  }

  await send('NDATA', '', 1)

  await expect
    .poll(() => node.messages.map(({ topic }) => topic))
    .toContain('spBv1.0/plant/NCMD/node7')
  expect(stranger.messages).toEqual([])
  await send('NBIRTH', 'temperature', 0)
  await expect.poll(() => received(ada, streamId)).toBeGreaterThan(0)
})

describe('a definition', () => {
  test.each([
    ['streams/x/data', /streams\//],
    ['users/+/x', /users\//],
    ['$SYS/#', /\$/],
    ['a/#/b', /complete levels/],
    ['a+/b', /complete levels/],
  ])('with the topic %s is refused', async (topic, message) => {
    const ada = await newPerson(service.api)
    const { status, body } = await ada.withToken<{ details: object[] }>('POST', '/streams', {
      name: 'temperature',
      vaultId: await vaultOf(ada),
      type: 'iot_sensor',
      source: { topic },
      schema: { temperature: { type: 'number' } },
    })

    expect(status).toBe(400)
    expect(body.details).toMatchObject([
      { path: 'source.topic', message: expect.stringMatching(message) as unknown },
    ])
  })
})
