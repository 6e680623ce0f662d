import { expect, test } from 'vitest'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { downloaded, storedAttachment } from '../support/kept-files.ts'
import { makeOlder } from '../support/older-backup.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

const before = Object.keys(migrations).filter((name) => name < '0044')

test('a backup of before there were files of users is whole, and restores', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const api = new ApiClient(original.http)
  const streamId = await api.createStream()
  await new DistinctLoad(api, streamId).send()
  await api.settled(streamId, 20)
  const { to } = await backUp(api, folder.file('backup'))
  await original.end('SIGTERM')
  await makeOlder(to, before)

  await streamvaultJson(['backup', 'verify', '--from', to])
  const dataDir = folder.file('restored')
  const words = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
  expect(await streamvaultJson(words)).toMatchObject({ verified: true, manifest: { format: 1 } })

  const restored = new ApiClient((await services.start(dataDir)).http)
  expect(await restored.settled(streamId)).toMatchObject({ received: 20, stored: 20 })
  const { id } = await storedAttachment(restored, 'new')
  expect((await downloaded(restored, `/attachments/${id}/content`)).toString()).toBe('new')
})
