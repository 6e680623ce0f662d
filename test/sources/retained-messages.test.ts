import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { metricOf } from '../support/metrics.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { runningService } from '../support/running-service.ts'

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
let broker: Mosquitto
let topics = 0

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

const timed = { timestampField: 'at' }

/** Retains a message, has a stream subscribe, and publishes another one; readings by their temperatures. */
async function readingsAfterRetained(
  rest: object,
  payload = (temperature: number) => JSON.stringify({ temperature }),
): Promise<{ readonly stored: readonly unknown[]; readonly source: unknown }> {
  const topic = `plants/${++topics}/boiler`
  const client = await broker.client()
  await client.publishAsync(topic, payload(1), { qos: 1, retain: true })
  const source = { endpoint: broker.endpoint, topic, ...rest }
  const streamId = await service.api.createStream(undefined, { source })
  const status = async () => (await service.api.status(streamId))['source']
  await expect.poll(status).toMatchObject({ state: 'running' })
  // Flagged as retained by its publisher, and live all the same: we are subscribed.
  await client.publishAsync(topic, payload(2), { qos: 1, retain: true })
  const isStored = async () => JSON.stringify(await service.api.readAll(streamId))
  await expect.poll(isStored).toContain('"temperature":2')
  const stored = await service.api.readAll(streamId)
  return { stored: stored.map(({ temperature }) => temperature), source: await status() }
}

const at = (temperature: number) =>
  JSON.stringify({ temperature, at: `2026-01-31T10:00:0${temperature}Z` })

describe.each([4, 5])('of a broker that speaks MQTT version %i', (version) => {
  test('what was retained is not stored as if it were new, and is counted', async () => {
    const before = await metricOf(service.process, 'source_skipped_total')

    const { stored, source } = await readingsAfterRetained({ version })

    expect(stored).toEqual([2])
    expect(source).toMatchObject({ messages: 1, skipped: 1 })
    expect(await metricOf(service.process, 'source_skipped_total')).toBe(before + 1)
  })

  test('it is stored where readings say when they were', async () => {
    const { stored, source } = await readingsAfterRetained({ version, ...timed }, at)

    expect(stored).toEqual([1, 2])
    expect(source).not.toHaveProperty('skipped')
  })

  test('retained says otherwise', async () => {
    expect((await readingsAfterRetained({ version, retained: 'keep' })).stored).toEqual([1, 2])
    const skipped = await readingsAfterRetained({ version, ...timed, retained: 'skip' }, at)
    expect(skipped.stored).toEqual([2])
  })

  test('with QoS 0 and 2, too', async () => {
    for (const qos of [0, 2]) {
      expect((await readingsAfterRetained({ version, qos })).stored).toEqual([2])
    }
  })
})

test('an empty message, which takes away what was retained, is no reading', async () => {
  const topic = `plants/${++topics}/boiler`
  const client = await broker.client()
  const source = { endpoint: broker.endpoint, topic, ...timed }
  const streamId = await service.api.createStream(undefined, { source })
  const status = async () => (await service.api.status(streamId))['source']
  await expect.poll(status).toMatchObject({ state: 'running' })

  await client.publishAsync(topic, '', { qos: 1, retain: true })
  await client.publishAsync(topic, at(3), { qos: 1 })

  await expect.poll(status).toMatchObject({ messages: 1, skipped: 1 })
  expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1, quarantined: 0 })
})

async function refusal(source: object): Promise<unknown> {
  const answer = await service.api.withToken('POST', '/streams', {
    name: 'boiler',
    vaultId: crypto.randomUUID(),
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
    source,
  })
  return answer.body
}

test('a definition with another word for it is refused, and so is one for our own broker', async () => {
  const { endpoint } = broker
  expect(await refusal({ endpoint, topic: 'a', retained: 'sometimes' })).toMatchObject({
    details: [{ path: 'source.retained', message: 'must be skip or keep' }],
  })
  expect(await refusal({ topic: 'a', retained: 'keep' })).toMatchObject({
    details: [{ path: 'source.retained' }],
  })
})
