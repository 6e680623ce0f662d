import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { evidenceStores } from '../support/evidence-stores.ts'
import { imported } from '../support/imports.ts'
import { newPerson } from '../support/people.ts'
import { askReceipt, missingOf, type ReceiptReading, receiptOf } from '../support/receipts.ts'
import { at } from '../support/seconds.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const noon = '2026-01-31T12:00:00.000000Z'

for (const store of evidenceStores) {
  describe.skipIf(store.isLeftOut)(`a receipt, with ${store.name}`, () => {
    let process: ServiceProcess
    let api: ApiClient
    let streamId: string
    let stop: () => Promise<void>

    beforeAll(async () => {
      const { settings, ...started } = await store.start()
      stop = started.stop
      process = await startServiceProcess(newDataDir(), settings)
      api = new ApiClient(process.http)
    })

    afterAll(async () => {
      await process.end('SIGTERM')
      await stop()
    })

    beforeEach(async () => {
      streamId = await api.createStream()
    })

    async function push(body: unknown, id = streamId): Promise<void> {
      const { status } = await api.withToken('POST', `/streams/${id}/data`, body)
      expect([202, 422]).toContain(status)
    }

    async function onlyOne(timestamp = noon): Promise<ReceiptReading> {
      const readings = await receiptOf(api, streamId, timestamp)
      expect(readings).toHaveLength(1)
      return readings[0] as ReceiptReading
    }

    /** Hours and minutes of the window that holds a reading. */
    async function spanAt(timestamp: string): Promise<readonly (string | undefined)[]> {
      const [window] = (await onlyOne(timestamp)).windows
      return [window?.start, window?.end].map((time) => time?.slice(11, 16))
    }

    test('of a stored reading has its text, its arrival, and its place in the journal', async () => {
      const before = new Date().toISOString()
      await push({ timestamp: noon, temperature: 21.5, note: { by: 'Ada' } })
      await api.settled(streamId, 1)

      const { status, body } = await askReceipt(api, streamId, '2026-01-31T13:00:00+01:00')

      expect(status).toBe(200)
      expect(body).toMatchObject({
        format: 'streamvault-receipt-1',
        streamId,
        timestamp: noon,
        hasMore: false,
      })
      const [reading] = body.readings
      expect(body.readings).toHaveLength(1)
      expect(reading).toMatchObject({
        outcome: 'stored',
        reading: { timestamp: noon, temperature: 21.5, note: { by: 'Ada' } },
        text: `{"stream":"${streamId}","time":"${noon}","values":{"note":{"by":"Ada"},"temperature":21.5}}`,
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
        arrival: {
          how: { type: 'iot_sensor', protocol: null, source: null, sender: null },
          kind: 'received',
        },
        journal: { offset: expect.any(Number), problem: null },
        definition: { version: 1, isExact: true },
        verdict: { accepted: true, reason: null, message: null, details: [] },
        windows: [],
        alerts: [],
        events: [],
        seal: null,
      })
      expect((reading?.arrival.receivedAt ?? '') >= before.slice(0, 23)).toBe(true)
    })

    test('names each reading of one time, those that are refused included', async () => {
      await push([
        { timestamp: noon, temperature: 1 },
        { timestamp: noon, temperature: 'hot' },
        { timestamp: noon, temperature: 2 },
        { timestamp: at(1), temperature: 3 },
      ])
      await api.settled(streamId, 4)

      const readings = await receiptOf(api, streamId, noon)

      expect(readings.map(({ outcome }) => outcome)).toEqual(['stored', 'stored', 'quarantined'])
      const stored = readings.filter(({ outcome }) => outcome === 'stored')
      expect(new Set(stored.map(({ reading }) => reading?.['temperature']))).toEqual(
        new Set([1, 2]),
      )
      expect(new Set(readings.map(({ journal }) => journal.offset)).size).toBe(3)
      const refused = readings.find(({ outcome }) => outcome === 'quarantined')
      expect(refused).toMatchObject({
        reading: null,
        text: null,
        arrival: { kind: 'received', how: { source: expect.stringMatching(/^http /) } },
        definition: { version: 1, isExact: true },
        verdict: {
          accepted: false,
          reason: 'schema_mismatch',
          details: [{ path: 'temperature', message: expect.any(String) }],
        },
        missing: [],
      })
    })

    test.each(['2200-01-01T00:00:00.000000Z', '9998-12-31T23:59:59.999999Z'])(
      'names a reading that claims to be of %s',
      async (far) => {
        await push({ timestamp: far, temperature: 1 })
        await api.settled(streamId, 1)

        expect(await onlyOne(far)).toMatchObject({
          outcome: 'quarantined',
          verdict: { accepted: false, reason: 'timestamp_in_future' },
        })
      },
    )

    test('says which readings were sent again', async () => {
      const reading = { timestamp: noon, temperature: 1 }
      await push([reading])
      await api.settled(streamId, 1)
      const [first] = await receiptOf(api, streamId, noon)
      await push([reading, reading])
      await api.settled(streamId, 3)

      const readings = await receiptOf(api, streamId, noon)

      expect(readings.map(({ outcome }) => outcome)).toEqual(['stored', 'duplicate', 'duplicate'])
      expect(readings[0]?.journal.offset).toBe(first?.journal.offset)
      const [, ...duplicates] = readings
      for (const duplicate of duplicates) {
        expect(duplicate.text).toBe(first?.text)
        expect(duplicate.digest).toBe(first?.digest)
        expect(duplicate.journal.offset).toBeGreaterThan(first?.journal.offset ?? 0)
        expect(duplicate.verdict.accepted).toBe(true)
      }
    })

    test('says that a filter left a reading out', async () => {
      const transform = [{ filter: { expression: 'temperature < 50.0' } }]
      const schema = { temperature: { type: 'number' } }
      streamId = await api.createStream(schema, { processing: { transform } })
      await push({ timestamp: noon, temperature: 80 })
      await api.settled(streamId, 1)

      const reading = await onlyOne()

      expect(reading).toMatchObject({
        outcome: 'filtered',
        reading: null,
        digest: expect.stringMatching(/^[0-9a-f]{16}$/),
        verdict: { accepted: true },
      })
      expect(missingOf(reading)).toContain('reading not_kept')
    })

    test('says that a reading was the same as the one before', async () => {
      const processing = { deduplicate: true, frequency: '1h' }
      streamId = await api.createStream({ temperature: { type: 'number' } }, { processing })
      await push([
        { timestamp: noon, temperature: 1 },
        { timestamp: at(43_201), temperature: 1 },
        { timestamp: at(43_202), temperature: 1 },
      ])
      await api.settled(streamId, 3)

      expect(await onlyOne()).toMatchObject({ outcome: 'stored' })
      expect(await onlyOne(at(43_202))).toMatchObject({
        outcome: 'unchanged',
        reading: { temperature: 1 },
        verdict: { accepted: true },
      })
    })

    test('says that a reading was imported', async () => {
      const content = `{"timestamp":"${noon}","temperature":4}\n`
      await imported({ api, process }, streamId, { format: 'ndjson', content })

      expect(await onlyOne()).toMatchObject({
        outcome: 'stored',
        reading: { temperature: 4 },
        arrival: { kind: 'imported' },
      })
    })

    test('says that a reading has come out of the quarantine', async () => {
      await push({ timestamp: noon, temperature: 'hot' })
      await api.settled(streamId, 1)
      const refused = await onlyOne()
      const schema = { temperature: { type: 'string' } }
      expect((await api.withToken('PUT', `/streams/${streamId}`, { schema })).status).toBe(200)
      await api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
      await api.settled(streamId, 1)

      const reading = await onlyOne()

      expect(reading).toMatchObject({
        outcome: 'stored',
        reading: { temperature: 'hot' },
        arrival: { receivedAt: refused.arrival.receivedAt, kind: 'redriven' },
        definition: { version: 2, isExact: true },
      })
      expect(reading.journal.offset).toBeGreaterThan(refused.journal.offset ?? 0)
    })

    test('says that a refused reading was deleted', async () => {
      await push({ timestamp: noon, temperature: 'hot' })
      await api.settled(streamId, 1)
      expect((await api.withToken('DELETE', `/streams/${streamId}/quarantine`)).status).toBe(204)

      const reading = await onlyOne()

      expect(reading).toMatchObject({
        outcome: 'quarantined',
        verdict: { accepted: false, reason: 'schema_mismatch' },
      })
      expect(missingOf(reading)).toContain('quarantine removed')
    })

    test('says that a reading was removed, and that it was sent again', async () => {
      await push({ timestamp: noon, temperature: 1 })
      await api.settled(streamId, 1)
      const range = `start=${noon}&end=2026-01-31T12:00:01Z`
      await api.withToken('DELETE', `/streams/${streamId}/data?${range}`)

      const gone = await onlyOne()
      expect(gone).toMatchObject({
        outcome: 'gone',
        reading: { timestamp: noon, temperature: 1 },
        seal: null,
      })
      expect(missingOf(gone)).toContain('reading removed')

      await push({ timestamp: noon, temperature: 1 })
      await api.settled(streamId, 2)
      const readings = await receiptOf(api, streamId, noon)
      expect(readings.map(({ outcome }) => outcome)).toEqual(['stored', 'gone'])
    })

    test('says that a reading is older than the retention', async () => {
      const old = new Date(Date.now() - 10 * 24 * 3_600_000).toISOString()
      await push({ timestamp: old, temperature: 1 })
      await api.settled(streamId, 1)
      const processing = { retention: { raw: '1d' } }
      await api.withToken('PUT', `/streams/${streamId}`, { processing })
      await expect.poll(async () => (await api.status(streamId))['expired']).toBe(1)

      const reading = await onlyOne(old)

      expect(reading).toMatchObject({ outcome: 'gone', reading: { temperature: 1 } })
      expect(missingOf(reading)).toContain('reading expired')
    })

    test('names the window that holds the reading', async () => {
      const processing = { frequency: '15m', aggregation: 'average' }
      streamId = await api.createStream({ temperature: { type: 'number' } }, { processing })
      await push([
        { timestamp: '2026-01-31T12:10:00Z', temperature: 1 },
        { timestamp: '2026-01-31T12:14:59Z', temperature: 3 },
        { timestamp: '2026-01-31T12:15:00Z', temperature: 9 },
      ])
      await api.settled(streamId, 3)

      const { windows } = await onlyOne('2026-01-31T12:14:59Z')

      expect(windows).toEqual([
        {
          start: noon,
          end: '2026-01-31T12:15:00.000000Z',
          revision: 1,
          count: 2,
          computedAt: windows[0]?.computedAt,
        },
      ])
    })

    test('names windows of the length that they were made with', async () => {
      const schema = { temperature: { type: 'number' } }
      const aggregation = 'average'
      streamId = await api.createStream(schema, { processing: { frequency: '15m', aggregation } })
      await push({ timestamp: '2026-01-31T12:50:00Z', temperature: 1 })
      await api.settled(streamId, 1)
      const processing = { frequency: '1h', aggregation }
      expect((await api.withToken('PUT', `/streams/${streamId}`, { processing })).status).toBe(200)
      await push([
        { timestamp: '2026-01-31T12:10:00Z', temperature: 2 },
        { timestamp: '2026-01-31T14:50:00Z', temperature: 3 },
      ])
      await api.settled(streamId, 3)

      expect(await spanAt('2026-01-31T12:50:00Z')).toEqual(['12:45', '13:00'])
      expect(await spanAt('2026-01-31T12:10:00Z')).toEqual(['12:00', '12:15'])
      expect(await spanAt('2026-01-31T14:50:00Z')).toEqual(['14:00', '15:00'])
    })

    test('is 404 for a time without a reading, with what to do about it', async () => {
      await push({ timestamp: noon, temperature: 1 })
      await api.settled(streamId, 1)
      const { status, body } = await askReceipt(api, streamId, '2026-01-31T12:00:00.000001Z')
      expect(status).toBe(404)
      expect(body).toMatchObject({ error: 'not_found', remedy: expect.stringContaining('/data') })
    })

    test.each(['yesterday', '', '20260131', '2026-01-31', '2026-13-31T00:00:00Z'])(
      'is 400 for %j',
      async (timestamp) => {
        expect((await askReceipt(api, streamId, timestamp)).status).toBe(400)
      },
    )

    test('is 400 without a time, and 404 for times that no reading has', async () => {
      expect((await api.withToken('GET', `/streams/${streamId}/receipts`)).status).toBe(400)
      for (const far of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z']) {
        expect((await askReceipt(api, streamId, far)).status).toBe(404)
      }
    })

    test('is 404 for another user, and for a stream that does not exist', async () => {
      await push({ timestamp: noon, temperature: 1 })
      const other = await newPerson(api)
      expect((await askReceipt(other, streamId, noon)).status).toBe(404)
      expect((await askReceipt(api, crypto.randomUUID(), noon)).status).toBe(404)
      const { status } = await api.withKey('GET', `/streams/${streamId}/receipts?timestamp=${noon}`)
      expect(status).toBe(200)
    })

    test('says that there are more readings than it shows', async () => {
      await push(Array.from({ length: 101 }, (_, n) => ({ timestamp: noon, temperature: n })))
      await api.settled(streamId, 101)

      const { body } = await askReceipt(api, streamId, noon)

      expect(body.readings).toHaveLength(100)
      expect(body.hasMore).toBe(true)
      expect(new Set(body.readings.map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    })
  })
}
