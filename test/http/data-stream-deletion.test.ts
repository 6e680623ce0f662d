import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DuckDbFile } from '../../src/storage/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/storage/time-series/duckdb/rows-of.ts'
import type { ApiClient } from '../support/api-client.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

interface Deletion {
  readonly status: string
  readonly deletedAt: string
  readonly removedAt: string | null
  readonly removed: { readonly readings: number; readonly quarantined: number }
}

const unknownId = '00000000-0000-4000-8000-000000000000'

/** Three readings that are stored, and two that are refused. */
async function pushSome(api: ApiClient, streamId: string): Promise<void> {
  const times = ['2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z']
  await api.withToken('POST', `/streams/${streamId}/data`, [
    ...times.map((timestamp) => ({ timestamp, temperature: 1 })),
    { temperature: 'hot' },
    { temperature: 'cold' },
  ])
}

async function removed(api: ApiClient, streamId: string): Promise<Deletion> {
  for (let attempt = 0; attempt < 2_400; attempt++) {
    const { body } = await api.withToken<Deletion>('GET', `/streams/${streamId}/deletion`)
    if (body.removedAt !== null) return body
    await sleep(25)
  }
  throw new Error(`stream ${streamId} is not removed`)
}

async function vaultOf(api: ApiClient, streamId: string): Promise<string> {
  return (await api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)).body.vaultId
}

describe('DELETE /streams/{stream_id}', () => {
  test('hides the stream at once, everywhere, and frees its vault', async () => {
    const { api } = service
    const streamId = await api.createStream()
    const vaultId = await vaultOf(api, streamId)
    await pushSome(api, streamId)

    expect((await api.withToken('DELETE', `/streams/${streamId}`)).status).toBe(204)

    const paths = ['', '/status', '/data', '/quarantine', '/versions']
    for (const path of paths) {
      expect((await api.withToken('GET', `/streams/${streamId}${path}`)).status).toBe(404)
    }
    const pushed = await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 2 })
    expect(pushed.status).toBe(404)
    expect((await api.withToken('PUT', `/streams/${streamId}`, {})).status).toBe(404)
    expect((await api.withToken('DELETE', `/streams/${streamId}`)).status).toBe(404)
    const list = await api.withToken<{ streamId: string }[]>('GET', '/streams?limit=1000')
    expect(list.body.some((one) => one.streamId === streamId)).toBe(false)
    expect((await api.withKey('DELETE', `/vaults/${vaultId}`)).status).toBe(204)
  })

  test('removes what was stored and what was refused, and tells so', async () => {
    const { api } = service
    const streamId = await api.createStream()
    await pushSome(api, streamId)
    await api.settled(streamId, 5)
    await api.withToken('DELETE', `/streams/${streamId}`)

    const deletion = await removed(api, streamId)

    expect(deletion).toMatchObject({
      streamId,
      name: 'temperature',
      status: 'deleted',
      removed: { readings: 3, quarantined: 2 },
    })
    expect(Date.parse(String(deletion.removedAt))).toBeGreaterThanOrEqual(
      Date.parse(deletion.deletedAt),
    )
  })

  test('leaves every other stream as it was', async () => {
    const { api } = service
    const [kept, gone] = [await api.createStream(), await api.createStream()]
    for (const streamId of [kept, gone]) await pushSome(api, streamId)
    const before = await api.settled(kept, 5)
    const readings = await api.readAll(kept)

    await api.withToken('DELETE', `/streams/${gone}`)
    await removed(api, gone)

    expect(await api.settled(kept, 5)).toEqual(before)
    expect(await api.readAll(kept)).toEqual(readings)
    await pushSome(api, kept)
    expect(await api.settled(kept, 10)).toMatchObject({ stored: 3, duplicates: 3, quarantined: 4 })
  })

  test('of many streams at once, while readings come, ends all of them', async () => {
    const { api } = service
    const ids = await Promise.all(Array.from({ length: 8 }, () => api.createStream()))

    await Promise.all(
      ids.flatMap((id) => [pushSome(api, id), api.withToken('DELETE', `/streams/${id}`)]),
    )

    for (const id of ids) expect((await removed(api, id)).status).toBe('deleted')
  })

  test.each(['', '/deletion'])('is 404 at %s for a stream that was never there', async (path) => {
    const method = path === '' ? 'DELETE' : 'GET'
    expect((await service.api.withToken(method, `/streams/${unknownId}${path}`)).status).toBe(404)
  })

  test('shows no deletion of a stream that is there', async () => {
    const streamId = await service.api.createStream()
    const { status } = await service.api.withToken('GET', `/streams/${streamId}/deletion`)
    expect(status).toBe(404)
  })
})

/** How many readings, of all streams, the file of the store holds. */
async function rowsIn(dataDir: string): Promise<number> {
  using folder = new TemporaryFolder()
  cpSync(dataDir, folder.path, { recursive: true })
  const file = await DuckDbFile.open(join(folder.path, 'time-series.duckdb'))
  const tables = await rowsOf(
    file.writer,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%'`,
  )
  let rows = 0
  for (const { name } of tables) {
    const [found] = await rowsOf(file.writer, `SELECT count(*) AS n FROM "${String(name)}"`)
    rows += Number(found?.['n'])
  }
  await file.close()
  return rows
}

test.each([
  ['before any of its readings are in the store', false],
  ['after some of them are', true],
])('a kill after a deletion, %s, leaves nothing of the stream', async (_, isSettled) => {
  await using faulty = await FaultyService.start()
  const kept = await faulty.api.createStream()
  const gone = await faulty.api.createStream()
  if (isSettled) {
    for (const id of [kept, gone]) await pushSome(faulty.api, id)
    for (const id of [kept, gone]) await faulty.api.settled(id, 5)
  }
  faulty.faults.begin('hold', 'time-series.duckdb')
  for (const id of [kept, gone]) await pushSome(faulty.api, id)
  expect((await faulty.api.withToken('DELETE', `/streams/${gone}`)).status).toBe(204)
  await faulty.kill()

  await faulty.restart()

  expect((await faulty.api.withToken('GET', `/streams/${gone}`)).status).toBe(404)
  const pushes = isSettled ? 2 : 1
  expect((await removed(faulty.api, gone)).removed).toEqual({
    readings: 3,
    quarantined: 2 * pushes,
  })
  expect(await faulty.api.settled(kept, 5 * pushes)).toMatchObject({
    received: 5 * pushes,
    stored: 3,
    duplicates: 3 * (pushes - 1),
    quarantined: 2 * pushes,
  })
  await faulty.kill()
  expect(await rowsIn(faulty.dataDir)).toBe(3)
})
