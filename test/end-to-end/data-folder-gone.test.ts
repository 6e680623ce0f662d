import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FaultyService } from '../support/faulty-service.ts'
import { SentReadings } from '../support/sent-readings.ts'

const gone = 'was deleted, moved or replaced'

/** Files that a start would not find, and what readiness calls the first of them. */
const losses = [
  { what: 'journal.db', part: 'journal.db' },
  { what: 'journal.db-wal', part: 'journal.db-wal' },
  { what: 'state.db', part: 'state.db' },
  { what: 'state.db-wal', part: 'state.db-wal' },
  { what: 'time-series.duckdb', part: 'time-series.duckdb' },
  { what: 'mqtt-sessions.db', part: 'mqtt-sessions.db' },
  { what: 'lock.db', part: 'lock.db' },
  { what: '', part: 'journal.db' },
] as const

describe.each(losses)('with data/$what deleted under a running service', ({ what, part }) => {
  test('nothing is acknowledged any more, readiness names it, and readings wait', async () => {
    await using service = await FaultyService.start()
    const readings = new SentReadings(await service.api.createStream())
    const client = await service.mqtt()
    await readings.publish(client)
    const refusals = readings.pushUntilRefused(service.api)
    await service.until('some are accepted', async () => readings.acknowledged > 20)

    rmSync(join(service.dataDir, what), { recursive: true })
    // The journal looks behind each commit, and not only from time to time.
    const next = await readings.push(service.api)
    if (part.startsWith('journal')) expect(next.status).toBe(503)

    for (const { status, body, headers } of await refusals) {
      expect([status, body.error]).toEqual([503, 'data_folder_gone'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const { status, failing } = await service.readiness()
    expect(status).toBe(503)
    expect(failing['folder']).toBe(`${part} ${gone}`)
    const acknowledged = readings.acknowledged
    const taken = await service.metric('mqtt_published_total')
    const publishing = readings.publish(client).catch(() => 'closed')
    await service.until(
      'the message is taken',
      async () => (await service.metric('mqtt_published_total')) > taken,
    )
    expect((await readings.push(service.api)).status).toBe(503)
    expect(readings.acknowledged).toBe(acknowledged)
    client.end(true)
    await publishing
  })
})

test('a folder that is moved and comes back goes on, and nothing acknowledged is lost', async () => {
  await using service = await FaultyService.start()
  const readings = new SentReadings(await service.api.createStream())
  const refusals = readings.pushUntilRefused(service.api)
  await service.until('some are accepted', async () => readings.acknowledged > 50)
  const elsewhere = `${service.dataDir}-elsewhere`

  renameSync(service.dataDir, elsewhere)
  await refusals
  const taken = await service.api.withToken('POST', '/webhooks', {
    url: 'https://receiver.example.org/',
    events: ['stream.data_received'],
  })
  expect(taken.status).toBe(503)
  renameSync(elsewhere, service.dataDir)

  await service.until('it is ready', async () => (await service.readiness()).status === 200)
  await readings.pushAgain(service.api)
  expect((await readings.push(service.api)).status).toBe(202)
  await service.kill()
  await service.restart()
  await service.api.settled(readings.streamId, readings.sent)
  expect(await readings.faultsOf(service.api)).toEqual([])
})
