import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { fillMonth, fullMonthSchema, lateOfMonth, newestOfMonth } from '../support/full-month.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

test('a backup with late readings that nobody has looked up is found to be whole', async () => {
  using folder = new TemporaryFolder()
  const dataDir = services.newFolder()
  await fillMonth(dataDir)
  const original = await services.start(dataDir)
  const api = new ApiClient(original.http)
  const streamId = await api.createStream(fullMonthSchema)
  await api.withToken('POST', `/streams/${streamId}/data`, newestOfMonth)
  await api.settled(streamId, 1)
  // They come while it is being made: some of them are in its copy, or in its part of the journal.
  const isOver = new AbortController()
  const coming = (async () => {
    for (let round = 0; !isOver.signal.aborted; round++) {
      const readings = lateOfMonth.map((reading) => ({ ...reading, temperature: round }))
      await api.withToken('POST', `/streams/${streamId}/data`, readings)
    }
  })()
  const { to } = await backUp(api, folder.file('backup'))
  isOver.abort()
  await coming
  await original.end('SIGTERM')

  const words = ['restore', '--from', to, '--data-dir', folder.file('restored'), '--verify']
  const { verified } = await streamvaultJson<{ verified: boolean }>(words)
  expect(verified).toBe(true)
})
