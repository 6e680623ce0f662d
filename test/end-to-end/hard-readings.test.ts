import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** Readings that are right, and hard to store: none of them may keep the others out. */
describe('what is hard to store', () => {
  const dataDir = newDataDir()
  let service: ServiceProcess
  let api: ApiClient

  beforeAll(async () => {
    service = await startServiceProcess(dataDir)
    api = new ApiClient(service.http)
  })

  afterAll(async () => {
    await service.end('SIGTERM')
    rmSync(dataDir, { recursive: true })
  })

  test('readings that are spread over fifty years are stored, and counted once', async () => {
    const streamId = await api.createStream({ value: { type: 'number' } })
    const months = Array.from({ length: 600 }, (_, month) => {
      const year = 1971 + Math.floor(month / 12)
      return `${year}-${String((month % 12) + 1).padStart(2, '0')}-05T00:00:00Z`
    })
    for (const round of [1, 2]) {
      const readings = months.map((timestamp, month) => ({ timestamp, value: month * 10 + round }))
      await api.withToken('POST', `/streams/${streamId}/data`, readings)
      await api.settled(streamId, round * 600)
    }

    const counters = await api.status(streamId).then((status) => status.counters)
    expect(counters).toMatchObject({ received: 1_200, stored: 1_200, duplicates: 0, pending: 0 })
    expect(await api.readAll(streamId)).toHaveLength(1_200)
    expect(await api.readAll(streamId, '&aggregation=hourly')).toHaveLength(600)
  })

  test('readings of nearly four megabytes are stored one after the other', async () => {
    const streamId = await api.createStream({ text: { type: 'string' } })
    const other = await api.createStream()
    const text = 'x'.repeat(4_000_000)
    for (let count = 0; count < 20; count++) {
      await api.withToken('POST', `/streams/${streamId}/data`, { text })
    }
    await api.withToken('POST', `/streams/${other}/data`, { temperature: 21.5 })

    expect(await api.settled(other, 1)).toMatchObject({ stored: 1 })
    expect(await api.settled(streamId, 20)).toMatchObject({ stored: 20 })
  })

  test('a declared field that carries the time is held to its type', async () => {
    const streamId = await api.createStream(
      { ts: { type: 'integer' }, value: { type: 'number' } },
      {
        source: { timestampField: 'ts', timestampFormat: 'epoch_ms' },
        processing: { validation: 'strict' },
      },
    )
    const path = `/streams/${streamId}/data`
    const wrong = { ts: '2026-01-31T10:00:00Z', value: 1 }
    expect((await api.withToken('POST', path, wrong)).status).toBe(422)
    expect((await api.withToken('POST', path, { ts: 1_769_853_600_000, value: 1 })).status).toBe(
      202,
    )

    expect(await api.settled(streamId, 2)).toMatchObject({ stored: 1, quarantined: 1 })
    const [point] = await api.readAll(streamId)
    expect(point).toMatchObject({ timestamp: '2026-01-31T10:00:00.000000Z', ts: 1_769_853_600_000 })
  })
})
