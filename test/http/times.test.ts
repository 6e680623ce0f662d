import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

/** When readings were, by what the definition of their stream says of it. */

const service = runningService()

interface Held {
  readonly reason: string
  readonly message: string
}

async function pushed(streamId: string, ...readings: readonly object[]): Promise<void> {
  for (const one of readings) {
    await service.api.withToken('POST', `/streams/${streamId}/data`, one)
  }
}

async function held(streamId: string): Promise<readonly Held[]> {
  const path = `/streams/${streamId}/quarantine`
  const { body } = await service.api.withToken<{ entries: Held[] }>('GET', path)
  return body.entries.map(({ reason, message }) => ({ reason, message }))
}

const schema = { value: { type: 'number' } }

describe('a stream whose times are numbers in another unit than it says', () => {
  test('keeps them in the quarantine, and has them once it says the right one', async () => {
    const source = { timestampField: 'ts', timestampFormat: 'epoch_ms' }
    const streamId = await service.api.createStream(schema, { source })
    await pushed(streamId, { value: 1, ts: 1_769_853_598.5 }, { value: 2, ts: '1769853599' })

    const message =
      'ts falls into January 1970 as epoch_ms; epoch_s would be 2026-01-31T09:59:58.500000Z'
    expect((await held(streamId)).map(({ reason }) => reason)).toEqual([
      'timestamp_implausible',
      'timestamp_implausible',
    ])
    expect(await held(streamId)).toContainEqual({ reason: 'timestamp_implausible', message })

    const change = { source: { timestampFormat: 'epoch_s' } }
    expect(await service.api.withToken('PUT', `/streams/${streamId}`, change)).toMatchObject({
      status: 200,
    })
    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, quarantined: 0 })
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2026-01-31T09:59:58.500000Z', value: 1 },
      { timestamp: '2026-01-31T09:59:59.000000Z', value: 2 },
    ])
  })
})

describe('a stream that names where its times are', () => {
  test('refuses readings of a batch that have none, and stores the others', async () => {
    const source = { timestampField: 'at' }
    const streamId = await service.api.createStream(schema, { source })
    await pushed(streamId, [
      { value: 1, at: '2026-01-31T10:00:00Z' },
      { value: 2 },
      { value: 3, at: '2026-01-31T10:00:02Z' },
    ])
    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
    expect(await held(streamId)).toEqual([
      {
        reason: 'timestamp_missing',
        message: 'at is missing: the stream takes no reading without its time',
      },
    ])
  })

  test('takes them with the time of their receipt where it says so', async () => {
    const source = { timestampField: 'at', timestampOptional: true }
    const streamId = await service.api.createStream(schema, { source })
    await pushed(streamId, { value: 2 })
    expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1, quarantined: 0 })
  })

  test('reads them as the clocks of its zone show them', async () => {
    const format = { timestampFormat: 'dd.MM.yyyy HH:mm[:ss]', timezone: 'Europe/Berlin' }
    const source = { timestampField: 'at', ...format }
    const streamId = await service.api.createStream(schema, { source })
    await pushed(
      streamId,
      { value: 1, at: '31.01.2026 10:00' },
      { value: 2, at: '26.10.2025 02:30:00' },
    )
    await service.api.settled(streamId, 2)
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2025-10-26T00:30:00.000000Z', value: 2 },
      { timestamp: '2026-01-31T09:00:00.000000Z', value: 1 },
    ])
  })

  test('keeps all of that in the definition that it shows', async () => {
    const source = {
      timestampField: 'data.at',
      timestampFormat: 'local',
      timezone: 'Europe/Berlin',
      timestampOptional: true,
      timestampMin: '2020-01-01T00:00:00Z',
      timestampOffset: { path: 'data.ms', unit: 'ms' },
    }
    const streamId = await service.api.createStream(schema, { source })
    const { body } = await service.api.withToken<object>('GET', `/streams/${streamId}`)
    expect(body).toMatchObject({ source })
    expect(body).not.toHaveProperty('rules')
    const versions = await service.api.withToken<object>('GET', `/streams/${streamId}/versions`)
    expect(JSON.stringify(versions.body)).not.toContain('"rules"')
  })
})
