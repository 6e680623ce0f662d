import { CloudEvent, Mode, MQTT, type MQTTMessage } from 'cloudevents'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { runningService } from '../support/running-service.ts'

/** CloudEvents from a broker of MQTT 5, with the SDK of CNCF: in binary mode the attributes are user properties. */

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
let broker: Mosquitto

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

function eventAt(second: number, data: object = { temperature: second }) {
  return new CloudEvent({
    type: 'boiler.measured',
    source: '/plants/7',
    subject: 'boiler 3',
    time: `2026-01-31T09:00:0${second}.000Z`,
    data,
  })
}

test('an event is the same reading in structured and in binary mode', async () => {
  const streamId = await service.api.createStream(
    { temperature: { type: 'number' }, boiler: { type: 'string', from: 'cloudevent.subject' } },
    { source: { endpoint: broker.endpoint, topic: 'events', format: 'cloudevents', version: 5 } },
  )
  await expect
    .poll(async () => (await service.api.status(streamId))['source'])
    .toMatchObject({ state: 'running' })
  const client = await broker.client({ protocolVersion: 5 })
  const publish = async (event: CloudEvent<object>, mode: Mode) => {
    const message = mode === Mode.BINARY ? MQTT.binary(event) : MQTT.structured(event)
    const { 'User Properties': given, PUBLISH: publishing, body } = message as MQTTMessage<object>
    const contentType = publishing?.['Content Type']
    const userProperties = Object.fromEntries(
      Object.entries(given ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    )
    // The client cannot write an empty list of them.
    const isEmpty = Object.keys(userProperties).length === 0
    const properties = {
      ...(!isEmpty && { userProperties }),
      ...(contentType !== undefined && { contentType }),
    }
    await client.publishAsync('events', JSON.stringify(body), { qos: 1, properties })
  }

  await publish(eventAt(1), Mode.BINARY)
  await publish(eventAt(1), Mode.STRUCTURED)
  await publish(eventAt(2), Mode.STRUCTURED)
  await publish(eventAt(3, { temperature: 'hot' }), Mode.BINARY)

  expect(await service.api.settled(streamId, 4)).toMatchObject({
    stored: 2,
    duplicates: 1,
    quarantined: 1,
  })
  expect(await service.api.readAll(streamId)).toEqual(
    [1, 2].map((second) => ({
      timestamp: `2026-01-31T09:00:0${second}.000000Z`,
      temperature: second,
      boiler: 'boiler 3',
    })),
  )
})
