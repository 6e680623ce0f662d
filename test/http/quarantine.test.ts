import { beforeAll, describe, expect, test } from 'vitest'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import type { Answer } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Entry extends Readonly<Record<string, unknown>> {
  readonly id: number
  readonly payload: string
}

interface Page {
  readonly streamId: string
  readonly entries: readonly Entry[]
  readonly nextCursor: string | null
}

let streamId: string

/** As a device wrote them, with spaces that our own printing would lose. */
const single = '{ "timestamp": "2026-01-01T00:00:00Z",  "temperature": "hot" }'
const future = `{"timestamp":"${new Date(Date.now() + 3_600_000).toISOString()}"}`
const inBatch = ['{ "temperature" : true }', '7', '{"temperature":"é","timestamp":"never"}']

beforeAll(async () => {
  streamId = await service.api.createStream()
  for (const body of [single, future, `[ {"temperature":1}, ${inBatch.join(' , ')} ]`]) {
    await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  }
  await service.api.settled(streamId, 6)
})

function get(query = '', id = streamId): Promise<Answer<Page>> {
  return service.api.withToken<Page>('GET', `/streams/${id}/quarantine${query}`)
}

describe('the quarantine of a stream', () => {
  test('lists refused readings in their order, as they were sent', async () => {
    const { status, body } = await get()

    expect(status).toBe(200)
    expect(body).toMatchObject({ streamId, nextCursor: null })
    expect(body.entries.map(({ payload }) => payload)).toEqual([single, future, ...inBatch])
  })

  test('tells of each reading all fields that entries have, and no other', async () => {
    const [entry] = (await get()).body.entries

    expect(entry).toEqual({
      id: expect.any(Number) as number,
      reason: 'schema_mismatch',
      message: expect.stringContaining('temperature') as string,
      remedy: refusalRemedy('schema_mismatch'),
      details: [{ path: 'temperature', message: expect.any(String) as string }],
      payload: single,
      encoding: 'utf8',
      timestamp: '2026-01-01T00:00:00.000000Z',
      receivedAt: expect.stringMatching(/^20.*\.\d{6}Z$/) as string,
      source: expect.stringMatching(/http.*127\.0\.0\.1/) as string,
      topic: null,
    })
  })

  test('names the reason of each', async () => {
    const { entries } = (await get()).body

    expect(entries.map((entry) => entry['reason'])).toEqual([
      'schema_mismatch',
      'timestamp_in_future',
      'schema_mismatch',
      'malformed',
      'schema_mismatch',
    ])
  })

  test('comes page by page with the cursor, each entry once', async () => {
    const found: Entry[] = []
    let cursor = ''
    do {
      const { body } = await get(`?limit=2${cursor}`)
      expect(body.entries.length).toBeLessThanOrEqual(2)
      found.push(...body.entries)
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')

    expect(found).toEqual((await get()).body.entries)
  })

  test('has no cursor after a last page that is just full', async () => {
    expect((await get('?limit=5')).body.nextCursor).toBeNull()
  })

  test('of a stream without refused readings is empty', async () => {
    const { body } = await get('', await service.api.createStream())

    expect(body).toMatchObject({ entries: [], nextCursor: null })
  })

  test('is counted by the status of the stream', async () => {
    const status = await service.api.status(streamId)

    expect(status.counters.quarantined).toBe(5)
    expect(status['errorCount']).toBe(5)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=-1', 'cursor'],
    ['page=1', 'page'],
  ])('refuses %s with 400, naming it', async (query, path) => {
    const { status, body } = await get(`?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })

  test.each(['00000000-0000-4000-8000-000000000000', 'boiler-7'])(
    'of the stream %s is 404',
    async (id) => {
      expect((await get('', id)).status).toBe(404)
    },
  )
})
