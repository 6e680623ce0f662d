import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer, DataPage } from '../support/api-client.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** 2026-01-31T10:00:00Z and so many seconds. */
function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, 0, second)).toISOString().replace('Z', '000Z')
}

const everyMinute = { frequency: '1m', aggregation: 'average' }

async function newStream(processing: object = everyMinute): Promise<string> {
  return await service.api.createStream(
    { temperature: { type: 'number' }, mode: { type: 'string' } },
    { processing },
  )
}

async function push(streamId: string, readings: readonly object[]): Promise<void> {
  const { received } = await service.api.settled(streamId)
  const path = `/streams/${streamId}/data`
  expect((await service.api.withToken('POST', path, readings)).status).toBe(202)
  await service.api.settled(streamId, received + readings.length)
}

function get<Body = DataPage>(streamId: string, query = ''): Promise<Answer<Body>> {
  return service.api.withToken<Body>('GET', `/streams/${streamId}/data?aggregation=window${query}`)
}

async function windows(streamId: string, query = ''): Promise<DataPage['data']> {
  const { status, body } = await get(streamId, query)
  expect(body).toMatchObject({ data: expect.anything() as unknown })
  expect(status).toBe(200)
  return body.data
}

/** Waits until all of them are kept. */
async function kept(streamId: string): Promise<DataPage['data']> {
  let all: DataPage['data'] = []
  await expect
    .poll(async () => {
      all = await windows(streamId)
      return all.every(({ computedAt }) => computedAt !== null)
    })
    .toBe(true)
  return all
}

describe('windows of a stream', () => {
  test('are there at once, and under the same revision once they are kept', async () => {
    const streamId = await newStream()
    await push(streamId, [
      { timestamp: at(0), temperature: 20, mode: 'eco' },
      { timestamp: at(59), temperature: 22, mode: 'boost' },
      { timestamp: at(60), temperature: 30 },
    ])

    const expected = [
      { timestamp: at(0), temperature: 21, mode: 'boost', count: 2, revision: 1 },
      { timestamp: at(60), temperature: 30, count: 1, revision: 1 },
    ]
    expect(await windows(streamId)).toMatchObject(expected)
    expect(await kept(streamId)).toMatchObject(expected)
  })

  test('are revised by what comes late, and by what is removed', async () => {
    const streamId = await newStream()
    await push(streamId, [
      { timestamp: at(0), temperature: 20 },
      { timestamp: at(60), temperature: 5 },
    ])
    await kept(streamId)
    await push(streamId, [{ timestamp: at(30), temperature: 40 }])
    expect(await windows(streamId)).toMatchObject([
      { temperature: 30, count: 2, revision: 2 },
      { temperature: 5, count: 1, revision: 1 },
    ])
    expect(await kept(streamId)).toMatchObject([{ temperature: 30, revision: 2 }, { revision: 1 }])

    const path = `/streams/${streamId}/data?start=${at(0)}&end=${at(60)}`
    expect((await service.api.withToken('DELETE', path)).status).toBe(204)
    expect(await windows(streamId)).toMatchObject([
      { count: 0, revision: 3 },
      { count: 1, revision: 1 },
    ])
    const [gone] = await kept(streamId)
    expect(gone).toEqual({
      timestamp: at(0),
      count: 0,
      revision: 3,
      computedAt: gone?.['computedAt'],
    })
  })

  test('come page by page, of the range in which they begin, with the fields that are asked for', async () => {
    const streamId = await newStream()
    const readings = Array.from({ length: 5 }, (_, minute) => ({
      timestamp: at(minute * 60 + 30),
      temperature: minute,
      mode: 'eco',
    }))
    await push(streamId, readings)
    const range = `&start=${at(30)}&end=${at(240)}&fields=temperature&limit=2`

    const first = await get(streamId, range)
    const shown = first.body.data.map(({ temperature, mode }) => [temperature, mode])
    expect(shown).toEqual([
      [1, undefined],
      [2, undefined],
    ])
    const second = await get(streamId, `${range}&cursor=${first.body.nextCursor}`)
    expect(second.body.data.map(({ temperature }) => temperature)).toEqual([3])
    expect(second.body.nextCursor).toBeNull()
  })

  test('come as lines of CSV', async () => {
    const streamId = await newStream({ frequency: '1h', aggregation: 'max' })
    await push(streamId, [{ timestamp: at(0), temperature: 20, mode: 'eco' }])
    await kept(streamId)
    const [window] = await windows(streamId)

    const answer = await fetch(
      `${service.process.http}/streams/${streamId}/data?aggregation=window`,
      {
        headers: { authorization: `Bearer ${await service.api.token()}`, accept: 'text/csv' },
      },
    )

    expect((await answer.text()).split('\r\n')).toEqual([
      'timestamp,mode,temperature,count,revision,computedAt',
      `${at(0)},eco,20,1,1,${String(window?.['computedAt'])}`,
      '',
    ])
  })

  test('stay as they were cut when the frequency changes, and go on in the new one', async () => {
    const streamId = await newStream()
    await push(streamId, [{ timestamp: at(0), temperature: 1 }])
    const put = await service.api.withToken('PUT', `/streams/${streamId}`, {
      processing: { frequency: '5m', aggregation: 'sum' },
    })
    expect(put.status).toBe(200)
    await push(streamId, [
      { timestamp: at(10), temperature: 3 },
      { timestamp: at(300), temperature: 5 },
      { timestamp: at(599), temperature: 7 },
    ])

    expect(await windows(streamId)).toMatchObject([
      { timestamp: at(0), temperature: 2, count: 2 },
      { timestamp: at(300), temperature: 12, count: 2 },
    ])
  })

  test('of many streams come by stream', async () => {
    const ids = [await newStream(), await newStream()].sort()
    for (const id of ids) await push(id, [{ timestamp: at(0), temperature: ids.indexOf(id) }])
    const { status, body } = await service.api.withToken<DataPage>('POST', '/query', {
      streamIds: ids,
      fields: ['temperature'],
      aggregation: 'window',
    })

    expect(status).toBe(200)
    expect(body.data).toMatchObject(
      ids.map((streamId, temperature) => ({ streamId, temperature, count: 1, revision: 1 })),
    )
  })

  test('that a stream has none of are refused', async () => {
    const streamId = await newStream({ frequency: '1m' })
    const { status, body } = await get<ErrorBody>(streamId)
    expect(body).toMatchObject({ error: 'unsupported_query', details: [{ path: 'aggregation' }] })
    expect(status).toBe(422)
  })

  test.each([
    ['fill=null', 'fill'],
    ['fields=temperature:max', 'fields'],
    ['fields=pressure', 'fields'],
    ['cursor=nonsense', 'cursor'],
  ])('are not asked for with %s', async (query, path) => {
    const { status, body } = await get<ErrorBody>(await newStream(), `&${query}`)
    expect(body).toMatchObject({ error: 'invalid_request', details: [{ path }] })
    expect(status).toBe(400)
  })
})
