import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'
import { allSealed, provenBy, rootNow, sealsOf } from '../support/seals.ts'

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
