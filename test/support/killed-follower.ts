import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ApiClient } from './api-client.ts'
import type { OpcUaPeer } from './opcua-peer.ts'
import { SeededRandom } from './seeded-random.ts'
import type { StartedServices } from './started-services.ts'

const patience = { timeout: 90_000, interval: 50 }
const fields = ['first', 'second', 'third'] as const

/** Variables that a peer needs for it. */
export const followedVariables = Object.fromEntries(fields.map((name) => [name, 'Int32'] as const))

/** All values of one item come after all of another one: more of them than fit into one notification. */
function valuesOf(from: number, count: number) {
  return fields.flatMap((name, place) =>
    Array.from({ length: count }, (_, index) => ({
      name,
      value: from + index + place,
      time: new Date(Date.UTC(2026, 2, 1) + (from + index) * 1_000).toISOString(),
    })),
  )
}

export interface KilledFollower {
  readonly services: StartedServices
  readonly peer: OpcUaPeer
  /** More keys of the source. */
  readonly more?: object
  readonly kills: number
  /** Readings of three values each. */
  readonly perLife: number
}

/** A service that is killed again and again while it follows a server of OPC UA. */
export async function killedFollower(needs: KilledFollower) {
  const { services, peer, more, kills, perLife } = needs
  const dataDir = services.newFolder()
  const environment = { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${peer.port}` }
  const random = new SeededRandom(20_261_125)
  let process = await services.start(dataDir, environment)
  let api = new ApiClient(process.http)
  const schema = Object.fromEntries(fields.map((name) => [name, { type: 'integer' }]))
  const source = {
    protocol: 'opcua',
    endpoint: peer.endpoint,
    items: Object.fromEntries(fields.map((name) => [name, `ns=1;s=${name}`])),
    samplingInterval: 0,
    publishingInterval: 100,
    queueSize: 10_000,
    ...more,
  }
  const streamId = await api.createStream(schema, { type: 'manufacturing', source })
  const state = async () => (await api.status(streamId)).source?.['state']
  const received = async () => (await api.status(streamId)).counters.received
  await expect.poll(state, patience).toBe('running')
  let published = 0
  const publish = async () => {
    await peer.set(valuesOf(published, perLife))
    published += perLife
  }
  for (let life = 0; life < kills; life++) {
    const before = await received()
    await publish()
    // Half of the kills meet a service that has just begun again.
    if (life % 2 === 0) await expect.poll(received, patience).toBeGreaterThan(before)
    await sleep(random.integer(0, 300))
    await process.end('SIGKILL')
    await publish()
    process = await services.start(dataDir, environment)
    api = new ApiClient(process.http)
  }
  await expect.poll(state, patience).toBe('running')
  await publish()
  // What comes last is what is waited for: of what came before it, something may be lost, and is told of then.
  const newest = async () => (await api.readAll(streamId)).at(-1)?.['first']
  await expect.poll(newest, { ...patience, interval: 500 }).toBe(published - 1)
  await api.settled(streamId)
  const { counters } = await api.status(streamId)
  const readings = await api.readAll(streamId)
  return { counters, readings, published }
}

/** What was published, in its order. */
export function followedReadings(count: number): object[] {
  return Array.from({ length: count }, (_, number) => ({
    first: number,
    second: number + 1,
    third: number + 2,
  }))
}
