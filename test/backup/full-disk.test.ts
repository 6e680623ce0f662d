import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backUp, beginBackup, endOfBackup } from '../support/backups.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { at } from '../support/seconds.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

let service: FaultyService
let streamId = ''
let pushed = 0

beforeAll(async () => {
  service = await FaultyService.start()
  streamId = await service.api.createStream()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

async function push(): Promise<number> {
  const timestamp = at(pushed++)
  const reading = { timestamp, temperature: pushed }
  return (await service.api.withToken('POST', `/streams/${streamId}/data`, reading)).status
}

describe('a backup that finds its disk full', () => {
  test.each([
    ['while the time series are copied', 'backup/staging/time-series'],
    ['while the state is copied', 'backup/staging/state'],
    ['while the journal is packed', 'backup/journal'],
    ['while the time series are packed', 'backup/time-series'],
    ['at its manifest', 'backup/manifest'],
  ])('%s fails, leaves nothing, and the service goes on', async (_, path) => {
    using folder = new TemporaryFolder()
    const to = folder.file('backup')
    expect(await push()).toBe(202)
    service.faults.begin('enospc', path)

    const { backupId } = await beginBackup(service.api, to)
    const ended = await endOfBackup(service.api, backupId)

    expect(ended).toMatchObject({ status: 'failed', error: expect.stringMatching(/space|full/) })
    expect(existsSync(to)).toBe(false)
    expect(await push()).toBe(202)
    expect((await service.readiness()).status).toBe(200)
    service.faults.end()
    await service.api.settled(streamId, pushed)
    expect(await backUp(service.api, to)).toMatchObject({ received: pushed })
  })
})
