import { expect, test } from 'vitest'
import { FaultyService } from '../../support/faulty-service.ts'
import { packetTypes } from '../../support/mqtt-bytes.ts'
import {
  connectPacket,
  packetIdOf,
  publishPacket,
  RawMqttConnection,
} from '../../support/mqtt-packets.ts'

const file = 'mqtt-sessions.db'

async function own(service: FaultyService): Promise<string> {
  const { body } = await service.api.withKey<{ id: string }>('GET', '/users')
  return `users/${body.id}/commands`
}

async function device(service: FaultyService): Promise<RawMqttConnection> {
  const connection = await RawMqttConnection.open(service.mqttPort)
  connection.send(connectPacket({ clientId: 'device' }))
  await connection.next()
  return connection
}

function command(topic: string, packetId: number): Buffer {
  return publishPacket({ topic, payload: 'open', packetId, isRetained: true })
}

/** The packet id of the next PUBACK. */
async function acknowledged(connection: RawMqttConnection): Promise<number> {
  const [packet] = await connection.next()
  if (packet?.type !== packetTypes.puback) throw new Error(`a packet of type ${packet?.type}`)
  return packetIdOf(packet)
}

test('without a disk that takes it, a message is not acknowledged, and readings are', async () => {
  await using service = await FaultyService.start()
  const topic = await own(service)
  const streamId = await service.api.createStream()
  const connection = await device(service)
  service.faults.begin('hold', file)

  connection.send(command(topic, 1))
  connection.send(
    publishPacket({
      topic: `streams/${streamId}/data`,
      payload: '{"temperature": 1}',
      packetId: 2,
    }),
  )

  expect(await acknowledged(connection)).toBe(2)
  service.faults.end()
  expect(await acknowledged(connection)).toBe(1)
})

test('a disk without space closes connections, and another try succeeds when there is some', async () => {
  await using service = await FaultyService.start()
  const topic = await own(service)
  const connection = await device(service)
  service.faults.begin('enospc', file)

  connection.send(command(topic, 1))

  await connection.closed
  expect(await service.metric('mqtt_sessions_failures_total')).toBeGreaterThan(0)
  service.faults.end()
  const again = await device(service)
  again.send(command(topic, 1))
  expect(await acknowledged(again)).toBe(1)
})
