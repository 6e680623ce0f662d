import { rmSync } from 'node:fs'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { download, exported } from '../support/exports.ts'
import { imported } from '../support/imports.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts'

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

  test('two devices that say the same stay two, and so in a file', async () => {
    const service = { api, process }
    const source = { topic: 'hall/+' }
    const from = await api.createStream(schema, { source })
    const options = { username: adminKey, password: adminSecret, reconnectPeriod: 0 }
    const mqtt = await connectAsync(`mqtt://127.0.0.1:${process.mqttPort}`, options)
    const reading = '{"timestamp":"2026-01-01T00:00:00Z","temperature":21.5}'
    for (const device of ['one', 'two', 'one']) {
      await mqtt.publishAsync(`hall/${device}`, reading, { qos: 1 })
    }
    await mqtt.endAsync()
    const counts = await api.settled(from, 3)
    const before = await api.readAll(from)

    const job = await exported(api, { streamIds: [from], format: 'csv' })
    const answer = await download(service, job, job.files[0])
    const file = { format: 'csv', content: new Uint8Array(await answer.arrayBuffer()) } as const
    const into = await api.createStream(schema)
    await imported(service, into, file)
    await imported(service, from, file)

    expect(counts).toMatchObject({ stored: 2, duplicates: 1 })
    await api.settled(into, 2)
    expect(await api.readAll(into)).toEqual(before)
    expect(await api.settled(from, 5)).toMatchObject({ stored: 2, duplicates: 3 })
  })
})
