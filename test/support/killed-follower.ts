import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ApiClient } from './api-client.ts'
import type { AsyncuaTestServer } from './asyncua-server.ts'
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
  const lost = await toldAsLost(api, streamId)
  return { counters, readings, published, lost }
}

interface Quarantine {
  readonly entries: readonly { readonly payload: string }[]
}

/** Notifications that the quarantine tells of, by their numbers; each entry of it is one of these. */
async function toldAsLost(api: ApiClient, streamId: string): Promise<readonly number[]> {
  const path = `/streams/${streamId}/quarantine?limit=1000`
  const { body } = await api.withToken<Quarantine>('GET', path)
  return body.entries.flatMap(({ payload }) => {
    const { lost } = JSON.parse(payload) as { readonly lost: { first: number; last: number } }
    const { first, last } = lost
    if (!(last >= first)) throw new Error(`no notifications are lost: ${payload}`)
    return Array.from({ length: last - first + 1 }, (_, place) => first + place)
  })
}

/** Each value that was stored, and each that was in a notification that the quarantine tells of, as text. */
export async function accountedValues(
  { readings, lost }: Pick<Awaited<ReturnType<typeof killedFollower>>, 'readings' | 'lost'>,
  peer: Pick<AsyncuaTestServer, 'told'>,
): Promise<readonly string[]> {
  const stored = readings.flatMap((reading) =>
    fields
      .filter((name) => reading[name] !== undefined && reading[name] !== null)
      .map((name) => `${secondOf(String(reading['timestamp']))} ${name} ${String(reading[name])}`),
  )
  const notifications = Object.entries(await peer.told())
  const gone = lost.flatMap((sequence) => {
    const found = notifications.filter(([name]) => name.endsWith(` ${sequence}`))
    if (found.length !== 1) throw new Error(`${found.length} notifications were ${sequence}`)
    return found.flatMap(([, values]) => values)
  })
  const missing = gone.flatMap(([time, value]) => {
    const second = secondOf(time)
    const name = fields[Number(value) - second]
    return name === undefined ? [] : [`${second} ${name} ${String(value)}`]
  })
  return [...stored, ...missing].toSorted()
}

/** Each value that was published, as text. */
export function publishedValues(count: number): readonly string[] {
  return valuesOf(0, count)
    .map(({ name, value, time }) => `${secondOf(time)} ${name} ${value}`)
    .toSorted()
}

/** Which of the times that were published; those of other values are none. */
function secondOf(time: string): number {
  const utc = /Z|[+-]\d\d:\d\d$/.test(time) ? time : `${time}Z`
  return (Date.parse(utc) - Date.UTC(2026, 2, 1)) / 1_000
}

/** What was published, in its order. */
export function followedReadings(count: number): object[] {
  return Array.from({ length: count }, (_, number) => ({
    first: number,
    second: number + 1,
    third: number + 2,
  }))
}
