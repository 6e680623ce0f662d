import { describe, expect, test } from 'vitest'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { type RawAnswer, sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

function push<Body = Record<string, unknown>>(
  streamId: string,
  body: unknown,
): Promise<Answer<Body>> {
  return service.api.withToken<Body>('POST', `/streams/${streamId}/data`, body)
}

async function pushBytes(
  streamId: string,
  body: string | Uint8Array,
  contentType: readonly string[] = ['content-type', 'application/json'],
): Promise<RawAnswer> {
  return sendRaw(service.process.http, {
    method: 'POST',
    path: `/streams/${streamId}/data`,
    headers: ['authorization', `Bearer ${await service.api.token()}`, ...contentType],
    body,
  })
}

const good = { timestamp: '2026-01-01T00:00:00Z', temperature: 20 }
const bad = { timestamp: '2026-01-01T00:00:01Z', temperature: 'hot' }
const nothing = { received: 0, stored: 0, quarantined: 0, pending: 0 }

describe('one reading', () => {
  test('is answered 202 with its stream and its time in microseconds', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, {
      timestamp: '2026-01-01T01:00:00.1234567+01:00',
      temperature: 20,
    })

    expect(status).toBe(202)
    const timestamp = '2026-01-01T00:00:00.123456Z'
    expect(body).toEqual({ streamId, timestamp, status: 'accepted' })
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toEqual([{ timestamp, temperature: 20 }])
  })

  test('without a timestamp is answered with the time that it is stored under', async () => {
    const streamId = await service.api.createStream()

    const { body } = await push(streamId, { temperature: 20 })

    await service.api.settled(streamId, 1)
    const [point] = await service.api.readAll(streamId)
    expect(point?.['timestamp']).toBe(body['timestamp'])
  })

  test('is taken with key and secret, too', async () => {
    const streamId = await service.api.createStream()

    const { status } = await service.api.withKey('POST', `/streams/${streamId}/data`, good)

    expect(status).toBe(202)
  })

  test('that does not fit is answered 422 with details', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push<ErrorBody>(streamId, bad)

    expect(status).toBe(422)
    expect(body).toMatchObject({
      error: 'reading_rejected',
      statusCode: 422,
      message: expect.stringContaining('temperature') as string,
      details: [{ path: 'temperature', message: expect.stringMatching(/\S/) as string }],
    })
    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, quarantined: 1 })
  })

  test.each([
    ['without a zone', '2026-01-01T00:00:00'],
    ['with a space for T', '2026-01-01 00:00:00Z'],
    ['on a day that is none', '2026-02-29T00:00:00Z'],
    ['before 1970', '1969-12-31T23:59:59Z'],
    ['of null', null],
    ['that is a number', 1_767_225_600],
    ['an hour ahead', new Date(Date.now() + 3_600_000).toISOString()],
  ])('with a time %s is refused with 422', async (_, timestamp) => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, { timestamp, temperature: 1 })

    expect(status).toBe(422)
    expect(body).toMatchObject({ details: [{ path: 'timestamp' }] })
  })

  test('sent twice is accepted twice and stored once', async () => {
    const streamId = await service.api.createStream()

    expect([await push(streamId, good), await push(streamId, good)]).toMatchObject([
      { status: 202 },
      { status: 202 },
    ])

    const counters = await service.api.settled(streamId, 2)
    expect(counters).toMatchObject({ received: 2, stored: 1, duplicates: 1 })
  })

  test('is stored beside a different one of the same time', async () => {
    const streamId = await service.api.createStream()

    await push(streamId, good)
    await push(streamId, { ...good, temperature: 21 })

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, duplicates: 0 })
  })
})

describe('a batch', () => {
  test('tells per reading what became of it, with 202 when one is accepted', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, [good, bad, 'text', { ...good, temperature: 21 }])

    expect(status).toBe(202)
    expect(body).toEqual({
      accepted: 2,
      rejected: [
        {
          index: 1,
          error: 'schema_mismatch',
          message: expect.stringContaining('temperature') as string,
          remedy: refusalRemedy('schema_mismatch'),
          details: [{ path: 'temperature', message: expect.any(String) as string }],
        },
        {
          index: 2,
          error: 'malformed',
          message: expect.stringMatching(/\S/) as string,
          remedy: refusalRemedy('malformed'),
          details: [],
        },
      ],
    })
    const counters = await service.api.settled(streamId, 4)
    expect(counters).toMatchObject({ received: 4, stored: 2, quarantined: 2 })
  })

  test('of one reading is answered as a batch', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, [good])

    expect([status, body]).toEqual([202, { accepted: 1, rejected: [] }])
  })

  test('of which nothing is accepted is 422 with the fields of an error and of a batch', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, [bad, bad])

    expect(status).toBe(422)
    expect(body).toMatchObject({
      error: 'reading_rejected',
      message: expect.stringMatching(/\S/) as string,
      statusCode: 422,
      accepted: 0,
      rejected: [{ index: 0 }, { index: 1 }],
    })
  })

  test('of readings without timestamps stores each, a microsecond apart', async () => {
    const streamId = await service.api.createStream()

    await push(streamId, [{ temperature: 1 }, { temperature: 1 }, { temperature: 1 }])

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 3, duplicates: 0 })
    const times = (await service.api.readAll(streamId)).map(({ timestamp }) => String(timestamp))
    const micros = times.map((time) => Number(time.slice(-7, -1)))
    const apart = micros.slice(1).map((micro, index) => (micro - (micros[index] ?? 0) + 1e6) % 1e6)
    expect(apart).toEqual([1, 1])
  })
})

describe('a body that is refused whole', () => {
  test.each([
    ['half an object', '{"temperature":'],
    ['nothing', ''],
    ['an empty batch', '[]'],
    ['a bare number', '21.5'],
    ['null', 'null'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark', '\ufeff{"temperature":1}'],
    ['a lone surrogate', '{"note":"\\ud800"}'],
    ['U+0000', '{"note":"\\u0000"}'],
    ['a key that comes twice', '{"temperature":1,"temperature":2}'],
    ['an integer beyond 2^53', '{"temperature":9007199254740993}'],
  ])('(%s) is 400 malformed_body and counted nowhere', async (_, body) => {
    const streamId = await service.api.createStream()

    const answer = await pushBytes(streamId, body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'malformed_body', statusCode: 400 })
    expect(await service.api.settled(streamId)).toMatchObject(nothing)
  })

  test.each([
    ['no content type', []],
    ['text/html', ['content-type', 'text/html']],
  ])('(%s) is 415 and counted nowhere', async (_, contentType) => {
    const streamId = await service.api.createStream()

    const answer = await pushBytes(streamId, JSON.stringify(good), contentType)

    expect(answer.status).toBe(415)
    expect(answer.body).toMatchObject({ error: 'unsupported_media_type', statusCode: 415 })
    expect(await service.api.settled(streamId)).toMatchObject(nothing)
  })

  test.each(['00000000-0000-4000-8000-000000000000', 'boiler-7'])(
    'is 404 for the stream %s, which nobody has',
    async (streamId) => {
      const { status, body } = await push(streamId, good)

      expect(status).toBe(404)
      expect(body).toMatchObject({ error: 'not_found', statusCode: 404 })
    },
  )
})

describe('what a stream keeps', () => {
  const schema = { temperature: { type: 'number', range: [0, 100] } }

  test('unknown fields of a lenient one come back under extra', async () => {
    const streamId = await service.api.createStream(schema)

    await push(streamId, { ...good, hall: 3, tags: { line: 'a' } })

    await service.api.settled(streamId, 1)
    const extra = { hall: 3, tags: { line: 'a' } }
    expect(await service.api.readAll(streamId)).toMatchObject([{ temperature: 20, extra }])
  })

  test('a value out of range is kept by a lenient one, and flagged', async () => {
    const streamId = await service.api.createStream(schema)

    expect((await push(streamId, { ...good, temperature: 101 })).status).toBe(202)

    await service.api.settled(streamId, 1)
    const [point] = await service.api.readAll(streamId)
    expect(point).toMatchObject({ temperature: 101, 'temperature:flag': 'out_of_range' })
  })

  test.each([
    ['an unknown field', { ...good, hall: 3 }, 'hall'],
    ['a value out of range', { ...good, temperature: 101 }, 'temperature'],
    ['a number as text', { ...good, temperature: '20' }, 'temperature'],
  ])('%s is refused by a strict one with 422', async (_, reading, path) => {
    const streamId = await service.api.createStream(schema, {
      processing: { validation: 'strict' },
    })

    const { status, body } = await push(streamId, reading)

    expect(status).toBe(422)
    expect(body).toMatchObject({ details: [{ path }] })
  })

  test('a time in another field and format is read as the source says', async () => {
    const streamId = await service.api.createStream(undefined, {
      source: { timestampField: 'at', timestampFormat: 'epoch_ms' },
    })

    const { body } = await push(streamId, { at: 1_767_225_600_123, temperature: 1 })

    expect(body).toMatchObject({ timestamp: '2026-01-01T00:00:00.123000Z' })
  })
})
