import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { runningService } from '../support/running-service.ts'

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
let broker: Mosquitto

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

describe('a stream with an external broker', () => {
  test('gets what is published there', async () => {
    const source = { endpoint: broker.endpoint, topic: 'plants/+/boiler' }
    const streamId = await service.api.createStream(undefined, { source })
    const client = await broker.client()
    await expect
      .poll(async () => (await service.api.status(streamId))['source'])
      .toMatchObject({ state: 'running' })
    await client.publishAsync('plants/7/boiler', '{"temperature": 21.5}', { qos: 1 })
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toMatchObject([{ temperature: 21.5 }])
  })
})
