import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { createKey, createUser, personOf, streamOf } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

test('what was acknowledged before a backup is there exactly once after a restore elsewhere', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const api = new ApiClient(original.http)
  const streamId = await api.createStream()
  const load = new DistinctLoad(api, streamId)
  await load.send()
  load.start()
  const before = new Set(load.acknowledged)
  const backup = await backUp(api, folder.file('backup'))
  await load.stop()
  await original.end('SIGKILL')

  const dataDir = folder.file('restored')
  const words = ['restore', '--from', backup.to, '--data-dir', dataDir, '--verify']
  const { verified } = await streamvaultJson<{ verified: boolean }>(words)
  expect(verified).toBe(true)
  const restored = new ApiClient((await services.start(dataDir)).http)
  const counters = await restored.settled(streamId)
  expect(counters).toMatchObject({ received: backup.received, duplicates: 0, pending: 0 })

  const numbers = (await restored.readAll(streamId)).map(({ temperature }) => Number(temperature))
  expect(counters.stored).toBe(numbers.length)
  // In the order of their times, without a gap: one sender sends one after the other.
  expect(numbers).toEqual(Array.from(numbers, (_, index) => index))
  expect(numbers.length).toBeGreaterThanOrEqual(before.size)
  expect(numbers.length).toBeLessThanOrEqual(load.sent)

  await new DistinctLoad(restored, streamId).send()
  const after = await restored.settled(streamId, counters.received + 20)
  expect(after).toMatchObject({ stored: counters.stored, duplicates: 20 })
})

test('users, keys and streams are those of the backup, and the service goes on', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const api = new ApiClient(original.http)
  const person = personOf(api, await createKey(api, { userId: await createUser(api) }))
  const streamId = await streamOf(person)
  const { to } = await backUp(api, folder.file('backup'))
  await original.end('SIGTERM')

  await streamvaultJson(['restore', '--from', to, '--data-dir', folder.file('restored')])
  const restored = new ApiClient((await services.start(folder.file('restored'))).http)
  const again = personOf(restored, person.key)
  const streams = await again.withToken<{ streamId: string }[]>('GET', '/streams')
  expect(streams.body.map((stream) => stream.streamId)).toEqual([streamId])
  const sent = { timestamp: '2026-01-31T00:00:00Z', temperature: 1 }
  expect((await again.withToken('POST', `/streams/${streamId}/data`, sent)).status).toBe(202)
  expect(existsSync(join(folder.file('restored'), 'master.key'))).toBe(true)
})
