import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const hourMs = 3_600_000
const temperature = { temperature: { type: 'number' } }

/** Readings that are so many hours old. */
async function push(streamId: string, hoursOld: readonly number[]): Promise<void> {
  const body = hoursOld.map((hours) => ({
    timestamp: new Date(Date.now() - hours * hourMs).toISOString(),
    temperature: hours,
  }))
  const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  expect(status).toBe(202)
  await service.api.settled(streamId, hoursOld.length)
}

/** Waits until so many readings of a stream have expired. */
async function expired(streamId: string, count: number): Promise<void> {
  await expect.poll(async () => (await service.api.status(streamId))['expired']).toBe(count)
}

async function temperatures(streamId: string): Promise<unknown[]> {
  return (await service.api.readAll(streamId)).map((reading) => reading['temperature'])
}

function change(streamId: string, retention: object | null) {
  const body = { processing: { retention } }
  return service.api.withToken<{ processing: object }>('PUT', `/streams/${streamId}`, body)
}

async function vaultOf(streamId: string): Promise<string> {
  const path = `/streams/${streamId}`
  return (await service.api.withToken<{ vaultId: string }>('GET', path)).body.vaultId
}

describe('the retention of a stream', () => {
  test('takes what is too old, counts it apart, and keeps the sum', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, [200, 100, 50, 26, 10, 1])

    expect((await change(streamId, { raw: '2d' })).status).toBe(200)
    await expired(streamId, 3)

    expect(await temperatures(streamId)).toEqual([26, 10, 1])
    const status = await service.api.status(streamId)
    expect(status).toMatchObject({
      deleted: 0,
      counters: { received: 6, stored: 6, pending: 0 },
      retention: { raw: '2d', aggregated: null },
    })
    const { keptFrom } = status['retention'] as { keptFrom: string }
    const hoursKept = (Date.now() - Date.parse(keptFrom)) / hourMs
    expect(hoursKept).toBeGreaterThanOrEqual(48)
    expect(hoursKept).toBeLessThanOrEqual(49.1)
  })

  test('holds from the first reading on when the stream was made with it', async () => {
    const processing = { retention: { raw: '1h', aggregated: '400d' } }
    const streamId = await service.api.createStream(temperature, { processing })
    expect(await service.api.status(streamId)).toMatchObject({
      expired: 0,
      retention: { raw: '1h', aggregated: '400d', keptFrom: null },
    })
  })

  test('that is taken away brings nothing back, and takes nothing more', async () => {
    const streamId = await service.api.createStream()
    await push(streamId, [100, 10])
    await change(streamId, { raw: '1d' })
    await expired(streamId, 1)

    const { status, body } = await change(streamId, null)
    expect([status, body.processing]).toEqual([200, {}])
    await push(streamId, [90, 80])
    // Another stream whose readings go shows that it was looked for what is too old.
    const other = await service.api.createStream()
    await push(other, [100])
    await change(other, { raw: '1d' })
    await expired(other, 1)

    expect(await temperatures(streamId)).toEqual([90, 80, 10])
  })

  test.each([
    ['of a word', { raw: 'long' }, 'processing.retention.raw'],
    ['of no time', { raw: '0d' }, 'processing.retention.raw'],
    ['of less than a minute', { raw: '59s' }, 'processing.retention.raw'],
    ['of more than a hundred years', { aggregated: '36501d' }, 'processing.retention.aggregated'],
    ['of a number', { raw: 30 }, 'processing.retention.raw'],
    ['of something unknown', { cooked: '1d' }, 'processing.retention.cooked'],
    ['that is no object', '30d', 'processing.retention'],
  ])('%s is refused', async (_, retention, path) => {
    const streamId = await service.api.createStream()
    const { status, body } = await service.api.withToken<{ details: unknown }>(
      'PUT',
      `/streams/${streamId}`,
      { processing: { retention } },
    )
    expect(status).toBe(400)
    expect(body.details).toEqual([expect.objectContaining({ path })])
  })
})

describe('the retention of a vault', () => {
  test('holds for its streams that say nothing themselves', async () => {
    const streams = await Promise.all([
      service.api.createStream(),
      service.api.createStream(temperature, { processing: { retention: { raw: 'forever' } } }),
      service.api.createStream(temperature, { processing: { retention: { aggregated: '1d' } } }),
      service.api.createStream(temperature, { processing: { retention: { raw: '100h' } } }),
    ])
    for (const streamId of streams) {
      await push(streamId, [200, 90, 10])
      const path = `/vaults/${await vaultOf(streamId)}/retention`
      expect(await service.api.withKey('PUT', path, { raw: '2d' })).toMatchObject({
        status: 200,
        body: { raw: '2d', aggregated: null },
      })
    }
    const [silent, forEver, other, longer] = streams
    await expired(silent, 2)
    await expired(other, 2)
    await expired(longer, 1)

    expect(await temperatures(silent)).toEqual([10])
    expect(await temperatures(longer)).toEqual([90, 10])
    expect(await temperatures(forEver)).toEqual([200, 90, 10])
    const shown = async (id: string) => (await service.api.status(id))['retention']
    expect(await shown(other)).toMatchObject({ raw: '2d', aggregated: '1d' })
    expect(await shown(forEver)).toMatchObject({ raw: null, keptFrom: null })
  })

  test('keeps what is not sent, and loses what is null', async () => {
    const path = `/vaults/${await service.api.createVault()}/retention`
    const put = async (body: object) => (await service.api.withToken('PUT', path, body)).body
    expect((await service.api.withKey('GET', path)).body).toEqual({ raw: null, aggregated: null })
    expect(await put({ raw: '30d', aggregated: '400d' })).toEqual({
      raw: '30d',
      aggregated: '400d',
    })
    expect(await put({ raw: null })).toEqual({ raw: null, aggregated: '400d' })
    expect(await put({})).toEqual({ raw: null, aggregated: '400d' })
  })

  test.each([{ raw: '30' }, { raw: '5s' }, { aggregated: 7 }, { both: '1d' }])(
    'of %j is refused',
    async (body) => {
      const path = `/vaults/${await service.api.createVault()}/retention`
      const answer = await service.api.withKey<{ error: string }>('PUT', path, body)
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    },
  )

  test('is nothing to others, also when the vault is public', async () => {
    const path = `/vaults/${await service.api.createVault()}/retention`
    const bob = await newPerson(service.api)
    expect((await bob.withKey('GET', path)).status).toBe(403)
    expect((await bob.withKey('PUT', path, { raw: '1d' })).status).toBe(403)
  })
})

/** The values of the windows, once all of them are kept. */
async function results(streamId: string): Promise<unknown[]> {
  let found: readonly Readonly<Record<string, unknown>>[] = []
  const read = async () => {
    const path = `/streams/${streamId}/data?aggregation=window`
    const { body } = await service.api.withToken<{ data: typeof found }>('GET', path)
    found = body.data
    return found.every(({ computedAt }) => computedAt !== null)
  }
  await expect.poll(read).toBe(true)
  return found.map((window) => window['temperature'])
}

describe('results of windows', () => {
  const processing = { frequency: '1h', aggregation: 'max' }

  test('go after their own time, and their readings stay', async () => {
    const streamId = await service.api.createStream(temperature, { processing })
    await push(streamId, [200, 100, 50, 10])
    expect(await results(streamId)).toEqual([200, 100, 50, 10])

    await change(streamId, { aggregated: '3d' })

    await expect.poll(() => results(streamId)).toEqual([50, 10])
    expect(await temperatures(streamId)).toEqual([200, 100, 50, 10])
  })

  test('outlive their readings, whatever comes late', async () => {
    const streamId = await service.api.createStream(temperature, { processing })
    await push(streamId, [200, 100, 10])
    expect(await results(streamId)).toEqual([200, 100, 10])

    await change(streamId, { raw: '2d' })
    await expired(streamId, 2)
    await push(streamId, [100.001])

    expect(await results(streamId)).toEqual([200, 100, 10])
  })
})

test('the log and the metrics tell how much has gone', async () => {
  const streamId = await service.api.createStream()
  await push(streamId, [100, 90])
  await change(streamId, { raw: '1d' })
  await expired(streamId, 2)

  const metric = (name: string) => metricOf(service.process, name)
  await expect.poll(() => metric('readings_expired_total')).toBeGreaterThanOrEqual(2)
  await expect.poll(() => metric('retention_passes_total')).toBeGreaterThanOrEqual(1)
  expect(await metric('retention_failures_total')).toBe(0)
  await expect
    .poll(() => service.process.output())
    .toMatch(/"readings":2,.*"data that was too old is removed"/)
})
