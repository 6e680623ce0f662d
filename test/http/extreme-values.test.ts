import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const timestamp = '2026-01-01T00:00:00.000000Z'

/** The body is sent as it is written here. */
function push(streamId: string, body: string): Promise<Answer<Record<string, unknown>>> {
  return service.api.withToken('POST', `/streams/${streamId}/data`, body)
}

/** Pushes the members of one reading, and reads back what was stored of it. */
async function roundTrip(schema: object, members: string): Promise<unknown> {
  const streamId = await service.api.createStream(schema)
  const { status, body } = await push(streamId, `{"timestamp":"${timestamp}",${members}}`)
  expect([status, body]).toEqual([202, { streamId, timestamp, status: 'accepted' }])
  await service.api.settled(streamId, 1)
  const [point] = await service.api.readAll(streamId)
  return point
}

/** A batch of so many readings. */
function batch(size: number): string {
  return `[${Array<string>(size).fill('{"temperature":1}').join()}]`
}

describe('a value comes back as it was sent:', () => {
  test.each([
    ['the largest double', '1.7976931348623157e308'],
    ['the smallest double', '-1.7976931348623157e308'],
    ['the double next to 0', '5e-324'],
    ['an integer as a double', '9007199254740992'],
    ['many digits', '0.1234567890123456789'],
  ])('%s', async (_, literal) => {
    const point = await roundTrip({ a: { type: 'number' } }, `"a":${literal}`)

    expect(point).toEqual({ timestamp, a: Number(literal) })
  })

  test.each([9_007_199_254_740_992, -9_007_199_254_740_992, 0])('the integer %i', async (value) => {
    expect(await roundTrip({ a: { type: 'integer' } }, `"a":${value}`)).toEqual({
      timestamp,
      a: value,
    })
  })

  test.each(['0001-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.000000Z'])(
    'the date-time %s',
    async (value) => {
      expect(await roundTrip({ a: { type: 'datetime' } }, `"a":"${value}"`)).toEqual({
        timestamp,
        a: value,
      })
    },
  )

  test.each([
    ['quotes and commands', `'"; DROP TABLE streams; --`],
    ['all planes of Unicode', 'é ß 漢 \u{1f321}\ufe0f \u202e'],
    ['control characters', '\u0001\t\n\r\u007f'],
    ['nothing', ''],
    ['a hundred thousand characters', 'x'.repeat(100_000)],
  ])('a text of %s', async (_, value) => {
    const point = await roundTrip({ a: { type: 'string' } }, `"a":${JSON.stringify(value)}`)

    expect(point).toEqual({ timestamp, a: value })
  })

  test('a field named as a word of SQL', async () => {
    const schema = { select: { type: 'number' }, table: { type: 'number' } }

    expect(await roundTrip(schema, '"select":1,"table":2')).toEqual({
      timestamp,
      select: 1,
      table: 2,
    })
  })

  test('an unknown field of any name, under extra', async () => {
    const extra = '{"a b.c":2,"constructor":3,"hasOwnProperty":{"a":1}}'

    const point = await roundTrip({ known: { type: 'number' } }, extra.slice(1, -1))

    expect(JSON.stringify(point)).toBe(`{"timestamp":"${timestamp}","extra":${extra}}`)
  })
})

describe('a field named as a member of every object', () => {
  const names = ['toString', 'constructor', 'hasOwnProperty', 'valueOf']

  test.each(names)('(%s) may be left out', async (name) => {
    const schema = { [name]: { type: 'number' }, known: { type: 'number' } }

    expect(await roundTrip(schema, '"known":1')).toEqual({ timestamp, known: 1 })
  })

  test.each(names)('(%s) may not be left out when it is required', async (name) => {
    const streamId = await service.api.createStream({ [name]: { type: 'number', required: true } })

    const { status, body } = await push(streamId, `{"timestamp":"${timestamp}"}`)

    expect(status).toBe(422)
    expect(body).toMatchObject({ details: [{ path: name, message: 'is required' }] })
  })
})

test('a reading that claims the year 9999 is listed by the quarantine', async () => {
  const streamId = await service.api.createStream()
  expect((await push(streamId, '{"timestamp":"9999-12-31T23:59:59Z"}')).status).toBe(422)
  await service.api.settled(streamId, 1)

  const { status, body } = await service.api.withToken('GET', `/streams/${streamId}/quarantine`)

  expect(status).toBe(200)
  expect(body).toMatchObject({
    entries: [{ reason: 'timestamp_in_future', timestamp: '9999-12-31T23:59:59.000000Z' }],
  })
})

test('a batch has at most 10,000 readings, and a larger one is refused whole', async () => {
  const streamId = await service.api.createStream()

  const tooMany = await push(streamId, batch(10_001))
  const { body } = await push(streamId, batch(10_000))

  expect(tooMany.status).toBe(400)
  expect(body).toEqual({ accepted: 10_000, rejected: [] })
  expect(await service.api.settled(streamId, 10_000)).toMatchObject({ received: 10_000 })
})

// At the end of the file: one such reading, once accepted, has stopped the store for all others.
test.each(['1e300', '-1e300', '9007199254740994.0', '9.007199254740994e15', '1e19'])(
  'the integer %s is beyond 2^53 and refused, however it is written',
  async (literal) => {
    const streamId = await service.api.createStream({ a: { type: 'integer' } })

    const { status, body } = await push(streamId, `{"timestamp":"${timestamp}","a":${literal}}`)

    expect(status).toBe(422)
    expect(body).toMatchObject({ details: [{ path: 'a' }] })
  },
)
