import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { HeldResources } from '../support/held-resources.ts'
import { metricOf } from '../support/metrics.ts'
import { field, packet, packetTypes, u16 } from '../support/mqtt-bytes.ts'
import {
  connectPacket,
  packetIdOf,
  publishPacket,
  RawMqttConnection,
  subscribePacket,
} from '../support/mqtt-packets.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const service = runningService()
const services = startedServices()

async function opened(port = service.process.mqttPort): Promise<RawMqttConnection> {
  return await RawMqttConnection.open(port)
}

async function connected(clientId: string): Promise<RawMqttConnection> {
  const connection = await opened()
  connection.send(connectPacket({ clientId }))
  await connection.next()
  return connection
}

/** A counter of the service, by its reason. */
async function counted(name: string, reason: string, http = service.process.http) {
  return await metricOf({ http }, `${name}{reason="${reason}"}`)
}

/** Expects that a connection is closed by the service, and that it is counted. */
async function closes(connection: RawMqttConnection, reason: string, bytes: Buffer): Promise<void> {
  const before = await counted('mqtt_closed_total', reason)
  connection.send(bytes)
  await connection.closed
  expect(await counted('mqtt_closed_total', reason)).toBe(before + 1)
}

describe('a connection is closed for', () => {
  test.each([
    ['something that is not MQTT', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    [
      'a PUBLISH before CONNECT [MQTT-3.1.0-1]',
      publishPacket({ topic: 'a', payload: '', packetId: 1 }),
    ],
    [
      'another protocol name [MQTT-3.1.2-1]',
      packet(1, 0, field('MQIT'), Buffer.from([4, 2, 0, 0]), field('a')),
    ],
  ])('%s, as the first packet', async (_, bytes) => {
    await closes(await opened(), 'protocol', bytes)
  })

  test.each([
    ['a second CONNECT [MQTT-3.1.0-2]', 'protocol', connectPacket({ clientId: 'again' })],
    ['QoS 3 [MQTT-3.3.1-4]', 'protocol', packet(3, 6, field('a'), u16(1))],
    [
      'a packet id of 0 [MQTT-2.3.1-1]',
      'protocol',
      publishPacket({ topic: 'a', payload: '', packetId: 0 }),
    ],
    [
      'a topic with a wildcard [MQTT-3.3.2-2]',
      'protocol',
      publishPacket({ topic: 'a/#', payload: '', packetId: 1 }),
    ],
    [
      'a topic that is no UTF-8 [MQTT-1.5.3-1]',
      'protocol',
      packet(3, 0, Buffer.from([0, 1, 0xff])),
    ],
    ['a topic with a U+0000 [MQTT-1.5.3-2]', 'protocol', packet(3, 0, field('a\0b'))],
    ['a filter such as a# [MQTT-4.7.1-2]', 'protocol', subscribePacket(1, 'a#')],
    [
      'a topic of 33 levels',
      'limit',
      publishPacket({ topic: '/'.repeat(32), payload: '', packetId: 1 }),
    ],
    ['an announced packet of 268 MB', 'too_large', Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])],
  ])('%s', async (_, reason, bytes) => {
    await closes(await connected('guarded'), reason, bytes)
  })

  test('no CONNECT within 10 s, however it dribbles in', async () => {
    const before = await counted('mqtt_closed_total', 'connect_timeout')
    const [silent, dribbling] = [await opened(), await opened()]
    const bytes = connectPacket({ clientId: 'slow' })
    let sent = 0
    const dribble = setInterval(() => dribbling.send(bytes.subarray(sent, ++sent)), 500)

    await Promise.all([silent.closed, dribbling.closed])

    clearInterval(dribble)
    expect(await counted('mqtt_closed_total', 'connect_timeout')).toBe(before + 2)
  })
})

describe('a CONNECT of MQTT 5', () => {
  test('is answered 1 [MQTT-3.1.2-2]', async () => {
    const connection = await opened()
    const properties = Buffer.from([5, 2, 0, 60, 0])
    connection.send(packet(packetTypes.connect, 0, field('MQTT'), properties, field('modern')))

    const [connack] = await connection.next()
    expect(connack?.type).toBe(packetTypes.connack)
    expect([...(connack?.body ?? [])]).toEqual([0, 1])
    await connection.closed
  })

  test('of MQTT.js ends with an error that it can tell', async () => {
    const client = connectAsync(`mqtt://127.0.0.1:${service.process.mqttPort}`, {
      protocolVersion: 5,
      username: adminKey,
      password: adminSecret,
      reconnectPeriod: 0,
    })
    await expect(client).rejects.toThrow()
  })
})

/** Topic filters with QoS 0, as a SUBSCRIBE has them. */
function filters(count: number, of: (index: number) => string): Buffer[] {
  return Array.from({ length: count }, (_, index) => [field(of(index)), Buffer.from([0])]).flat()
}

describe('a SUBSCRIBE beyond our limits', () => {
  test.each([
    ['more than 100 filters', 101, (index: number) => `a/${index}`],
    ['a filter of more than 32 levels', 3, () => '+/'.repeat(32)],
  ])('with %s fails for each of them, and the client stays', async (_, count, of) => {
    const connection = await connected('greedy')
    connection.send(packet(packetTypes.subscribe, 2, u16(9), ...filters(count, of)))

    const [suback] = await connection.next()
    expect(suback?.type).toBe(packetTypes.suback)
    expect([...(suback?.body ?? [])]).toEqual([0, 9, ...Array<number>(count).fill(0x80)])
    connection.send(Buffer.from([0xc0, 0]))
    expect((await connection.next())[0]?.type).toBe(13)
    connection.destroy()
  })

  test('with more than 1,000 subscriptions of one session fails', async () => {
    const ada = await newPerson(service.api)
    const connection = await opened()
    const { apiKey: username, apiSecret: password } = ada.key
    connection.send(connectPacket({ clientId: 'collector', username, password }))
    await connection.next()
    const codes: number[] = []
    for (let round = 0; round < 11; round++) {
      const of = (index: number) => `users/${ada.userId}/${round}/${index}`
      connection.send(packet(packetTypes.subscribe, 2, u16(round + 1), ...filters(100, of)))
      const [suback] = await connection.next()
      codes.push(...(suback?.body.subarray(2) ?? []))
    }

    expect(codes.slice(0, 1_000)).toEqual(Array(1_000).fill(0))
    expect(codes.slice(1_000)).toEqual(Array(100).fill(0x80))
    connection.destroy()
  })
})

describe('half-sent packets', () => {
  test('take no more than 64 MiB together, whoever sends them', async () => {
    const streamId = await service.api.createStream()
    const announced = 4 * 1024 * 1024
    const begin = Buffer.concat([
      packet(3, 0, field('a'), Buffer.alloc(announced)).subarray(0, announced - 65_536),
    ])
    const before = await counted('mqtt_closed_total', 'memory')
    const held = new HeldResources(service.process, service.api)
    const memoryBefore = held.memoryBytes
    const connections = await Promise.all(
      Array.from({ length: 40 }, (_, index) => connected(`half-${index}`)),
    )
    for (const connection of connections) connection.send(begin)
    await expect
      .poll(() => counted('mqtt_closed_total', 'memory'))
      .toBeGreaterThanOrEqual(before + 24)
    expect(await metricOf(service.process, 'mqtt_half_sent_bytes')).toBeLessThanOrEqual(
      64 * 1024 * 1024,
    )
    // All that was sent, 160 MiB, and four times what is held (buffers double), if nothing of it is collected yet.
    expect(held.memoryBytes - memoryBefore).toBeLessThan(416 * 1024 * 1024)
    const honest = await connected('honest')
    const payload = '{"temperature":1}'
    honest.send(publishPacket({ topic: `streams/${streamId}/data`, payload, packetId: 3 }))
    expect((await honest.next()).map(packetIdOf)).toEqual([3])
    for (const connection of [...connections, honest]) connection.destroy()
  })
})

describe('connections', () => {
  test('beyond the limits of an address and of all are closed at once, and counted', async () => {
    const { mqttPort, http } = await services.start(services.newFolder(), {
      STREAMVAULT_MQTT_CONNECTIONS: '5',
      STREAMVAULT_MQTT_CONNECTIONS_PER_ADDRESS: '3',
    })
    const kept = await Promise.all([1, 2, 3].map(() => opened(mqttPort)))
    const refused = await opened(mqttPort)

    await refused.closed

    expect(await counted('mqtt_refused_total', 'address', http)).toBe(1)
    kept[0]?.destroy()
    await expect
      .poll(async () => {
        const again = await opened(mqttPort)
        again.send(connectPacket({ clientId: 'again' }))
        return await again.next().then(
          ([connack]) => connack?.body[1],
          () => 'closed',
        )
      })
      .toBe(0)
    for (const connection of kept) connection.destroy()
  })

  test('beyond the limit of a user are answered 3', async () => {
    const { mqttPort, http } = await services.start(services.newFolder(), {
      STREAMVAULT_MQTT_CONNECTIONS_PER_USER: '2',
    })
    const codes: unknown[] = []
    for (const clientId of ['a', 'b', 'c']) {
      const connection = await opened(mqttPort)
      connection.send(connectPacket({ clientId }))
      codes.push((await connection.next())[0]?.body[1])
    }

    expect(codes).toEqual([0, 0, 3])
    expect(await counted('mqtt_refused_total', 'user', http)).toBe(1)
  })

  test('2,000 at once publish, and each is acknowledged', async () => {
    const streamId = await service.api.createStream()
    const connections: RawMqttConnection[] = []
    // Not in one go: each has ten seconds for its CONNECT, however slow a machine is.
    while (connections.length < 2_000) {
      const names = Array.from({ length: 200 }, (_, index) => `fleet-${connections.length + index}`)
      connections.push(...(await Promise.all(names.map(connected))))
    }
    const publish = async (connection: RawMqttConnection, temperature: number) => {
      const payload = JSON.stringify({ temperature })
      connection.send(publishPacket({ topic: `streams/${streamId}/data`, payload, packetId: 7 }))
      return (await connection.next()).map(packetIdOf)
    }

    expect((await Promise.all(connections.map(publish))).flat()).toEqual(Array(2_000).fill(7))
    expect(await service.api.settled(streamId, 2_000)).toMatchObject({ stored: 2_000 })
    for (const connection of connections) connection.destroy()
  })
})

describe('failed logins', () => {
  test('of one key from one address are limited, as those of POST /auth/token', async () => {
    const ada = await newPerson(service.api)
    const login = async (password: string) => {
      const connection = await opened()
      connection.send(connectPacket({ clientId: 'guess', username: ada.key.apiKey, password }))
      const [connack] = await connection.next()
      connection.destroy()
      return connack?.body[1]
    }
    const codes: unknown[] = []
    for (let attempt = 0; attempt < 12; attempt++) codes.push(await login(`guess-${attempt}`))

    expect(codes.slice(0, 10)).toEqual(Array(10).fill(4))
    expect(codes.slice(10)).toEqual([3, 3])
    expect(await login(ada.key.apiSecret)).toBe(3)
  })
})

test('a client that goes away before its CONNECT is over does no harm', async () => {
  for (let cut = 1; cut < 30; cut += 4) {
    const leaving = await opened()
    leaving.send(connectPacket({ clientId: 'gone' }).subarray(0, cut))
    leaving.destroy()
  }
  const connection = await connected('still-there')
  connection.destroy()
})
