import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

interface Page {
  readonly readings: readonly object[]
  readonly nextCursor: string | null
}

const folder = new TemporaryFolder()
let service: ServiceProcess
let api: ApiClient
let streamId: string

beforeAll(async () => {
  // What was refused is known without the server.
  const url = `questdb://127.0.0.1:${await freePort()}`
  service = await startServiceProcess(folder.path, { STREAMVAULT_TIMESERIES_URL: url })
  api = new ApiClient(service.http)
  streamId = await api.createStream()
  const file = new DatabaseSync(join(folder.path, 'questdb-positions.db'), { timeout: 60_000 })
  const insert = file.prepare('INSERT INTO refused_readings VALUES (?, ?, ?, ?, ?)')
  for (const entry of [3, 5, 8]) {
    insert.run(entry, streamId, entry * 1_000_000, `{"temperature":${entry}}`, 'no such column')
  }
  insert.run(6, 'another stream', 0, '{}', 'no such column')
  file.close()
})

afterAll(async () => {
  await service.end('SIGKILL')
  folder[Symbol.dispose]()
})

test('shows what QuestDB has not taken of a stream, page by page', async () => {
  const first = await api.withToken<Page>('GET', `/streams/${streamId}/refused?limit=2`)
  expect(first.body).toEqual({
    streamId,
    readings: [
      reading(3, '1970-01-01T00:00:03.000000Z'),
      reading(5, '1970-01-01T00:00:05.000000Z'),
    ],
    nextCursor: '5',
  })

  const next = await api.withToken<Page>('GET', `/streams/${streamId}/refused?limit=2&cursor=5`)
  expect(next.body).toMatchObject({ nextCursor: null })
  expect(next.body.readings).toEqual([reading(8, '1970-01-01T00:00:08.000000Z')])
})

test('answers 404 for a stream that is not one’s own', async () => {
  const { status } = await api.withToken('GET', `/streams/${crypto.randomUUID()}/refused`)
  expect(status).toBe(404)
})

test('answers 400 for a page of no size', async () => {
  const { status } = await api.withToken('GET', `/streams/${streamId}/refused?limit=0`)
  expect(status).toBe(400)
})

function reading(id: number, timestamp: string): object {
  return { id, timestamp, values: { temperature: id }, message: 'no such column' }
}
