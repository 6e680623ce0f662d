import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

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

/** How many entries the journal has on disk, asked of its file: the service would answer too late. */
function entriesIn(dataDir: string): number {
  const journal = new DatabaseSync(join(dataDir, 'journal.db'), { readOnly: true })
  const row = journal.prepare('SELECT max(first_offset + entries) AS entries FROM batches').get()
  journal.close()
  return Number(row?.['entries'])
}

test('kills in the middle of redrives lose nothing and double nothing', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(7)
  const first = await services.start(dataDir)
  const streamId = await fixedStream(new ApiClient(first.http))
  await first.end('SIGKILL')
  const left: number[] = []
  for (let round = 0; round < 5; round++) {
    const service = await services.start(dataDir)
    const api = new ApiClient(service.http)
    left.push((await countersAtRest(api, streamId)).quarantined)
    const enough = entriesIn(dataDir) + random.integer(1, 600)
    const cut = redrive(api, streamId).then(
      () => 'answered',
      () => 'cut',
    )
    while (entriesIn(dataDir) < enough) await turn()
    await service.end('SIGKILL')
    expect(await cut).toBe('cut')
  }
  const api = new ApiClient((await services.start(dataDir)).http)
  left.push((await countersAtRest(api, streamId)).quarantined)

  const { status, body } = await redrive(api, streamId)

  expect(status).toBe(200)
  expect(body.redriven).toBe(left.at(-1))
  await expectAllStored(api, streamId)
  // Each kill has hit a redrive that had begun, and had not ended.
  expect(left.toSorted((one, other) => other - one)).toEqual(left)
  expect(new Set(left).size).toBe(left.length)
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
