import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { EntryWriter } from '../src/ingest/pipeline/entry-writer.ts'
import { SqliteJournalFile } from '../src/storage/journal/sqlite-journal.ts'
import { ApiClient } from '../test/support/api-client.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import type { Figure } from './report.ts'
import { readingSchema, readMetrics } from './servers.ts'

/** Entries of one batch: about as many as a busy service writes together. */
const entriesPerBatch = 200

/**
 * A service that was stopped with a long journal: from its start to the first acknowledgement, and how
 * fast it catches up.
 */
export async function backlogRecovery(entries: number): Promise<Figure[]> {
  const dataDir = newDataDir()
  const streamId = await makeStream(dataDir)
  const journalBytes = fillJournal(dataDir, streamId, entries)
  const startedMs = performance.now()
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const { status } = await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 1 })
  const acknowledgedS = (performance.now() - startedMs) / 1_000
  if (status !== 202) throw new Error(`the first reading was answered with ${status}`)
  const lag = async () => (await readMetrics(service.http)).get('shipper_lag') ?? 0
  const [beforeMs, before] = [performance.now(), await lag()]
  let left = before
  while (left > 0 && performance.now() - beforeMs < 120_000) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    left = await lag()
  }
  const perSecond = (before - left) / ((performance.now() - beforeMs) / 1_000)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  return [
    {
      name: `start with ${(entries / 1e6).toFixed(0)} million entries of backlog: until a reading is acknowledged`,
      measured: `${acknowledgedS.toFixed(1)} s; then ${Math.round(perSecond).toLocaleString('en')} entries/s are stored`,
      target: 'under 5 s',
      isMet: acknowledgedS < 5,
    },
    {
      name: 'bytes of an entry in the journal, five fields',
      measured: (journalBytes / entries).toFixed(1),
      target: 'nothing promised',
      isMet: true,
    },
  ]
}

async function makeStream(dataDir: string): Promise<string> {
  const service = await startServiceProcess(dataDir)
  const streamId = await new ApiClient(service.http).createStream(readingSchema)
  await service.end('SIGTERM')
  return streamId
}

/** Writes readings into the journal of a folder that nobody uses; returns their bytes. */
function fillJournal(dataDir: string, streamId: string, entries: number): number {
  const journal = new SqliteJournalFile(join(dataDir, 'journal.db'), Number.MAX_SAFE_INTEGER)
  const stream = { streamId, version: 1 } as Parameters<EntryWriter['accepted']>[0]
  const writer = new EntryWriter()
  const nowUs = Date.now() * 1_000
  for (let entry = 0; entry < entries; entry++) {
    const values = `{"humidity":41.2,"pressure":1013.25,"sequence":${entry},"status":"ok","temperature":21.53}`
    const digest = entry.toString(16).padStart(16, '0')
    const reading = { accepted: true as const, values, extra: '', flagged: [], digest }
    writer.accepted(stream, { ...reading, timestampUs: nowUs - entries + entry }, nowUs)
    if (writer.count < entriesPerBatch && entry < entries - 1) continue
    const { bytes, count } = writer.take()
    journal.append(bytes, count)
  }
  const { bytes } = journal.status()
  journal.close()
  return bytes
}
