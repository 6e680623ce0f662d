import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { metricsOf } from '../support/metrics.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Entry {
  readonly id: number
  readonly reason: string
  readonly payload: string
  readonly receivedAt: string
}

interface Page {
  readonly entries: readonly Entry[]
  readonly nextCursor: string | null
}

let streamId: string

function ask<Body>(method: string, path = '', id = streamId): Promise<Answer<Body>> {
  return service.api.withToken<Body>(method, `/streams/${id}/quarantine${path}`)
}

async function held(query = ''): Promise<readonly Entry[]> {
  return (await ask<Page>('GET', query)).body.entries
}

async function newStream(...readings: readonly object[]): Promise<string> {
  const id = await service.api.createStream()
  for (const one of readings) await service.api.withToken('POST', `/streams/${id}/data`, one)
  return id
}

const bad = [{ temperature: 'hot' }, [7], { timestamp: 'never' }, { temperature: true }]

describe('the list of refused readings', () => {
  beforeAll(async () => {
    streamId = await newStream(...bad)
  })

  test('shows a reading as soon as it was refused', async () => {
    const id = await newStream({ temperature: 'hot' })

    expect((await ask<Page>('GET', '', id)).body.entries).toHaveLength(1)
  })

  test.each([
    ['malformed', 1],
    ['schema_mismatch', 2],
    ['malformed,timestamp_invalid', 2],
    ['unheard_of', 0],
  ])('with reason=%s has only those', async (reason, count) => {
    const found = await held(`?reason=${reason}`)

    expect(found).toHaveLength(count)
    expect(found.every((entry) => reason.split(',').includes(entry.reason))).toBe(true)
  })

  test('goes on within a filter', async () => {
    const first = (await ask<Page>('GET', '?reason=schema_mismatch&limit=1')).body
    const second = await held(`?reason=schema_mismatch&limit=1&cursor=${first.nextCursor}`)

    expect([...first.entries, ...second].map(({ payload }) => payload)).toEqual([
      JSON.stringify(bad[0]),
      JSON.stringify(bad[3]),
    ])
  })

  test('with start and end has what was received from start on, and before end', async () => {
    const all = await held()
    const [, second, third] = all

    const found = await held(`?start=${second?.receivedAt}&end=${third?.receivedAt}`)
    expect(found).toEqual([second])
    expect(await held(`?start=${third?.receivedAt}`)).toEqual(all.slice(2))
  })

  test.each([
    ['start=never', 'start'],
    ['end=2026-01-01', 'end'],
    ['start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z', 'end'],
    ['reason=malformed&reason=schema_mismatch', 'reason'],
  ])('refuses %s with 400, naming it', async (query, path) => {
    const { status, body } = await ask('GET', `?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
  })

  test('ends a page at 4 MiB of payload, and goes on behind it', async () => {
    const large = Array.from({ length: 5 }, (_, index) => ({
      temperature: String(index).repeat(1_500_000),
    }))
    const id = await newStream(...large)
    const sizes: number[] = []
    const payloads: string[] = []
    for (let cursor: string | null = '?'; cursor !== null; ) {
      const { body }: Answer<Page> = await ask<Page>('GET', cursor, id)
      sizes.push(body.entries.length)
      payloads.push(...body.entries.map(({ payload }) => payload))
      cursor = body.nextCursor === null ? null : `?cursor=${body.nextCursor}`
    }

    expect(sizes).toEqual([2, 2, 1])
    expect(payloads).toEqual(large.map((one) => JSON.stringify(one)))
  })

  test('has each entry under its id', async () => {
    for (const entry of await held()) {
      expect((await ask('GET', `/${entry.id}`)).body).toEqual(entry)
    }
  })

  test('is summed up by reason', async () => {
    expect((await ask('GET', '/summary')).body).toEqual({
      streamId,
      entries: 4,
      reasons: [
        { reason: 'schema_mismatch', entries: 2 },
        { reason: 'malformed', entries: 1 },
        { reason: 'timestamp_invalid', entries: 1 },
      ],
    })
  })

  test('of a stream without refused readings is summed up as empty', async () => {
    const id = await newStream()

    const { body } = await ask('GET', '/summary', id)
    expect(body).toEqual({ streamId: id, entries: 0, reasons: [] })
  })
})

describe('an entry that is not there', () => {
  beforeAll(async () => {
    streamId = await newStream({ temperature: 1 })
  })

  test.each([
    '0',
    '999999999999',
    '9'.repeat(30),
    'x',
    '-1',
    '00000000-0000-4000-8000-000000000000',
  ])('%s is 404', async (id) => {
    expect((await ask('GET', `/${id}`)).status).toBe(404)
    expect((await ask('DELETE', `/${id}`)).status).toBe(404)
  })

  test('because it is in another stream is 404', async () => {
    const other = await newStream({ temperature: 'hot' })
    const [entry] = (await ask<Page>('GET', '', other)).body.entries

    expect((await ask('GET', `/${entry?.id}`)).status).toBe(404)
    expect((await ask('DELETE', `/${entry?.id}`)).status).toBe(404)
  })
})

async function expectCounters(quarantined: number, discarded: number): Promise<void> {
  const counters = await service.api.settled(streamId, 5)
  expect(counters).toMatchObject({ received: 5, stored: 1, quarantined, discarded })
}

describe('deleting refused readings', () => {
  beforeEach(async () => {
    streamId = await newStream(...bad, { temperature: 1 })
  })

  test('takes all of them, says how many, and counts them as discarded', async () => {
    const { status, headers } = await ask('DELETE')

    expect(status).toBe(204)
    expect(headers.get('x-deleted-count')).toBe('4')
    expect(await held()).toEqual([])
    await expectCounters(0, 4)
    expect((await service.api.status(streamId))['errorCount']).toBe(4)
  })

  test('takes those with a reason', async () => {
    expect((await ask('DELETE', '?reason=schema_mismatch')).headers.get('x-deleted-count')).toBe(
      '2',
    )
    expect((await held()).map(({ reason }) => reason)).toEqual(['malformed', 'timestamp_invalid'])
    await expectCounters(2, 2)
  })

  test('takes those with an id, and each once', async () => {
    const [first, second, ...rest] = await held()
    const query = `?ids=${first?.id},${second?.id},${first?.id}`

    expect((await ask('DELETE', query)).headers.get('x-deleted-count')).toBe('2')
    expect((await ask('DELETE', query)).headers.get('x-deleted-count')).toBe('0')
    expect(await held()).toEqual(rest)
    await expectCounters(2, 2)
  })

  test('takes one by its path', async () => {
    const [first, ...rest] = await held()

    expect((await ask('DELETE', `/${first?.id}`)).status).toBe(204)
    expect((await ask('DELETE', `/${first?.id}`)).status).toBe(404)
    expect(await held()).toEqual(rest)
    await expectCounters(3, 1)
  })

  test.each([
    ['ids=', 'ids'],
    ['ids=x', 'ids'],
    ['id=1', 'id'],
    ['limit=1', 'limit'],
  ])('refuses %s with 400, naming it, and deletes nothing', async (query, path) => {
    const { status, body } = await ask('DELETE', `?${query}`)

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
    expect(await held()).toHaveLength(4)
  })

  test('shows in the metrics', async () => {
    await ask('DELETE')
    const metric = await metricsOf(service.process)

    expect(metric('readings_discarded')).toBeGreaterThanOrEqual(4)
    expect(metric('reviews_total')).toBeGreaterThanOrEqual(1)
    expect(metric('quarantine_entries')).toBeGreaterThanOrEqual(0)
  })
})
