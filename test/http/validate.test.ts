import { beforeAll, describe, expect, test } from 'vitest'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let streamId: string

beforeAll(async () => {
  const schema = { temperature: { type: 'number', range: [0, 50], required: true } }
  streamId = await service.api.createStream(schema)
})

function validate(body: unknown, headers = {}, id = streamId) {
  const path = `/streams/${id}/validate`
  return service.api.withToken<{ readings: object[] }>('POST', path, body, headers)
}

const at = '2026-01-01T00:00:00.000000Z'

describe('validating readings', () => {
  test('says of each what would become of it', async () => {
    const { status, body } = await validate([
      { timestamp: at, temperature: 20 },
      { timestamp: at, temperature: 60, phase: 'b' },
      { timestamp: at, temperature: 'hot' },
      { timestamp: 'never', temperature: 1 },
    ])

    expect(status).toBe(200)
    expect(body).toEqual({
      streamId,
      version: 1,
      accepted: 2,
      rejected: 2,
      readings: [
        { index: 0, status: 'accepted', timestamp: at, values: { temperature: 20 }, flagged: [] },
        {
          index: 1,
          status: 'accepted',
          timestamp: at,
          values: { temperature: 60 },
          flagged: ['temperature'],
          extra: { phase: 'b' },
        },
        {
          index: 2,
          status: 'rejected',
          error: 'schema_mismatch',
          message: 'temperature must be number',
          remedy: refusalRemedy('schema_mismatch'),
          details: [{ path: 'temperature', message: 'must be number' }],
        },
        {
          index: 3,
          status: 'rejected',
          error: 'timestamp_invalid',
          message: expect.any(String) as string,
          remedy: expect.stringContaining('timestampFormat') as string,
          details: [{ path: 'timestamp', message: expect.any(String) as string }],
        },
      ],
    })
  })

  test('takes a single reading, and gives one without a time the time it came', async () => {
    const before = new Date().toISOString()

    const { body } = await validate({ temperature: 20 })

    const [reading] = body.readings as { timestamp: string }[]
    expect(body.readings).toHaveLength(1)
    expect(new Date(reading?.timestamp ?? '').getTime()).toBeGreaterThanOrEqual(Date.parse(before))
  })

  test('takes the formats that pushing takes', async () => {
    const lines = '{"temperature":1}\n{"temperature":"hot"}\n{"temp'
    const { status, body } = await validate(lines, { 'content-type': 'application/x-ndjson' })

    expect(status).toBe(200)
    expect(body).toMatchObject({
      accepted: 1,
      rejected: 2,
      readings: [{ status: 'accepted' }, { error: 'schema_mismatch' }, { error: 'malformed' }],
    })
  })

  test('keeps nothing, counts nothing and quarantines nothing', async () => {
    const id = await service.api.createStream()
    await validate([{ temperature: 1 }, { temperature: 'hot' }], {}, id)

    expect(await service.api.settled(id)).toMatchObject({ received: 0, stored: 0, quarantined: 0 })
    expect(await service.api.readAll(id)).toEqual([])
    const { body } = await service.api.withToken('GET', `/streams/${id}/quarantine`)
    expect(body).toMatchObject({ entries: [] })
    expect((await service.api.status(id)).status).toBe('created')
  })

  test('judges by the newest definition', async () => {
    const id = await service.api.createStream()
    const schema = { temperature: { type: 'string' } }
    await service.api.withToken('PUT', `/streams/${id}`, { schema })

    const { body } = await validate({ temperature: 'hot' }, {}, id)
    expect(body).toMatchObject({ version: 2, accepted: 1 })
  })

  test('says what a filter keeps out', async () => {
    const id = await service.api.createStream(undefined, {
      processing: { transform: [{ filter: { expression: 'temperature > 0' } }] },
    })

    const { body } = await validate([{ temperature: 1 }, { temperature: -1 }], {}, id)
    expect(body).toMatchObject({
      accepted: 2,
      readings: [{ status: 'accepted' }, { index: 1, status: 'filtered' }],
    })
  })

  test('says of a paused stream that it is paused', async () => {
    const id = await service.api.createStream()
    await service.api.withToken('POST', `/streams/${id}/pause`)

    const { status, body } = await validate({ temperature: 1 }, {}, id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ rejected: 1, readings: [{ error: 'stream_paused' }] })
  })

  test.each([
    ['an unreadable body', '{"temp', 400, 'malformed_body'],
    ['an empty batch', [], 400, 'malformed_body'],
  ])('refuses %s', async (_, body, status, error) => {
    const answer = await validate(body)

    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ error })
  })

  test('of an unknown stream is 404', async () => {
    const id = '00000000-0000-4000-8000-000000000000'
    expect((await validate({ temperature: 1 }, {}, id)).status).toBe(404)
  })
})
