import { expect, test } from 'vitest'
import type { ApiClient } from '../../support/api-client.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { SeededRandom } from '../../support/seeded-random.ts'

const refused = 6_000
const stored = 500

interface Redriven {
  readonly redriven: number
  readonly remaining: number
}

function reading(index: number, temperature: unknown): object {
  return { timestamp: new Date(index).toISOString(), temperature }
}

/** A stream whose definition was wrong until now, with what it has refused. */
async function fixedStream(api: ApiClient): Promise<string> {
  const streamId = await api.createStream({ temperature: { type: 'number' } })
  const path = `/streams/${streamId}`
  await api.withToken('POST', `${path}/data`, [
    ...Array.from({ length: refused }, (_, index) => reading(index, `hot ${index}`)),
    ...Array.from({ length: stored }, (_, index) => reading(refused + index, index)),
  ])
  const { status } = await api.withToken('PUT', path, {
    schema: { temperature: { type: 'string' } },
  })
  expect(status).toBe(200)
  return streamId
}

function redrive(api: ApiClient, streamId: string) {
  return api.withToken<Redriven>('POST', `/streams/${streamId}/quarantine/redrive`)
}

/** Every term of the sum, once the stream is at rest; all of it was received once. */
async function countersAtRest(api: ApiClient, streamId: string) {
  const counters = await api.settled(streamId, refused + stored)
  const { received, ...terms } = counters
  expect(received).toBe(refused + stored)
  expect(Object.values(terms).reduce((sum, term) => sum + term, 0)).toBe(received)
  return counters
}

async function expectAllStored(api: ApiClient, streamId: string): Promise<void> {
  const counters = await countersAtRest(api, streamId)
  expect(counters).toMatchObject({ stored: refused + stored, duplicates: 0, quarantined: 0 })
  const readings = await api.readAll(streamId)
  expect(readings).toHaveLength(refused + stored)
  expect(new Set(readings.map((one) => one['timestamp'])).size).toBe(refused + stored)
}

/** What is redriven with one sync of the journal: one slice. Five times the most of them are not all. */
const slicesMax = 4

test('kills in the middle of redrives lose nothing and double nothing', async () => {
  await using service = await FaultyService.start()
  const random = new SeededRandom(7)
  const streamId = await fixedStream(service.api)
  await service.kill()
  const left: number[] = []
  for (let round = 0; round < 5; round++) {
    await service.restart()
    left.push((await countersAtRest(service.api, streamId)).quarantined)
    // The journal stands still from then on: however late the kill comes, the redrive has not ended.
    service.faults.begin('hold-sync', 'journal.db', random.integer(0, slicesMax - 1))
    const cut = redrive(service.api, streamId).then(
      () => 'answered',
      () => 'cut',
    )
    await service.until('the redrive is under way', async () => service.faults.isMet)
    await service.kill()
    expect(await cut).toBe('cut')
  }
  await service.restart()
  left.push((await countersAtRest(service.api, streamId)).quarantined)

  const { status, body } = await redrive(service.api, streamId)

  expect(status).toBe(200)
  expect(body.redriven).toBe(left.at(-1))
  await expectAllStored(service.api, streamId)
  // Each kill has hit a redrive that had begun, and had not ended.
  expect(left.toSorted((one, other) => other - one)).toEqual(left)
  expect(new Set(left).size).toBe(left.length)
  expect(left.at(-1)).toBeGreaterThan(0)
})

test('a kill when readings are stored that the decider still has in quarantine', async () => {
  await using service = await FaultyService.start()
  const streamId = await fixedStream(service.api)
  await countersAtRest(service.api, streamId)
  service.faults.begin('enospc', 'state.db')
  const cut = redrive(service.api, streamId).catch((error: unknown) => error)
  await service.until('all is stored, and nothing decided', async () => {
    const { counters } = await service.api.status(streamId)
    expect(Math.min(...Object.values(counters))).toBeGreaterThanOrEqual(0)
    const lag = await service.metric('decider_lag')
    return counters.stored === refused + stored && lag === refused
  })
  const { counters } = await service.api.status(streamId)
  expect(counters).toMatchObject({ stored: refused + stored, quarantined: 0, pending: 0 })
  await service.kill()
  await cut

  await service.restart()

  await expectAllStored(service.api, streamId)
  expect((await redrive(service.api, streamId)).body).toMatchObject({ redriven: 0, remaining: 0 })
  await expectAllStored(service.api, streamId)
})
