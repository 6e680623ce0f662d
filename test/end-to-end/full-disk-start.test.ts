import { describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { SentReadings } from '../support/sent-readings.ts'

/** Parts of the paths of files that cannot be written to. */
const wholeFolder = 'streamvault-test-'
const logs = '.db-wal'

/** Kills a service whose disk gets full under readings. */
async function killedOnFullDisk(service: FaultyService, part: string): Promise<SentReadings> {
  const readings = new SentReadings(await service.api.createStream())
  for (let count = 0; count < 50; count++) await readings.push(service.api)
  await service.api.settled(readings.streamId, 50)
  const late = Array.from({ length: 20 }, () => readings.push(service.api))
  service.faults.begin('enospc', part)
  await Promise.all(late)
  await service.kill()
  return readings
}

async function goesOn(service: FaultyService, readings: SentReadings): Promise<void> {
  await service.until('it is ready', async () => (await service.readiness()).status === 200)
  await readings.pushAgain(service.api)
  const counters = await service.api.settled(readings.streamId, readings.sent)
  expect(counters.stored).toBe(readings.sent)
  expect(await readings.faultsOf(service.api)).toEqual([])
}

describe('a service that was killed on a full disk', () => {
  test('starts, reads, refuses readings, and takes them again when there is room', async () => {
    await using service = await FaultyService.start()
    const readings = await killedOnFullDisk(service, logs)

    await service.restartAsItIs()

    expect((await service.api.readAll(readings.streamId)).length).toBeGreaterThanOrEqual(50)
    const { status, body } = await readings.push(service.api)
    expect([status, body.error]).toEqual([503, 'journal_full'])
    expect((await service.readiness()).failing['journal']).toContain('no space left')
    service.faults.end()
    await goesOn(service, readings)
  })

  test('answers that it waits where not even its files can be opened, and starts then', async () => {
    const port = await freePort()
    await using service = await FaultyService.start({ STREAMVAULT_HTTP_PORT: String(port) })
    const readings = await killedOnFullDisk(service, wholeFolder)

    const restarted = service.restartAsItIs()
    const waiting = new ApiClient(`http://127.0.0.1:${port}`)
    await service.until('it answers', () =>
      waiting.request('GET', '/health/live').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )

    const ready = await waiting.request('GET', '/health/ready')
    const disk = expect.stringContaining('no space is left')
    expect(ready).toMatchObject({ status: 503, body: { failing: { disk } } })
    const { status, headers, body } = await waiting.request('POST', '/streams', {})
    expect([status, body]).toMatchObject([503, { error: 'disk_low', retryAfter: 5 }])
    expect(headers.get('retry-after')).toBe('5')
    service.faults.end()
    await restarted
    await goesOn(service, readings)
  })
})
