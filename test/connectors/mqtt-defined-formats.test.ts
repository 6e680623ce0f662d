import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Formats that are read by the definition of their stream: `source.format` names them. */

const service = runningService()

async function publish(streamId: string, ...payloads: readonly (string | Uint8Array)[]) {
  const client = await connectAsync({
    host: '127.0.0.1',
    port: service.process.mqttPort,
    username: adminKey,
    password: adminSecret,
    reconnectPeriod: 0,
  })
  for (const payload of payloads) {
    await client.publishAsync(`streams/${streamId}/data`, Buffer.from(payload), { qos: 1 })
  }
  await client.endAsync()
}

test('plain', async () => {
  const source = { format: 'plain', field: 'temperature' }
  const schema = { temperature: { type: 'number' }, note: { type: 'string' } }
  const streamId = await service.api.createStream(schema, { source })

  await publish(streamId, '21.5', '22', ' 23', 'NaN', '')

  const counters = await service.api.settled(streamId, 5)
  expect(counters).toMatchObject({ stored: 2, quarantined: 3 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { temperature: 21.5 },
    { temperature: 22 },
  ])
})

test('csv', async () => {
  const source = {
    format: 'csv',
    columns: ['at', 'temperature'],
    delimiter: ';',
    timestampField: 'at',
    timestampFormat: 'epoch_s',
  }
  const streamId = await service.api.createStream(undefined, { source })

  await publish(streamId, '1767225600;21.5\n1767225601;', '1767225602;"')

  const counters = await service.api.settled(streamId, 3)
  expect(counters).toMatchObject({ stored: 2, quarantined: 1 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { timestamp: '2026-01-01T00:00:00.000000Z', temperature: 21.5 },
    { timestamp: '2026-01-01T00:00:01.000000Z' },
  ])
})

test('senml, whose times count from a receipt that a retransmission has in common', async () => {
  const streamId = await service.api.createStream(undefined, { source: { format: 'senml-json' } })
  const fields = {
    topic: `streams/${streamId}/data`,
    payload: JSON.stringify([{ n: 'temperature', t: -60, v: 1 }]),
    packetId: 7,
  }

  const device = await RawMqttConnection.open(service.process.mqttPort)
  device.send(connectPacket({ clientId: 'senml' }))
  await device.next()
  for (const isDup of [false, true, false]) {
    device.send(publishPacket({ ...fields, isDup }))
    await device.next()
  }
  device.destroy()

  const counters = await service.api.settled(streamId, 3)
  expect(counters).toMatchObject({ stored: 2, duplicates: 1 })
})
