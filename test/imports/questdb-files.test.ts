import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { download, exported } from '../support/exports.ts'
import { imported } from '../support/imports.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const schema = {
  temperature: { type: 'number' },
  steps: { type: 'integer' },
  mode: { type: 'string' },
  place: { type: 'object' },
}

const rows = 3_000

/** Readings of a minute each, with all that can be absent. */
const content = Array.from({ length: rows }, (_, minute) => {
  const timestamp = new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString()
  const place = minute % 3 === 0 ? { x: minute } : undefined
  const mode = minute % 2 === 0 ? 'eco, "quiet"' : ''
  return `${JSON.stringify({ timestamp, temperature: minute / 7, steps: minute, mode, place })}\n`
}).join('')

describe.skipIf(isQuestDbMissing)('with QuestDB', () => {
  let questDb: QuestDb
  let process: ServiceProcess
  let api: ApiClient

  beforeAll(async () => {
    questDb = await QuestDb.start()
    process = await startServiceProcess(newDataDir(), {
      STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDb.port}`,
    })
    api = new ApiClient(process.http)
  })

  afterAll(async () => {
    await process.end('SIGTERM')
    rmSync(process.dataDir, { recursive: true })
    await questDb[Symbol.asyncDispose]()
  })

  test('what is imported, exported and imported again is the same, and none of it comes twice', async () => {
    const service = { api, process }
    const from = await api.createStream(schema)
    await imported(service, from, { format: 'ndjson', content })
    await api.settled(from, rows)
    const before = await api.readAll(from)
    for (const format of ['parquet', 'csv'] as const) {
      const job = await exported(api, { streamIds: [from], format })
      const answer = await download(service, job, job.files[0])
      const file = { format, content: new Uint8Array(await answer.arrayBuffer()) }
      const into = await api.createStream(schema)
      await imported(service, into, file)
      await imported(service, from, file)
      await api.settled(into, rows)

      expect(job.rows).toBe(rows)
      expect(await api.readAll(into)).toEqual(before)
    }
    expect(await api.settled(from, 3 * rows)).toMatchObject({ stored: rows, duplicates: 2 * rows })
  })
})
