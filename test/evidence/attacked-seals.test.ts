import { DatabaseSync } from 'node:sqlite'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { checkReceiptText } from '../../src/ledgers/seals/check-receipt.ts'
import { createKey, newPerson, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { allSealed, rootNow } from '../support/seals.ts'
import { at } from '../support/seconds.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

interface Receipt {
  readonly readings: readonly {
    readonly seal: { readonly path: { readonly index: number } | null } | null
  }[]
}

const service = runningService({ STREAMVAULT_SEAL_GRACE: '100ms', STREAMVAULT_ANCHORING: 'on' })

const quarter = { seal: '15m' }

async function newStream(processing: object = quarter): Promise<string> {
  return await service.api.createStream({ temperature: { type: 'number' } }, { processing })
}

/** Sends a reading for each of these seconds; resolves when they are stored. */
async function push(streamId: string, ...seconds: readonly number[]): Promise<void> {
  const { received } = await service.api.settled(streamId)
  const readings = seconds.map((second) => ({ timestamp: at(second), temperature: second }))
  const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  expect(status).toBe(202)
  await service.api.settled(streamId, received + readings.length)
}

/** The seconds that some seal of a stream covers. */
async function isCovered(streamId: string, ...seconds: readonly number[]): Promise<boolean> {
  const seals = await allSealed(service.api, streamId)
  return seconds.every((second) => {
    const time = at(second).replace('Z', '000Z')
    return seals.some(({ start, end }) => start <= time && time < end)
  })
}

function rowsOf(streamId: string): readonly number[] {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  return ['seal_marks', 'seals'].map((table) => {
    const query = `SELECT count(*) AS rows FROM ${table} WHERE stream_id = ?`
    return Number(state.prepare(query).get(streamId)?.['rows'])
  })
}

describe('a stream whose length of stretches changes', () => {
  test('has each reading in a seal, of the length that it had or of the new one', async () => {
    const streamId = await newStream()
    const change = async (seal: string | null) =>
      await service.api.withToken('PUT', `/streams/${streamId}`, { processing: { seal } })
    await push(streamId, 1, 5_000)
    expect((await change('1h')).status).toBe(200)
    await push(streamId, 2, 7_300)
    expect((await change(null)).status).toBe(200)
    await push(streamId, 9_000)
    expect((await change('7h')).status).toBe(200)
    await push(streamId, 20_000)

    expect(await isCovered(streamId, 1, 2, 5_000, 7_300, 20_000)).toBe(true)
    // What came while nothing was to be sealed is in what is sealed later, over the same time.
    expect(await isCovered(streamId, 9_000)).toBe(true)
  })
})

describe('a stream that is deleted while it is sealed', () => {
  test('leaves no mark and no seal, and the others of its batch are anchored', async () => {
    const kept = await newStream()
    const gone = await Promise.all(Array.from({ length: 5 }, async () => await newStream()))
    await Promise.all([kept, ...gone].map((streamId) => push(streamId, 1, 1_000, 2_000)))
    for (const streamId of gone) {
      const { status } = await service.api.withToken('DELETE', `/streams/${streamId}`)
      expect(status).toBe(204)
    }

    expect(await allSealed(service.api, kept)).toHaveLength(3)
    for (const streamId of gone) expect(rowsOf(streamId)).toEqual([0, 0])
  })
})

describe('readings that are removed while they are sealed', () => {
  test('leave seals as they were, and the next revision is of what is left', async () => {
    const streamId = await newStream()
    const removed = async (from: number, to: number) => {
      const range = `start=${at(from)}&end=${at(to)}`
      await service.api.withToken('DELETE', `/streams/${streamId}/data?${range}`)
    }
    for (let round = 0; round < 6; round++) {
      const seconds = Array.from({ length: 50 }, (_, index) => 10 * index + round)
      await push(streamId, ...seconds)
      await removed(100 * round, 100 * round + 40)
    }
    await push(streamId, 899)

    const seals = await allSealed(service.api, streamId)
    const newest = seals.at(-1)
    expect(newest).toMatchObject(
      await rootNow(service.api, streamId, newest ?? { start: '', end: '' }),
    )
    expect(seals.map(({ revision }) => revision)).toEqual(seals.map((_, index) => index + 1))
    expect(seals.map(({ previous }) => previous)).toEqual([
      null,
      ...seals.slice(0, -1).map(({ root }) => root),
    ])

    await removed(0, 900)
    await service.api.settled(streamId)
    expect(await allSealed(service.api, streamId)).toEqual(seals)
  })
})

describe('equal readings of two devices at one time', () => {
  test('have a place in the seal each, and their receipt is genuine', async () => {
    const streamId = await service.api.createStream(
      { temperature: { type: 'number' } },
      { source: { protocol: 'mqtt', topic: 'hall/+/temperature' }, processing: quarter },
    )
    const [username, password] = [adminKey, adminSecret]
    const url = `mqtt://127.0.0.1:${service.process.mqttPort}`
    const device = await connectAsync(url, { username, password })
    for (const name of ['left', 'right', 'middle']) {
      const payload = JSON.stringify({ timestamp: at(1), temperature: 20 })
      await device.publishAsync(`hall/${name}/temperature`, payload, { qos: 1 })
    }
    await device.endAsync()
    await service.api.settled(streamId, 3)
    expect(await allSealed(service.api, streamId)).toMatchObject([{ count: 3 }])

    const path = `/streams/${streamId}/receipts?timestamp=${at(1)}`
    const { body } = await service.api.withToken<Receipt>('GET', path)

    const indexes = body.readings.map(({ seal }) => seal?.path?.index)
    expect(indexes.toSorted((one, other) => Number(one) - Number(other))).toEqual([0, 1, 2])
    const { verdict, readings } = await checkReceiptText(JSON.stringify(body), new Set())
    expect(verdict).toMatchObject({ is: 'proven_under_key' })
    expect(readings.map((one) => one.verdict.is)).toEqual(Array(3).fill('proven_under_key'))
  })
})

describe('seals and receipts of a stream', () => {
  test('are for its owner only, with a key that may read data', async () => {
    const owner = await newPerson(service.api)
    const other = await newPerson(service.api)
    const streamId = await newStream()
    await push(streamId, 1)
    const [seal] = await allSealed(service.api, streamId)
    expect(seal?.count).toBe(1)

    const paths = [`/streams/${streamId}/seals`, `/streams/${streamId}/receipts?timestamp=${at(1)}`]
    const narrow = personOf(
      service.api,
      await createKey(service.api, {
        userId: await service.api.userId(),
        permission: 'custom',
        scopes: ['streams:read'],
      }),
    )
    for (const path of paths) {
      expect((await service.api.withToken('GET', path)).status).toBe(200)
      for (const person of [owner, other]) {
        expect((await person.withToken('GET', path)).status).toBe(404)
      }
      expect((await narrow.withToken('GET', path)).status).toBe(403)
      expect((await service.api.request('GET', path)).status).toBe(401)
    }
  })
})
