import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { BusyOwner } from '../support/busy-owner.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

test('a backup of any moment of a busy service is consistent in itself', async () => {
  using folder = new TemporaryFolder()
  const random = new SeededRandom(20_260_131)
  const api = new ApiClient((await services.start(services.newFolder())).http)
  const owners = [1, 2, 3].map(async () => new BusyOwner(api, random, await api.createVault()))
  const busy = await Promise.all(owners)
  for (const owner of busy) owner.start()
  let received = 0
  try {
    for (let round = 0; round < 4; round++) {
      // Any moment will do: what is under way then is what this is about.
      await sleep(random.integer(0, 500))
      const backup = await backUp(api, folder.file(`backup-${round}`))
      const dataDir = folder.file('restored')
      const words = ['restore', '--from', backup.to, '--data-dir', dataDir, '--verify']
      expect(await streamvaultJson(words)).toMatchObject({ verified: true })
      received = Math.max(received, backup.received ?? 0)
      rmSync(dataDir, { recursive: true })
    }
  } finally {
    for (const owner of busy) await owner.stop()
  }
  expect(received).toBeGreaterThan(0)
})
