import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

/** Ranges as people ask for them: from now on backwards, in numbers, and the newest first. */

const service = runningService()
const minuteMs = 60_000

interface Page extends DataPage {
  readonly start: string
  readonly end: string | null
}

/** Readings of each of the last ten minutes. */
let streamId: string
let times: readonly string[]

beforeAll(async () => {
  streamId = await service.api.createStream({ n: { type: 'integer' } })
  const nowMs = Date.now()
  const readings = Array.from({ length: 10 }, (_, index) => ({
    timestamp: new Date(nowMs - (10 - index) * minuteMs).toISOString(),
    n: index,
  }))
  times = readings.map(({ timestamp }) => timestamp)
  await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  await service.api.settled(streamId, readings.length)
})

function get<Body = Page>(query: Readonly<Record<string, string>>): Promise<Answer<Body>> {
  const text = new URLSearchParams(query).toString()
  return service.api.withToken<Body>('GET', `/streams/${streamId}/data?${text}`)
}

async function numbers(query: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  return (await get(query)).body.data.map(({ n }) => n)
}

async function pages(query: Readonly<Record<string, string>>): Promise<readonly Page[]> {
  const found: Page[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: Answer<Page> = await get({ ...query, ...(cursor !== '' && { cursor }) })
    found.push(body)
    cursor = body.nextCursor
  }
  return found
}

/** How many readings there are from a time on, by `POST /query`. */
async function counted(start: string | number): Promise<number> {
  const body = { streamIds: [streamId], fields: ['n:count'], aggregation: '1d', start }
  const answer = await service.api.withToken<Page>('POST', '/query', body)
  return answer.body.data.reduce((sum, point) => sum + Number(point['n:count']), 0)
}

describe('a range', () => {
  test('counts back from now', async () => {
    expect(await numbers({ start: '-1h' })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(await numbers({ start: '-210s', end: 'now' })).toEqual([7, 8, 9])
    expect(await numbers({ end: 'now-1d' })).toEqual([])
  })

  test.each([
    ['seconds', (ms: number) => String(ms / 1_000)],
    ['milliseconds', String],
    ['microseconds', (ms: number) => `${ms}000`],
  ])('is given in %s', async (_, spelled) => {
    const start = spelled(Date.parse(times[4] as string))
    const end = spelled(Date.parse(times[6] as string))

    expect(await numbers({ start, end })).toEqual([4, 5])
  })

  test('is answered by its instants', async () => {
    const { body } = await get({ start: '-1h', end: 'now' })

    const length = Date.parse(String(body.end)) - Date.parse(body.start)
    expect(length).toBe(60 * minuteMs)
  })

  test('stays what it was on the first of its pages', async () => {
    const found = await pages({ start: '-1h', end: 'now', limit: '3' })

    expect(found.map(({ data }) => data.length)).toEqual([3, 3, 3, 1])
    expect(new Set(found.map(({ start, end }) => `${start} ${end}`)).size).toBe(1)
  })

  test.each([
    ['another one', { start: '-2h', end: 'now' }, 'start must be -1h'],
    ['an instant', { start: '2026-01-31T10:00:00Z', end: 'now' }, 'start must be -1h'],
    ['one end less', { start: '-1h' }, 'end must be now'],
  ])('is not %s on a later page', async (_, changed, message) => {
    const { body: first } = await get({ start: '-1h', end: 'now', limit: '3' })
    const cursor = String(first.nextCursor)

    const { status, body } = await get<ErrorBody>({ ...changed, cursor })

    expect(status).toBe(400)
    expect(body).toMatchObject({
      message: expect.stringContaining(message) as string,
      remedy: expect.stringContaining('the same start and end with each cursor') as string,
    })
  })

  test('that began with instants does not become a relative one', async () => {
    const { body: first } = await get({ start: times[0] as string, limit: '3' })

    const { status } = await get({ start: '-1h', cursor: String(first.nextCursor) })

    expect(status).toBe(400)
  })

  test.each(['yesterday', '-24', '2026-01-31'])(
    '%s is refused, naming the forms',
    async (start) => {
      const { status, body } = await get<ErrorBody>({ start })

      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_request', details: [{ path: 'start' }] })
      expect(body.remedy).toContain('as -24h')
    },
  )

  test('with a limit that is too large is refused, saying how to page', async () => {
    const { body } = await get<ErrorBody>({ limit: '10001' })

    expect(body.remedy).toMatch(/^Set limit to 10000 or less, .*nextCursor/)
  })

  test('is taken by POST /query, as a number too', async () => {
    expect(await counted('-1d')).toBe(10)
    expect(await counted(Date.parse(times[8] as string))).toBe(2)
    expect(await counted(Date.parse(times[8] as string) / 1_000)).toBe(2)
  })

  test('is taken where alerts, refused readings and removals are asked for', async () => {
    const own = `/streams/${streamId}`

    for (const path of [`${own}/alerts`, `${own}/quarantine`, '/quarantine']) {
      const answer = await service.api.withToken('GET', `${path}?start=-24h&end=now`)
      expect([path, answer.status]).toEqual([path, 200])
    }
    const exported = { streamIds: [streamId], start: '-1h', end: 'now', format: 'csv' }
    expect((await service.api.withToken('POST', '/exports', exported)).status).toBe(202)
    const backtest = { start: '-1h', end: 'now' }
    const tried = await service.api.withToken('POST', `${own}/alerts/backtest`, backtest)
    expect(tried.status).toBe(200)
    const removed = await service.api.withToken('DELETE', `${own}/data?start=-30d&end=-20d`)
    expect(removed.status).toBe(204)
  })
})

describe('the newest first', () => {
  test('comes page by page', async () => {
    const found = await pages({ order: 'desc', limit: '4' })

    expect(found.map(({ data }) => data.map(({ n }) => n))).toEqual([
      [9, 8, 7, 6],
      [5, 4, 3, 2],
      [1, 0],
    ])
  })

  test.each(['none', 'null'])('comes aggregated, with fill %s', async (fill) => {
    const range = { start: times[0] as string, end: times[9] as string }
    const query = { ...range, aggregation: '1m', fields: 'n:max', fill, limit: '3' }
    const data = async (order: string) =>
      (await pages({ ...query, order })).flatMap((page) => page.data)

    const ascending = await data('asc')

    expect(ascending.length).toBeGreaterThan(8)
    expect((await data('desc')).toReversed()).toEqual(ascending)
  })

  test.each(['text/csv', 'application/x-ndjson'])('comes as %s', async (accept) => {
    const path = `/streams/${streamId}/data?order=desc&fields=n`
    const token = await service.api.token()
    const headers = { authorization: `Bearer ${token}`, accept }

    const text = await (await fetch(service.api.base + path, { headers })).text()

    const lines = text.split(/\r?\n/).filter((line) => line.includes('Z'))
    expect(lines[0]).toContain(new Date(times[9] as string).toISOString().slice(0, -1))
    expect(lines).toHaveLength(10)
  })

  test('comes of many streams', async () => {
    const body = { streamIds: [streamId], fields: ['n'], aggregation: '1m', order: 'desc' }
    const { data } = (await service.api.withToken<Page>('POST', '/query', body)).body

    const found = data.map(({ timestamp }) => String(timestamp))
    expect(found).toEqual(found.toSorted().toReversed())
    expect(found.length).toBeGreaterThan(8)
  })

  test('has cursors that are for no other order', async () => {
    const { nextCursor } = (await get({ order: 'desc', limit: '1' })).body
    const ascending = (await get({ limit: '1' })).body.nextCursor

    for (const query of [
      { cursor: String(nextCursor) },
      { cursor: String(ascending), order: 'desc' },
      { cursor: `${ascending}.WyJkZXNjIl0`, order: 'desc' },
    ]) {
      const { status, body } = await get<ErrorBody>(query)
      expect(status).toBe(400)
      expect(body.details).toMatchObject([{ path: 'cursor' }])
    }
  })
})
