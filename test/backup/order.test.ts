import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { beginBackup, endOfBackup } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { at } from '../support/seconds.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

/** A new stream with five readings, all of them stored. */
async function newReadings(api: ApiClient, isStoring = true): Promise<string> {
  const streamId = await api.createStream()
  const readings = Array.from({ length: 5 }, (_, second) => ({
    timestamp: at(second),
    temperature: second,
  }))
  const { status } = await api.withToken('POST', `/streams/${streamId}/data`, readings)
  expect(status).toBe(202)
  if (isStoring) await api.settled(streamId, readings.length)
  return streamId
}

async function appears(path: string): Promise<void> {
  await expect.poll(() => existsSync(path)).toBe(true)
}

test('a backup is of the moment between the copies of the time series and of the state', async () => {
  using folder = new TemporaryFolder()
  await using service = await FaultyService.start()
  const { api, faults } = service
  const to = folder.file('backup')
  const before = await newReadings(api)

  // What is written into a file with this path stands still, and the backup with it.
  faults.begin('hold', 'backup/staging/time-series')
  const { backupId } = await beginBackup(api, to)
  await appears(`${to}/staging/time-series.duckdb`)
  const whileCopied = await newReadings(api, false)
  faults.begin('hold', 'backup/staging/state')
  await appears(`${to}/staging/state.db`)
  const afterMoment = await newReadings(api)
  faults.begin('hold', 'backup/journal')
  await appears(`${to}/journal.zst`)
  const whilePacked = await newReadings(api)
  faults.end()

  expect(await endOfBackup(api, backupId)).toMatchObject({ status: 'completed', received: 10 })
  const dataDir = folder.file('restored')
  const words = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
  expect(await streamvaultJson(words)).toMatchObject({ verified: true })
  const restored = new ApiClient((await services.start(dataDir)).http)
  for (const streamId of [before, whileCopied]) {
    await restored.settled(streamId, 5)
    expect(await restored.readAll(streamId)).toHaveLength(5)
  }
  for (const streamId of [afterMoment, whilePacked]) {
    expect(await restored.withToken('GET', `/streams/${streamId}`)).toMatchObject({ status: 404 })
  }
})
