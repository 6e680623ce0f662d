import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkReceiptText } from '../../src/ledgers/seals/check-receipt.ts'
import { ApiClient } from '../support/api-client.ts'
import { evidenceStores } from '../support/evidence-stores.ts'
import {
  askReceipt,
  type ReceiptBody,
  type ReceiptReading,
  receiptOf,
} from '../support/receipts.ts'
import { allSealed } from '../support/seals.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** A time in a quarter of an hour that is over. */
function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, 0, second)).toISOString().replace('Z', '000Z')
}

/** What a check without the service says, with the keys of the receipt itself. */
async function checked(receipt: ReceiptBody): Promise<string> {
  const keys = receipt.readings.flatMap(
    ({ seal }) => seal?.proof?.proof.signatures.map((one) => one.key_id) ?? [],
  )
  return (await checkReceiptText(JSON.stringify(receipt), new Set(keys))).verdict.is
}

for (const store of evidenceStores) {
  describe.skipIf(store.isLeftOut)(`a receipt of a sealed stretch, with ${store.name}`, () => {
    let process: ServiceProcess
    let api: ApiClient
    let streamId: string
    let stop: () => Promise<void>
    let restart: (grace: string) => Promise<void>

    beforeAll(async () => {
      const { settings, ...started } = await store.start()
      stop = started.stop
      const start = async (dataDir: string, grace: string) => {
        const sealing = { STREAMVAULT_SEAL_GRACE: grace, STREAMVAULT_ANCHORING: 'on' }
        process = await startServiceProcess(dataDir, { ...settings, ...sealing })
        api = new ApiClient(process.http)
      }
      restart = async (grace) => {
        expect(await process.end('SIGTERM')).toBe(0)
        await start(process.dataDir, grace)
      }
      await start(newDataDir(), '100ms')
    })

    afterAll(async () => {
      await process.end('SIGTERM')
      await stop()
    })

    beforeEach(async () => {
      const schema = { temperature: { type: 'number' } }
      streamId = await api.createStream(schema, { processing: { seal: '15m' } })
    })

    async function push(...readings: readonly object[]): Promise<void> {
      const { received } = await api.settled(streamId)
      expect((await api.withToken('POST', `/streams/${streamId}/data`, readings)).status).toBe(202)
      await api.settled(streamId, received + readings.length)
    }

    async function remove(from: number, to: number): Promise<void> {
      const range = `start=${at(from)}&end=${at(to)}`
      const { status } = await api.withToken('DELETE', `/streams/${streamId}/data?${range}`)
      expect(status).toBe(204)
    }

    async function onlyOne(timestamp: string): Promise<ReceiptReading> {
      const readings = await receiptOf(api, streamId, timestamp)
      expect(readings).toHaveLength(1)
      return readings[0] as ReceiptReading
    }

    test('has the seal, and a path from the reading to the ledger', async () => {
      await push(
        { timestamp: at(0), temperature: 20 },
        { timestamp: at(1), temperature: 21, note: { timestamp: 'x' } },
        { timestamp: at(1), temperature: 22, timestamps: null },
        { timestamp: at(899), temperature: 23 },
      )
      const [seal] = await allSealed(api, streamId)

      const { body } = await askReceipt(api, streamId, at(1))

      expect(body.readings).toHaveLength(2)
      for (const reading of body.readings) {
        const { path, problem, ...shown } = reading.seal ?? { path: null, problem: null }
        expect(shown).toEqual(seal)
        expect(path).toMatchObject({ size: 4 })
        expect(problem).toBeNull()
      }
      expect(await checked(body)).toBe('proven')
    })

    test('has a path for each of several readings with one text', async () => {
      const schema = { temperature: { type: 'number' }, sequence: { type: 'number' } }
      const processing = { seal: '15m', transform: [{ drop: { field: 'sequence' } }] }
      streamId = await api.createStream(schema, { processing })
      await push(
        { timestamp: at(0), temperature: 20, sequence: 1 },
        { timestamp: at(0), temperature: 20, sequence: 2 },
        { timestamp: at(0), temperature: 19, sequence: 3 },
      )
      await allSealed(api, streamId)

      const { body } = await askReceipt(api, streamId, at(0))

      const places = body.readings.map(({ seal }) => seal?.path?.index)
      expect(new Set(places)).toEqual(new Set([0, 1, 2]))
      expect(new Set(body.readings.map(({ text }) => text)).size).toBe(2)
      expect(await checked(body)).toBe('proven')
    })

    test('of a stretch that is not over has none', async () => {
      const now = new Date().toISOString()
      await push({ timestamp: now, temperature: 20 })
      const { body } = await askReceipt(api, streamId, now)
      expect(body.readings[0]?.seal).toBeNull()
      expect(await checked(body)).toBe('not_found')
    })

    test('has the newest revision, and an older one where its path is all that is left', async () => {
      await push({ timestamp: at(0), temperature: 20 }, { timestamp: at(2), temperature: 22 })
      await allSealed(api, streamId)
      await push({ timestamp: at(1), temperature: 21 })
      await allSealed(api, streamId)
      expect((await onlyOne(at(0))).seal).toMatchObject({ revision: 2, path: { size: 3 } })

      await remove(1, 2)

      const { body } = await askReceipt(api, streamId, at(0))
      expect(body.readings[0]?.seal).toMatchObject({ revision: 1, path: { size: 2 } })
      expect(await checked(body)).toBe('proven')
    })

    test('of a reading whose neighbours are gone has no path, and says why', async () => {
      await push({ timestamp: at(0), temperature: 20 }, { timestamp: at(2), temperature: 22 })
      await allSealed(api, streamId)
      await remove(2, 3)

      const { body } = await askReceipt(api, streamId, at(0))

      expect(body.readings[0]).toMatchObject({
        outcome: 'stored',
        seal: { revision: 1, path: null, problem: { error: 'neighbours_gone' } },
      })
      expect(await checked(body)).toBe('not_found')
      expect(await onlyOne(at(2))).toMatchObject({
        outcome: 'gone',
        seal: { revision: 1, path: null, problem: { error: 'not_stored' } },
      })
    })

    test('of a late reading says that the stretch waits to be sealed again', async () => {
      await push({ timestamp: at(0), temperature: 20 })
      await allSealed(api, streamId)
      await restart('1h')
      await push({ timestamp: at(1), temperature: 21 })

      const { seal } = await onlyOne(at(1))
      expect(seal).toMatchObject({ revision: 1, problem: { error: 'not_sealed_yet' } })

      await restart('100ms')
      await allSealed(api, streamId)
      expect((await onlyOne(at(1))).seal).toMatchObject({ revision: 2, path: { index: 1 } })
    })

    test('of a reading that was refused or came twice has no seal', async () => {
      await push({ timestamp: at(0), temperature: 20 })
      await push({ timestamp: at(0), temperature: 20 }, { timestamp: at(0), temperature: 'hot' })
      await allSealed(api, streamId)

      const { body } = await askReceipt(api, streamId, at(0))

      const seals = body.readings.map(({ outcome, seal }) => [outcome, seal?.revision ?? null])
      expect(seals).toEqual([
        ['stored', 1],
        ['duplicate', null],
        ['quarantined', null],
      ])
      expect(await checked(body)).toBe('proven')
    })
  })
}
