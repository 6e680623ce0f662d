import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import { beforeEach, describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { bodiesTo, type SentHeaders } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const { post } = bodiesTo(service)

const json = { 'content-type': 'application/json' }
const unknown = '00000000-0000-4000-8000-000000000000'

let boiler: string
let pump: string

beforeEach(async () => {
  boiler = await service.api.createStream()
  pump = await service.api.createStream(
    { speed: { type: 'integer' } },
    {
      processing: { validation: 'strict' },
    },
  )
})

function send(readings: unknown, headers: SentHeaders = {}) {
  return post('/data', { ...json, ...headers }, JSON.stringify(readings))
}

const at = (second: number) => `2026-01-01T00:00:0${second}.000000Z`

async function quarantined(streamId: string): Promise<readonly Record<string, unknown>[]> {
  const path = `/streams/${streamId}/quarantine`
  const { body } = await service.api.withToken<{ entries: Record<string, unknown>[] }>('GET', path)
  return body.entries
}

describe('POST /data', () => {
  test('brings each reading to its stream, without the field that names it', async () => {
    const { status, body } = await send([
      { streamId: boiler, timestamp: at(1), temperature: 20 },
      { streamId: pump, timestamp: at(1), speed: 1 },
      { streamId: boiler, timestamp: at(2), temperature: 21 },
    ])

    expect([status, body]).toEqual([202, { accepted: 3, rejected: [] }])
    await service.api.settled(boiler, 2)
    await service.api.settled(pump, 1)
    expect(await service.api.readAll(boiler)).toEqual([
      { timestamp: at(1), temperature: 20 },
      { timestamp: at(2), temperature: 21 },
    ])
    expect(await service.api.readAll(pump)).toEqual([{ timestamp: at(1), speed: 1 }])
  })

  test('gives readings the identity that they have when they are sent alone', async () => {
    await send([{ streamId: boiler, timestamp: at(1), temperature: 20 }])
    const alone = { timestamp: at(1), temperature: 20 }
    await service.api.withToken('POST', `/streams/${boiler}/data`, alone)

    expect(await service.api.settled(boiler, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })

  test('tells by its place what became of each reading that was not taken', async () => {
    const { status, body } = await send([
      { streamId: unknown, temperature: 20 },
      { streamId: pump, timestamp: at(1), speed: 'fast' },
      { streamId: boiler, timestamp: at(1), temperature: 20 },
      { temperature: 20 },
      7,
      { streamId: 'boiler', temperature: 20 },
      { streamId: null, temperature: 20 },
      { streamId: pump, timestamp: at(1), speed: 1, hall: 3 },
    ])

    expect(status).toBe(202)
    expect(body).toEqual({
      accepted: 1,
      rejected: [
        expect.objectContaining({ index: 0, error: 'not_found', message: `no stream ${unknown}` }),
        expect.objectContaining({ index: 1, error: 'schema_mismatch' }),
        expect.objectContaining({ index: 3, error: 'malformed' }),
        expect.objectContaining({ index: 4, error: 'malformed' }),
        expect.objectContaining({ index: 5, error: 'not_found' }),
        expect.objectContaining({ index: 6, error: 'malformed' }),
        expect.objectContaining({
          index: 7,
          details: [{ path: 'hall', message: expect.any(String) }],
        }),
      ],
    })
    expect(await service.api.settled(boiler, 1)).toMatchObject({ received: 1, stored: 1 })
    expect(await service.api.settled(pump, 2)).toMatchObject({ received: 2, quarantined: 2 })
  })

  test('keeps a refused reading in the quarantine of its stream as it was sent', async () => {
    const refused = [
      `{ "streamId":"${pump}", "speed" : 1.5 }`,
      `{"streamId":"${pump}","speed":"é"}`,
    ]
    const accepted = `{"streamId":"${boiler}","temperature":1}`
    await post('/data', json, `[${refused[0]}, ${accepted} , ${refused[1]}]`)

    await service.api.settled(pump, 2)
    expect((await quarantined(pump)).map(({ payload }) => payload)).toEqual(refused)
  })

  test('takes nothing for a stream that is paused, and all for the others', async () => {
    await service.api.withToken('POST', `/streams/${pump}/pause`)

    const { status, body } = await send([
      { streamId: pump, timestamp: at(1), speed: 1 },
      { streamId: boiler, timestamp: at(1), temperature: 20 },
    ])

    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 1, rejected: [{ index: 0, error: 'stream_paused' }] })
    expect(await service.api.settled(pump)).toMatchObject({ received: 0 })
    expect(await service.api.settled(boiler, 1)).toMatchObject({ stored: 1 })
  })

  test('has nothing to say about a stream of somebody else, and takes nothing for it', async () => {
    const ada = await newPerson(service.api)

    const { status, body } = await ada.withToken<unknown>('POST', '/data', [
      { streamId: boiler, temperature: 20 },
      { streamId: unknown, temperature: 20 },
    ])

    expect(status).toBe(422)
    expect(body).toMatchObject({
      error: 'reading_rejected',
      accepted: 0,
      rejected: [
        { index: 0, error: 'not_found', message: `no stream ${boiler}` },
        { index: 1, error: 'not_found', message: `no stream ${unknown}` },
      ],
    })
    expect(await service.api.settled(boiler)).toMatchObject({ received: 0 })
  })

  test('gives readings without times the time of receipt, each a microsecond later', async () => {
    await send([
      { streamId: boiler, temperature: 1 },
      { streamId: pump, speed: 1 },
      { streamId: boiler, temperature: 1 },
      { streamId: boiler, temperature: 1 },
    ])

    expect(await service.api.settled(boiler, 3)).toMatchObject({ stored: 3 })
    await service.api.settled(pump, 1)
    const points = [...(await service.api.readAll(boiler)), ...(await service.api.readAll(pump))]
    const micros = points.map(({ timestamp }) => Number(String(timestamp).slice(-7, -1)))
    const [first = 0] = micros
    expect(micros.map((micro) => (micro - first + 1e6) % 1e6)).toEqual([0, 2, 3, 1])
  })

  test('stores nothing twice that comes again under one Idempotency-Key', async () => {
    const readings = [
      { streamId: boiler, temperature: 1 },
      { streamId: pump, speed: 'fast' },
      { streamId: pump, speed: 2 },
    ]
    const key = { 'idempotency-key': 'monday' }

    const first = await send(readings, key)
    const again = await send(readings, key)

    expect(again.text).toBe(first.text)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await service.api.settled(boiler, 2)).toMatchObject({ stored: 1, duplicates: 1 })
    expect(await service.api.settled(pump, 4)).toMatchObject({ stored: 1, duplicates: 1 })
    expect((await send(readings.slice(1), key)).body).toMatchObject({
      error: 'idempotency_conflict',
    })
  })

  test.each([
    ['an object', '{"streamId":"x","temperature":1}'],
    ['an empty array', '[]'],
    ['half an array', '[{"streamId":"x"'],
    ['nothing', ''],
    ['more than 10,000 readings', `[${'{},'.repeat(10_000)}{}]`],
  ])('refuses %s whole', async (_, body) => {
    const answer = await post('/data', json, body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'malformed_body' })
  })

  test.each([
    ['application/cbor', (value: unknown) => encodeCbor(value)],
    ['application/msgpack', (value: unknown) => encodeMsgpack(value)],
  ])('takes %s', async (contentType, encode) => {
    const refused = { streamId: pump, speed: 'fast' }
    const body = encode([
      { streamId: boiler, timestamp: at(1), temperature: 20 },
      refused,
      { streamId: unknown, temperature: 1 },
    ])

    const answer = await post('/data', { 'content-type': contentType }, body)

    expect(answer.body).toMatchObject({ accepted: 1, rejected: [{ index: 1 }, { index: 2 }] })
    await service.api.settled(pump, 1)
    const [entry] = await quarantined(pump)
    expect(Buffer.from(String(entry?.['payload']), entry?.['encoding'] as 'base64')).toEqual(
      Buffer.from(encode(refused)),
    )
  })

  test('takes NDJSON, of which an unreadable line belongs to no stream', async () => {
    const lines = [
      `{"streamId":"${boiler}","temperature":1}`,
      '{',
      `{"streamId":"${pump}","speed":1}`,
    ]

    const answer = await post('/data', { 'content-type': 'application/x-ndjson' }, lines.join('\n'))

    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ accepted: 2, rejected: [{ index: 1, error: 'malformed' }] })
  })

  test('takes a batch as large as one may be, of many streams', async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => service.api.createStream()))
    const readings = Array.from({ length: 10_000 }, (_, index) => ({
      streamId: index % 2 === 0 ? others[(index / 2) % 20] : crypto.randomUUID(),
      temperature: index,
    }))

    const { body } = await send(readings)

    expect(body).toMatchObject({ accepted: 5_000, rejected: { length: 5_000 } })
    for (const streamId of others) {
      expect(await service.api.settled(streamId, 250)).toMatchObject({ stored: 250 })
    }
  })

  test('lets what it has refused be redriven as a reading of its stream', async () => {
    const ahead = new Date(Date.now() + 310_000).toISOString()
    await send([{ streamId: pump, timestamp: ahead, speed: 1 }])
    await service.api.settled(pump, 1)
    const redrive = async () => {
      const path = `/streams/${pump}/quarantine/redrive`
      return (await service.api.withToken<{ accepted: number }>('POST', path, {})).body.accepted
    }

    await expect.poll(redrive, { interval: 500 }).toBe(1)
  })
})
