import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let streamId: string

beforeAll(async () => {
  streamId = await service.api.createStream(
    { temperature: { type: 'number' } },
    { processing: { frequency: '1m', aggregation: 'average' } },
  )
  const reading = { timestamp: '2026-01-31T10:00:00Z', temperature: 20 }
  await service.api.withToken('POST', `/streams/${streamId}/data`, [reading])
  await service.api.settled(streamId, 1)
})

const endOfTimeUs = 253_402_300_800_000_000

/** Near the ends of what can be counted or written, and anywhere between them. */
const time = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(0, 2 ** 53, 1e16, endOfTimeUs, -endOfTimeUs, 6e17, 1e18, 2 ** 63, 1e300),
      fc.constantFrom(-1e13, -32, -1, 0, 1, 32, 1e13),
    )
    .map(([near, offset]) => near + offset),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const series = fc.oneof(
  fc.constantFrom('', 'x', '~', '\u0000', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

const ofAggregates = fc
  .oneof(fc.tuple(time, series), fc.array(fc.oneof(time, series), { maxLength: 4 }))
  .map((list) => JSON.stringify(list))
const digit = fc.integer({ min: 0, max: 9 })
const ofReadings = fc
  .tuple(
    fc.array(digit, { minLength: 1, maxLength: 17 }),
    fc.array(digit, { minLength: 1, maxLength: 21 }),
    fc.array(digit, { minLength: 1, maxLength: 17 }),
  )
  .map((numbers) => numbers.map((digits) => digits.join('')).join(' '))

const filledRange = { start: '2026-01-31T09:00:00Z', end: '2026-01-31T11:00:00Z' }
/** What the cursor keeps of the first page, which stands behind it. */
const kept = fc.oneof(
  fc.constant(undefined),
  fc.json(),
  fc
    .tuple(
      fc.constantFrom('asc', 'desc', 'up', 1),
      fc.constantFrom(null, '2026-01-31T09:00:00Z', '', 7),
      fc.constantFrom(null, '9999-12-31T23:59:59.999999Z', '0001-01-01T00:00:00Z', {}),
    )
    .map((list) => JSON.stringify(list)),
)

const question = fc.record({
  kept,
  order: fc.constantFrom('asc', 'desc'),
  start: fc.constantFrom(undefined, '-1h', '2026-01-31T09:00:00Z'),
  text: fc.oneof(ofAggregates, ofAggregates, ofReadings),
  aggregation: fc.constantFrom('raw', 'window', 'minutely', 'hourly', 'weekly', '7m', '366d'),
  tz: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
  fill: fc.constantFrom('none', 'null'),
})

function read(query: object): Promise<Answer<ErrorBody>> {
  const text = new URLSearchParams({ ...query }).toString()
  return service.api.withToken('GET', `/streams/${streamId}/data?${text}`)
}

function ask(query: object): Promise<Answer<ErrorBody>> {
  const body = { streamIds: [streamId], fields: ['temperature'], ...query }
  return service.api.withToken('POST', '/query', body)
}

const cursorOf = (text: string) => Buffer.from(text).toString('base64url')

test.each([6e17, endOfTimeUs, -endOfTimeUs, 0.5])('a cursor at %d is 400', async (timestampUs) => {
  const cursor = cursorOf(JSON.stringify([timestampUs, 'x']))

  for (const { status, body } of [
    await read({ aggregation: 'hourly', cursor }),
    await read({ aggregation: 'window', cursor }),
    await ask({ aggregation: 'hourly', cursor }),
    await ask({ aggregation: 'window', cursor }),
  ]) {
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path: 'cursor' }] })
    expect(status).toBe(400)
  }
})

test('a cursor that we have not made is answered or refused, and fails nothing', async () => {
  await fc.assert(
    fc.asyncProperty(question, async (one) => {
      const { text, aggregation, tz, fill, order, start } = one
      const isFilled = fill === 'null' && aggregation !== 'raw' && aggregation !== 'window'
      const filling = isFilled ? { fill, ...filledRange } : {}
      const suffix = one.kept === undefined ? '' : `.${cursorOf(one.kept)}`
      const cursor = cursorOf(text) + suffix
      const range = start === undefined ? {} : { start }
      const asked = { aggregation, tz, order, cursor, ...range, ...filling }

      expect([200, 400]).toContain((await read(asked)).status)
      expect([200, 400]).toContain((await ask(asked)).status)
    }),
    { numRuns: 100 },
  )
})
