import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import type { Answer } from '../support/api-client.ts'
import { metricsOf } from '../support/metrics.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { allSealed, provenBy, rootNow, type SealsPage, sealsOf } from '../support/seals.ts'

const service = runningService({ STREAMVAULT_SEAL_GRACE: '100ms', STREAMVAULT_ANCHORING: 'on' })

/** A day that is over: so many seconds after 2026-01-31T10:00:00Z. */
function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, 0, second)).toISOString().replace('Z', '000Z')
}

async function newStream(processing: object = { seal: '15m' }): Promise<string> {
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

async function newSealed(): Promise<string> {
  const streamId = await newStream()
  await push(
    streamId,
    [0, 900, 1800].map((second) => ({ timestamp: at(second), temperature: 20 })),
  )
  await allSealed(service.api, streamId)
  return streamId
}

async function get<Body = SealsPage>(streamId: string, query: string): Promise<Answer<Body>> {
  return await service.api.withToken<Body>('GET', `/streams/${streamId}/seals?${query}`)
}

async function make(definition: object): Promise<Answer<ErrorBody>> {
  const vaultId = await service.api.createVault()
  const body = { name: 'sealed', vaultId, ...definition }
  return await service.api.withToken<ErrorBody>('POST', '/streams', body)
}

describe('a stretch of a stream with seals', () => {
  test('is sealed once it is over, and its proof leads to the ledger', async () => {
    const streamId = await newStream()
    await push(streamId, [
      { timestamp: at(0), temperature: 20, mode: 'eco' },
      { timestamp: at(899), temperature: 22, other: [1, null] },
      { timestamp: at(900), temperature: 30 },
    ])

    const seals = await allSealed(service.api, streamId)

    expect(seals).toMatchObject([
      { start: at(0), end: at(900), revision: 1, count: 2, previous: null },
      { start: at(900), end: at(1800), revision: 1, count: 1, previous: null },
    ])
    for (const seal of seals) {
      expect(await rootNow(service.api, streamId, seal)).toMatchObject({
        count: seal.count,
        root: seal.root,
      })
      expect(await provenBy(seal, streamId)).toMatchObject({ is: 'proven' })
    }
  })

  test('has a second revision that names the root before when a reading comes late', async () => {
    const streamId = await newStream()
    await push(streamId, [{ timestamp: at(1), temperature: 20 }])
    const [first] = await allSealed(service.api, streamId)
    await push(streamId, [{ timestamp: at(0), temperature: 19 }])

    const seals = await allSealed(service.api, streamId)

    expect(seals).toEqual([
      first,
      expect.objectContaining({ revision: 2, count: 2, previous: first?.root }) as unknown,
    ])
    expect(await rootNow(service.api, streamId, { start: at(0), end: at(900) })).toEqual({
      count: 2,
      root: seals[1]?.root,
    })
  })

  test('has no other revision for a reading that is stored already', async () => {
    const streamId = await newStream()
    const reading = { timestamp: at(1), temperature: 20 }
    await push(streamId, [reading])
    const before = await allSealed(service.api, streamId)
    await push(streamId, [reading])

    expect(await allSealed(service.api, streamId)).toEqual(before)
  })
})

test('a stream without seals has none', async () => {
  const streamId = await newStream({})
  await push(streamId, [{ timestamp: at(0), temperature: 20 }])

  expect(await sealsOf(service.api, streamId)).toMatchObject({ seals: [], waiting: [] })
})

describe('GET /streams/{streamId}/seals', () => {
  test('answers stretches that have a part in the range', async () => {
    const streamId = await newSealed()

    const { body } = await get(streamId, `start=${at(1000)}&end=${at(1801)}`)

    expect(body.seals.map(({ start }) => start)).toEqual([at(900), at(1800)])
    const { body: none } = await get(streamId, `start=${at(900)}&end=${at(900)}`)
    expect(none.seals).toEqual([])
  })

  test('answers page by page, each seal once', async () => {
    const streamId = await newSealed()
    const first = (await get(streamId, 'limit=2')).body
    const second = (await get(streamId, `limit=2&cursor=${first.nextCursor}`)).body

    const starts = [...first.seals, ...second.seals].map(({ start }) => start)
    expect(starts).toEqual([at(0), at(900), at(1800)])
    expect(second.nextCursor).toBeNull()
  })

  test.each(['cursor=abc', 'start=soon', 'limit=0', 'limit=101', 'order=desc'])(
    'refuses ?%s with 400',
    async (query) => {
      const { status, body } = await get<ErrorBody>(await newStream(), query)

      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_request' })
    },
  )

  test('is 404 for the stream of another user', async () => {
    const streamId = await newStream()
    const other = await newPerson(service.api)

    const { status } = await other.withToken('GET', `/streams/${streamId}/seals`)

    expect(status).toBe(404)
  })

  test('shows a stretch that is not over among those that wait', async () => {
    const streamId = await newStream({ seal: '24h' })
    await push(streamId, [{ timestamp: new Date().toISOString(), temperature: 20 }])

    const { seals, waiting } = await sealsOf(service.api, streamId)

    expect(seals).toEqual([])
    expect(waiting).toMatchObject([{ problem: null }])
  })
})

describe('processing.seal', () => {
  const schema = { temperature: { type: 'number' } }

  test.each(['15m', '900s', '37m', '1h', '24h', '1d', '86400s'])('may be %s', async (seal) => {
    const { status } = await make({ type: 'iot_sensor', schema, processing: { seal } })

    expect(status).toBe(201)
  })

  test.each(['14m', '899s', '25h', '2d', '0m', '1w', '', 900, true, null, {}])(
    'is refused with 400 as %j',
    async (seal) => {
      const { status, body } = await make({ type: 'iot_sensor', schema, processing: { seal } })

      expect(status).toBe(400)
      const message = 'must be a duration from 15m to 24h, such as 1h'
      expect(body.details).toEqual([{ path: 'processing.seal', message }])
    },
  )

  test('is refused with 422 of a stream of the type service', async () => {
    const { status, body } = await make({ type: 'service', processing: { seal: '1h' } })

    expect(status).toBe(422)
    const message = 'is not for streams of the type service'
    expect(body).toMatchObject({
      error: 'unsupported_definition',
      details: [{ path: 'processing.seal', message }],
    })
  })

  test('is refused with 400 of a fleet and of many streams, too', async () => {
    const vaultId = await service.api.createVault()
    const definition = { type: 'iot_sensor', schema, processing: { seal: '1m' } }
    const source = { topic: 'sealed/{device}' }
    const fleet = { name: 'sealed', vaultId, definition: { ...definition, source } }
    const many = { definition: { ...definition, vaultId }, streams: [{ name: 'one' }] }

    for (const [path, body] of [
      ['/fleets', fleet],
      ['/streams/bulk', many],
    ] as const) {
      const answer = await service.api.withToken<ErrorBody>('POST', path, body)
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body.details)).toContain('processing.seal')
    }
  })
})

test('the metrics count what is sealed, and what is sealed again', async () => {
  const streamId = await newStream()
  const before = await metricsOf(service.process)
  await push(streamId, [{ timestamp: at(0), temperature: 20 }])
  await allSealed(service.api, streamId)
  await push(streamId, [{ timestamp: at(1), temperature: 20 }])
  await allSealed(service.api, streamId)

  const after = await metricsOf(service.process)

  expect(after('seals_made_total') - before('seals_made_total')).toBe(1)
  expect(after('seals_revised_total') - before('seals_revised_total')).toBe(1)
  expect(after('seals_failed_total')).toBe(0)
})
