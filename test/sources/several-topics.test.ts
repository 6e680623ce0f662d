import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endMessagePlaces, messagePlaces, type OpenPlace } from '../support/message-places.ts'
import { runningService } from '../support/running-service.ts'

/** Devices whose messages come by several subjects, topics or routing keys to one stream, and who may say the same. */

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:1024-65535' })

const present = messagePlaces.filter(({ isMissing }) => !isMissing)

beforeAll(async () => {
  await Promise.all(present.map(({ start }) => start()))
}, 60_000)

afterAll(endMessagePlaces)

type Definition = Parameters<typeof service.api.createStream>[1]

async function streamOf(
  { source }: OpenPlace,
  schema: object = { temperature: { type: 'number' } },
  rest: Definition = {},
): Promise<string> {
  const streamId = await service.api.createStream(schema, { type: 'event_stream', source, ...rest })
  await reached(streamId)
  return streamId
}

async function reached(streamId: string): Promise<void> {
  await expect
    .poll(async () => (await service.api.status(streamId))['source'], { timeout: 20_000 })
    .toMatchObject({ state: 'running' })
}

function reading(second: number): Buffer {
  return Buffer.from(`{"timestamp":"2026-01-01T00:00:0${second}Z","temperature":21.5}`)
}

describe.each(present)('$name', ({ open }) => {
  test('the same reading of two devices is two, and what comes again is known', async () => {
    const place = await open(false)
    const streamId = await streamOf(place)
    for (const topic of place.topics) await place.publish(topic, [reading(0)])
    for (const topic of place.topics) await place.publish(topic, [reading(0), reading(0)])

    expect(await service.api.settled(streamId, 6)).toMatchObject({ stored: 2, duplicates: 4 })
    const same = { timestamp: '2026-01-01T00:00:00.000000Z', temperature: 21.5 }
    expect(await service.api.readAll(streamId)).toEqual([same, same])
  })

  test('of one topic only, what is sent again is one reading, whichever way it comes', async () => {
    const place = await open(true)
    const streamId = await streamOf(place)
    await place.publish(place.topics[0], [reading(0), reading(0)])
    await service.api.settled(streamId, 2)
    await service.api.withToken('POST', `/streams/${streamId}/data`, JSON.parse(String(reading(0))))

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 1, duplicates: 2 })
  })

  test('deduplication compares with what the same device has said', async () => {
    const place = await open(false)
    const [one, two] = place.topics
    const processing = { deduplicate: true, frequency: '1h' }
    const streamId = await streamOf(place, undefined, { processing })
    for (const [index, topic] of [one, two, two].entries()) {
      await place.publish(topic, [reading(index)])
      await service.api.settled(streamId, index + 1)
    }

    const counts = { stored: 2, unchanged: 1, duplicates: 0 }
    expect(await service.api.settled(streamId, 3)).toMatchObject(counts)
  })

  test('a redrive keeps apart what was refused of two devices', async () => {
    const place = await open(false)
    const streamId = await streamOf(place, { temperature: { type: 'string' } })
    for (const topic of place.topics) await place.publish(topic, [reading(0), reading(0)])
    expect(await service.api.settled(streamId, 4)).toMatchObject({ quarantined: 4 })

    const change = { schema: { temperature: { type: 'number' } } }
    await service.api.withToken('PUT', `/streams/${streamId}`, change)
    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
    const counts = { stored: 2, duplicates: 2, quarantined: 0 }
    expect(await service.api.settled(streamId)).toMatchObject(counts)
    await reached(streamId)
    for (const topic of place.topics) await place.publish(topic, [reading(0)])
    expect(await service.api.settled(streamId, 6)).toMatchObject({ stored: 2, duplicates: 4 })
  })
})
