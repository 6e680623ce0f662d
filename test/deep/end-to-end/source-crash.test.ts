import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { ApiPeer } from '../../support/api-peer.ts'
import { isPostgresMissing, Postgres } from '../../support/postgres.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

const patience = { timeout: 60_000, interval: 20 }

function timeOf(number: number): string {
  return new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

interface Killed {
  readonly ports: readonly number[]
  readonly definition: { readonly type: string; readonly source: object }
  /** Makes the other side have numbers from one on. */
  readonly publish: (from: number, count: number) => Promise<void>
  readonly perLife: number
}

/** A service that is killed again and again while it reads: how often each number was received and stored. */
async function killedWhileReading({ ports, definition, publish, perLife }: Killed) {
  const dataDir = services.newFolder()
  const environment = {
    STREAMVAULT_EGRESS_ALLOW: ports.map((port) => `127.0.0.1:${port}`).join(','),
  }
  const random = new SeededRandom(20_261_122)
  let process = await services.start(dataDir, environment)
  let api = new ApiClient(process.http)
  const streamId = await api.createStream({ number: { type: 'integer' } }, definition)
  const states = ['waiting', 'running']
  await expect
    .poll(
      async () => states.includes(String((await api.status(streamId)).source?.['state'])),
      patience,
    )
    .toBe(true)
  let published = 0
  for (let life = 0; life < 5; life++) {
    const received = async () => (await api.status(streamId)).counters.received
    const before = await received()
    await publish(published, perLife)
    published += perLife
    await expect.poll(received, patience).toBeGreaterThan(before)
    await sleep(random.integer(0, 60))
    await process.end('SIGKILL')
    process = await services.start(dataDir, environment)
    api = new ApiClient(process.http)
  }
  await publish(published, perLife)
  published += perLife
  await api.settled(streamId, published)
  // What is read twice would come when it is read from anew.
  await api.withToken('POST', `/streams/${streamId}/pause`)
  await api.withToken('POST', `/streams/${streamId}/resume`)
  await publish(published, 1)
  published += 1
  await api.settled(streamId, published)
  const { counters } = await api.status(streamId)
  const numbers = (await api.readAll(streamId)).map(({ number }) => Number(number))
  return { counters, numbers, published }
}

describe('a source that is read while the service is killed again and again', () => {
  test('of an API, loses no reading and doubles none', async () => {
    await using peer = await ApiPeer.start()
    const { counters, numbers, published } = await killedWhileReading({
      ports: peer.ports,
      definition: { type: 'api_pull', source: peer.source },
      perLife: 150,
      async publish(from, count) {
        const payloads = Array.from({ length: count }, (_, index) => {
          const number = from + index
          return Buffer.from(JSON.stringify({ number, timestamp: timeOf(number) }))
        })
        await peer.publish(payloads)
      },
    })
    expect(counters).toMatchObject({ received: published, stored: published, duplicates: 0 })
    expect(numbers).toEqual(numbersTo(published))
  })

  test.skipIf(isPostgresMissing).each([
    [
      'a table',
      {
        query: 'SELECT number, "timestamp" FROM readings',
        incrementalColumn: 'number',
        keyColumn: 'number',
        pageSize: 100,
        schedule: '* * * * * *',
      },
    ],
    ['the log of a server', { follow: 'log', table: 'public.readings' }],
  ])('of %s, loses no row and doubles none', async (_, source) => {
    await using postgres = await Postgres.start()
    const database = await postgres.newDatabase()
    const run = await postgres.session(database)
    await run('CREATE TABLE readings (number bigint PRIMARY KEY, "timestamp" timestamptz NOT NULL)')
    const { counters, numbers, published } = await killedWhileReading({
      ports: [postgres.port],
      definition: {
        type: 'database',
        source: {
          protocol: 'postgres',
          endpoint: postgres.endpoint(database),
          credentials: postgres.credentials,
          ...source,
        },
      },
      perLife: 2_000,
      async publish(from, count) {
        await run(
          `INSERT INTO readings SELECT number, timestamptz '2026-03-01T00:00:00Z' + number * interval '1 second'
           FROM generate_series(${from}, ${from + count - 1}) AS number`,
        )
      },
    })
    expect(counters).toMatchObject({ received: published, stored: published, duplicates: 0 })
    expect(numbers).toEqual(numbersTo(published))
  })
})
