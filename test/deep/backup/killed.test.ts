import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { type BackupAnswer, backUp, beginBackup } from '../../support/backups.ts'
import { DistinctLoad } from '../../support/distinct-load.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const services = startedServices()

/** Kills come at any time of a backup, which takes about so long. */
const backupMs = 400

test('a service that is killed during a backup leaves no manifest, and goes on as if there was none', async () => {
  using folder = new TemporaryFolder()
  const random = new SeededRandom(7)
  const dataDir = services.newFolder()
  let process = await services.start(dataDir)
  let api = new ApiClient(process.http)
  const streamId = await api.createStream()
  let cutOff = 0
  let received = 0
  for (let round = 0; round < 4; round++) {
    const load = new DistinctLoad(api, streamId)
    await load.send()
    received += load.sent
    const { backupId, to } = await beginBackup(api, folder.file(`backup-${round}`))
    await sleep(random.integer(0, backupMs))
    await process.end('SIGKILL')
    const isComplete = existsSync(`${to}/manifest.json`)

    process = await services.start(dataDir)
    api = new ApiClient(process.http)
    const { body } = await api.withToken<BackupAnswer>('GET', `/backups/${backupId}`)
    if (!isComplete) {
      cutOff++
      expect(body).toMatchObject({ status: 'failed', error: 'the service was stopped' })
    }
    const counters = await api.settled(streamId, received)
    expect(counters).toMatchObject({ received, stored: 20, pending: 0 })
  }
  expect(cutOff).toBeGreaterThan(0)
  expect(readdirSync(dataDir)).not.toContain('backup-staging')
  await backUp(api, folder.file('whole'))
})
