import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { ApiClient } from '../support/api-client.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'

/** One pair for each test. */
const pairs = ['changed', 'pushed', 'stopped', 'gone', 'resumed', 'restarted'] as const
const names = pairs.flatMap((pair) => [`${pair}-early`, `${pair}-late`])
const server = await OpcUaTestServer.start({
  variables: Object.fromEntries(names.map((name) => [name, 'Int32'])),
})
const settings = { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${server.port}` }
const service = runningService(settings)
const services = startedServices()

afterAll(async () => await server[Symbol.asyncDispose]())

const patience = { timeout: 60_000, interval: 50 }
const schema = { early: { type: 'integer' }, late: { type: 'integer' } }
const time = '2026-03-01T00:00:00Z'

/** A reading waits ten seconds for what is looked at so rarely. */
const rarely = 10_000

function sourceOf(pair: string) {
  return {
    protocol: 'opcua',
    endpoint: server.endpoint,
    credentials: opcUaCredentials,
    publishingInterval: 50,
    items: [
      { field: 'early', nodeId: `ns=1;s=${pair}-early`, samplingInterval: 0 },
      { field: 'late', nodeId: `ns=1;s=${pair}-late`, samplingInterval: rarely },
    ],
  }
}

/** What the state has of the source of a stream. */
function positionOf(id: string, folder = service.process.dataDir): string {
  const state = new DatabaseSync(join(folder, 'state.db'), { readOnly: true })
  try {
    const read = state.prepare('SELECT position FROM stream_sources WHERE stream_id = ?')
    return String(read.get(id)?.['position'] ?? '')
  } finally {
    state.close()
  }
}

/** A stream whose reading waits for another value of its time. */
async function waiting(pair: string): Promise<string> {
  const id = await service.api.createStream(schema, {
    type: 'manufacturing',
    source: sourceOf(pair),
  })
  await inState(id, 'running')
  await server.set([{ name: `${pair}-early`, value: 7, time }])
  await expect.poll(() => positionOf(id), patience).toContain('"open":[{"time"')
  expect((await service.api.status(id)).counters.received).toBe(0)
  return id
}

async function inState(id: string, wanted: string): Promise<void> {
  const shown = async () => (await service.api.status(id)).source?.['state']
  await expect.poll(shown, patience).toBe(wanted)
}

async function put(id: string, changes: object): Promise<void> {
  const { status, body } = await service.api.withToken('PUT', `/streams/${id}`, changes)
  expect({ status, body }).toMatchObject({ status: 200 })
}

async function stored(id: string): Promise<readonly object[]> {
  await service.api.settled(id, 1)
  return await service.api.readAll(id)
}

describe('a reading of OPC UA that waits for more values of its time', () => {
  test('is stored as it is when its stream follows other nodes', async () => {
    const id = await waiting('changed')
    await put(id, { source: { ...sourceOf('resumed') } })
    expect(await stored(id)).toMatchObject([{ early: 7 }])
  })

  test('is stored as it is when its stream fetches nothing any more', async () => {
    const id = await waiting('pushed')
    const gone = Object.fromEntries(Object.keys(sourceOf('pushed')).map((key) => [key, null]))
    await put(id, { source: { ...gone, timestampField: 'measured' } })
    await expect.poll(async () => (await service.api.status(id)).source, patience).toBe(undefined)
    expect(await stored(id)).toMatchObject([{ early: 7, timestamp: '2026-03-01T00:00:00.000000Z' }])
  })

  test('is not lost when a restarted service learns that its paused stream fetches nothing', async () => {
    const folder = services.newFolder()
    const before = await services.start(folder, settings)
    const api = new ApiClient(before.http)
    const source = sourceOf('restarted')
    const id = await api.createStream(schema, { type: 'manufacturing', source })
    const state = async () => (await api.status(id)).source?.['state']
    await expect.poll(state, patience).toBe('running')
    await server.set([{ name: 'restarted-early', value: 7, time }])
    await expect.poll(() => positionOf(id, folder), patience).toContain('"open":[{"time"')
    await api.withToken('POST', `/streams/${id}/pause`)
    await expect.poll(state, patience).toBe('paused')
    await before.end('SIGTERM')

    const after = new ApiClient((await services.start(folder, settings)).http)
    const gone = Object.fromEntries(Object.keys(source).map((key) => [key, null]))
    const changed = { source: { ...gone, timestampField: 'measured' } }
    expect((await after.withToken('PUT', `/streams/${id}`, changed)).status).toBe(200)

    // A stream that is paused takes nothing: what comes of it is in the quarantine, for whoever judges it again.
    const counters = async () => (await after.status(id)).counters
    await expect.poll(counters, patience).toMatchObject({ received: 1, pending: 0 })
    const { stored: kept, quarantined } = await counters()
    expect((kept ?? 0) + (quarantined ?? 0)).toBe(1)
  })

  test('waits on while its stream is paused, and is one with what comes then', async () => {
    const id = await waiting('stopped')
    await service.api.withToken('POST', `/streams/${id}/pause`)
    await inState(id, 'paused')
    await server.set([{ name: 'stopped-late', value: 8, time }])
    expect(positionOf(id)).toContain('"open":[{"time"')
    await service.api.withToken('POST', `/streams/${id}/resume`)
    expect(await stored(id)).toMatchObject([{ early: 7, late: 8 }])
  })

  test('is kept when its stream follows other nodes while it is paused', async () => {
    const id = await waiting('gone')
    await service.api.withToken('POST', `/streams/${id}/pause`)
    await inState(id, 'paused')
    await put(id, { source: { ...sourceOf('resumed') } })
    await service.api.withToken('POST', `/streams/${id}/resume`)
    expect(await stored(id)).toMatchObject([{ early: 7 }])
  })
})
