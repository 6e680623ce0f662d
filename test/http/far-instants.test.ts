import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const reading = { timestamp: '2026-01-01T00:00:00Z', temperature: 1 }

async function filled(): Promise<string> {
  const streamId = await service.api.createStream()
  await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
  await service.api.settled(streamId, 1)
  return streamId
}

/** Bounds with fractions of seconds that doubles of microseconds do not have. */
const ranges = [
  ['1600-01-01T00:00:00.123457Z', '2300-01-01T00:00:00.123457Z', true],
  ['0001-01-01T00:00:00.000001Z', '9999-12-31T23:59:59.999999Z', true],
  ['2300-01-01T00:00:00.000001Z', '2300-01-01T00:00:00.000002Z', false],
  ['2255-06-05T23:47:34.740993Z', '9999-12-31T23:59:59.999999Z', false],
  ['1600-01-01T00:00:00.5Z', '1600-01-01T00:00:00.500001Z', false],
] as const

/** Nothing is stored from before 1970. */
const shown = (text: string) =>
  text < '1970' ? '1970-01-01T00:00:00.000000Z' : text.replace('00.5Z', '00.500000Z')

describe.each(ranges)('from %s to %s', (start, end, hasReading) => {
  const range = `start=${start}&end=${end}`

  test('readings are read', async () => {
    const streamId = await filled()
    const { status, body } = await service.api.withToken<{ data: readonly object[] }>(
      'GET',
      `/streams/${streamId}/data?${range}`,
    )
    expect([status, body]).toMatchObject([200, { start: shown(start), end: shown(end) }])
    expect(body.data).toHaveLength(hasReading ? 1 : 0)
  })

  test('readings are aggregated', async () => {
    const streamIds = [await filled()]
    const question = { streamIds, fields: ['temperature'], aggregation: '1h', start, end }
    const { status, body } = await service.api.withToken<{ data: readonly object[] }>(
      'POST',
      '/query',
      question,
    )
    expect([status, body]).toMatchObject([200, { start: shown(start), end: shown(end) }])
    expect(body.data).toHaveLength(hasReading ? 1 : 0)
  })

  test('readings are exported', async () => {
    const streamIds = [await filled()]
    const made = await service.api.withToken('POST', '/exports', {
      streamIds,
      format: 'csv',
      start,
      end,
    })
    expect(made).toMatchObject({ status: 202, body: { start: shown(start), end: shown(end) } })
  })

  test('readings are removed', async () => {
    const streamId = await filled()
    const { status } = await service.api.withToken('DELETE', `/streams/${streamId}/data?${range}`)
    expect([202, 204]).toContain(status)
    await expect
      .poll(async () => await service.api.readAll(streamId), { timeout: 10_000 })
      .toHaveLength(hasReading ? 0 : 1)
  })

  test('entries of the quarantine are listed', async () => {
    const streamId = await filled()
    const path = `/streams/${streamId}/quarantine?${range}`
    expect((await service.api.withToken('GET', path)).status).toBe(200)
  })
})

test('an end that is a microsecond before the start is refused, in any year', async () => {
  const streamId = await filled()
  const range = 'start=2300-01-01T00:00:00.000002Z&end=2300-01-01T00:00:00.000001Z'
  const answer = await service.api.withToken('GET', `/streams/${streamId}/data?${range}`)
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test.each(['2300-01-01T00:00:00.123457Z', '9999-12-31T23:59:59.999999Z'])(
  'a reading of %s is kept in the quarantine as one of the future',
  async (timestamp) => {
    const streamId = await service.api.createStream()
    const path = `/streams/${streamId}`
    await service.api.withToken('POST', `${path}/data`, { ...reading, timestamp })
    await service.api.settled(streamId, 1)

    const { body } = await service.api.withToken<{ entries: readonly { timestamp: string }[] }>(
      'GET',
      `${path}/quarantine`,
    )
    expect(body.entries).toMatchObject([{ reason: 'timestamp_in_future' }])
    // The nearest that a journal can say, and never later.
    const told = body.entries[0]?.timestamp ?? ''
    expect(told.slice(0, 23)).toBe(timestamp.slice(0, 23))
    expect(told <= timestamp).toBe(true)
  },
)
