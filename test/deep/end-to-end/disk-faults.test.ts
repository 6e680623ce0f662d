import { describe, expect, test } from 'vitest'
import type { DataPage } from '../../support/api-client.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { SentReadings } from '../../support/sent-readings.ts'

const faults = [
  { fault: 'eio', what: 'cannot sync', code: 'journal_unavailable', problem: 'disk failed' },
  { fault: 'enospc', what: 'has no space', code: 'journal_full', problem: 'no space left' },
] as const

describe.each(faults)('on a disk that $what for the journal', ({ fault, code, problem }) => {
  test('nothing is acknowledged, and nothing acknowledged is lost', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    const client = await service.mqtt()
    for (let count = 0; count < 50; count++) await readings.publish(client)
    const refusals = readings.pushUntilRefused(service.api)
    await service.until('some are accepted', async () => readings.acknowledged >= 150)

    service.faults.begin(fault, 'journal.db')

    for (const { status, body } of await refusals) {
      expect([status, body.error]).toEqual([503, code])
    }
    const acknowledged = readings.acknowledged
    const published = await service.metric('mqtt_published_total')
    const closed = new Promise<void>((resolve) => client.once('close', resolve))
    const publishing = readings.publish(client).then(
      () => 'acknowledged',
      () => 'connection closed',
    )
    if (fault === 'eio') await closed
    else {
      await service.until(
        'the message is taken',
        async () => (await service.metric('mqtt_published_total')) > published,
      )
    }
    for (let count = 0; count < 5; count++) {
      const { status, headers, body } = await readings.push(service.api)
      expect([status, body.error]).toEqual([503, code])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(readings.acknowledged).toBe(acknowledged)
    expect(await service.readiness()).toEqual({
      status: 503,
      failing: { journal: expect.stringContaining(problem) },
    })

    await service.kill()
    client.end(true)
    expect(await publishing).toBe('connection closed')
    await service.restart()

    const before = await service.api.settled(readings.streamId, acknowledged)
    expect(before).toMatchObject({ duplicates: 0, quarantined: 0, discarded: 0 })
    expect(before.received).toBe(before.stored)
    expect(await readings.faultsOf(service.api)).toEqual([])

    await readings.pushAgain(service.api)
    expect((await readings.push(service.api)).status).toBe(202)
    await readings.publish(await service.mqtt())
    const after = await service.api.settled(readings.streamId, readings.sent)
    expect(after.stored).toBe(readings.sent)
    expect(after.received).toBe(after.stored + after.duplicates)
    expect(await readings.faultsOf(service.api)).toEqual([])
    expect(await service.readiness()).toEqual({ status: 200, failing: {} })
  })
})

describe('a failed sync of the journal', () => {
  test('is not forgiven before a restart, even if the next one would succeed', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    await readings.push(service.api)
    service.faults.begin('eio', 'journal.db')
    await readings.pushUntilRefused(service.api)

    service.faults.end()

    const { status, body } = await readings.push(service.api)
    expect([status, body.error]).toEqual([503, 'journal_unavailable'])
    await expect(service.mqtt()).rejects.toThrow('Server unavailable')
    expect((await service.readiness()).failing).toHaveProperty('journal')
  })
})

describe('once the journal has space again', () => {
  test('everything goes on by itself, and nothing is lost or doubled', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    const client = await service.mqtt()
    const pushing = readings.pushUntilRefused(service.api)
    const publishing: Promise<void>[] = []
    await service.until('some are accepted', async () => {
      publishing.push(readings.publish(client))
      return readings.acknowledged >= 100
    })
    service.faults.begin('enospc', 'journal.db')
    await pushing
    publishing.push(readings.publish(client), readings.publish(client))
    expect((await service.readiness()).status).toBe(503)

    service.faults.end()

    // The client's messages were waiting in the broker: it needs to do nothing.
    await Promise.all(publishing)
    await service.until('it is ready', async () => (await service.readiness()).status === 200)
    await readings.pushAgain(service.api)
    const counters = await service.api.settled(readings.streamId, readings.sent)
    expect(counters).toMatchObject({ received: readings.sent, stored: readings.sent })
    expect(await readings.faultsOf(service.api)).toEqual([])
  })

  test('the service is ready, although nobody sends anything', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    await readings.push(service.api)
    await service.api.settled(readings.streamId, readings.sent)
    service.faults.begin('enospc', 'journal.db')
    expect((await readings.push(service.api)).status).toBe(503)
    expect((await service.readiness()).status).toBe(503)

    service.faults.end()

    await service.until('it is ready', async () => (await service.readiness()).status === 200)
  })
})

describe('as long as the journal has no space', () => {
  test('the service is not ready, although its consumers go on', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    await readings.push(service.api)
    service.faults.begin('enospc', 'journal.db')
    expect((await readings.push(service.api)).status).toBe(503)

    // Three times as long as it takes until the journal is trimmed to its consumers.
    const untilMs = performance.now() + 3_000
    const seen = new Set<number>()
    while (performance.now() < untilMs) seen.add((await service.readiness()).status)

    expect([...seen]).toEqual([503])
    expect(await service.metric('shipper_lag')).toBe(0)
  })
})

test('what the journal has refused does not count as accepted', async () => {
  await using service = await FaultyService.start()
  const readings = new SentReadings(await service.api.createStream())
  await readings.push(service.api)
  service.faults.begin('enospc', 'journal.db')
  for (let count = 0; count < 3; count++) {
    expect((await readings.push(service.api)).status).toBe(503)
  }

  expect(await service.metric('readings_accepted_total')).toBe(1)
})

const consumers = [
  { part: 'store', file: 'time-series.duckdb', fault: 'enospc', problem: 'No space left' },
  { part: 'store', file: 'time-series.duckdb', fault: 'eio', problem: 'fsync failed' },
  { part: 'state', file: 'state.db', fault: 'enospc', problem: 'database or disk is full' },
  { part: 'state', file: 'state.db', fault: 'eio', problem: 'disk I/O error' },
] as const

describe.each(consumers)('$fault of the $part', ({ part, file, fault, problem }) => {
  test('delays what was acknowledged, and heals without a restart', async () => {
    await using service = await FaultyService.start()
    const readings = await readingsUnderFault(service, { fault, file })
    service.faults.end()

    const counters = await service.api.settled(readings.streamId, readings.sent)
    expect(counters).toMatchObject({ received: 40, stored: 40, duplicates: 0 })
    expect(await readings.faultsOf(service.api)).toEqual([])
    await service.until('it is ready', async () => (await service.readiness()).status === 200)
  })

  test('is named by the readiness, without a path, and its cause by the log', async () => {
    await using service = await FaultyService.start()
    await readingsUnderFault(service, { fault, file })

    const { failing } = await service.readiness()

    expect(Object.keys(failing)).toEqual([part])
    expect(failing[part]).not.toContain(service.dataDir)
    await expect.poll(() => service.log()).toContain(problem)
  })
})

/** 20 readings that are stored, 20 more that are acknowledged, and a service that is not ready. */
async function readingsUnderFault(
  service: FaultyService,
  { fault, file }: Pick<(typeof consumers)[number], 'fault' | 'file'>,
): Promise<SentReadings> {
  const readings = new SentReadings(await service.api.createStream())
  for (let count = 0; count < 20; count++) await readings.push(service.api)
  await service.api.settled(readings.streamId, 20)
  service.faults.begin(fault, file)
  for (let count = 0; count < 20; count++) {
    expect((await readings.push(service.api)).status).toBe(202)
  }
  await service.until('it is not ready', async () => (await service.readiness()).status === 503)
  return readings
}

test('a failing store refuses who reads, at worst, and goes on', async () => {
  await using service = await FaultyService.start()
  const readings = new SentReadings(await service.api.createStream())
  const path = `/streams/${readings.streamId}/data`
  for (let count = 0; count < 1_000; count++) await readings.push(service.api)
  await service.api.settled(readings.streamId, 1_000)

  const stop = new AbortController()
  const reading = Array.from({ length: 8 }, async () => {
    const statuses = new Set<number>()
    while (!stop.signal.aborted) {
      const answer = await service.api.withToken<DataPage>('GET', `${path}?limit=2000`)
      if (answer.status === 200) expect(answer.body.data.length).toBeGreaterThanOrEqual(1_000)
      statuses.add(answer.status)
    }
    return statuses
  })
  for (let fault = 0; fault < 3; fault++) {
    service.faults.begin('enospc', 'time-series.duckdb')
    await readings.push(service.api)
    await service.until('it fails', async () => (await service.readiness()).status === 503)
    service.faults.end()
    await service.until('it goes on', async () => (await service.readiness()).status === 200)
  }
  stop.abort()

  const statuses = new Set((await Promise.all(reading)).flatMap((seen) => [...seen]))
  expect([200, 503]).toEqual(expect.arrayContaining([...statuses]))
  await service.api.settled(readings.streamId, readings.sent)
  expect(await readings.faultsOf(service.api)).toEqual([])
})
