import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { settingsOf, streamvaultJson } from '../../support/command-line.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { foundIn } from '../../support/left-by-a-kill.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

interface Made {
  readonly id: string
  readonly streamId: string
}

async function newTemplate(api: ApiClient, name: string): Promise<string> {
  const body = { name, hint: '', required_streams: [] }
  return (await api.withKey<Made>('POST', '/templates', body)).body.id
}

async function newServiceStream(api: ApiClient): Promise<string> {
  const vault = { template_id: await newTemplate(api, 'boiler'), name: 'boiler 7' }
  const { id: vaultId } = (await api.withKey<Made>('POST', '/vaults', vault)).body
  const body = { name: 'changes', vaultId, type: 'service' }
  return (await api.withToken<Made>('POST', '/streams', body)).body.streamId
}

/** The names that the events of a stream carry, once there are so many. */
async function names(api: ApiClient, streamId: string, atLeast: number): Promise<unknown[]> {
  await api.settled(streamId, atLeast)
  return (await api.readAll(streamId)).map(({ name }) => name)
}

const pending = '(SELECT count(*) FROM lifecycle_events)'
const journalled = '(SELECT max(first_offset + entries) FROM batches)'

test('an event whose change was answered survives a kill before it is journalled', async () => {
  await using service = await FaultyService.start()
  const streamId = await newServiceStream(service.api)
  await names(service.api, streamId, 1)
  service.faults.begin('hold', 'journal.db')
  await newTemplate(service.api, 'pump')
  await service.kill()
  expect(foundIn(service.dataDir, 'state.db', pending)).toBe(1)

  await service.restart()

  expect(await names(service.api, streamId, 2)).toEqual(['changes', 'pump'])
})

test('an event that was journalled when the kill came is there once', async () => {
  await using service = await FaultyService.start()
  const streamId = await newServiceStream(service.api)
  await names(service.api, streamId, 1)
  const before = foundIn(service.dataDir, 'journal.db', journalled)
  service.faults.begin('hold', 'journal.db')
  await newTemplate(service.api, 'pump')
  // From here on nothing can be taken out of the outbox, and what is in it reaches the journal.
  service.faults.begin('hold', 'state.db')
  await service.until(
    'the event is in the journal',
    async () => foundIn(service.dataDir, 'journal.db', journalled) === before + 1,
  )
  await service.kill()
  expect(foundIn(service.dataDir, 'state.db', pending)).toBe(1)

  await service.restart()

  expect(await names(service.api, streamId, 3)).toEqual(['changes', 'pump'])
  expect(await service.api.settled(streamId, 3)).toMatchObject({
    received: 3,
    stored: 2,
    duplicates: 1,
  })
})

test('kills at any moment lose no event, double none, and leave them in order', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_261_121)
  let process = await services.start(dataDir)
  let api = new ApiClient(process.http)
  const streamId = await newServiceStream(api)
  const expected = ['changes']

  for (let round = 0; round < 8; round++) {
    for (let changes = random.integer(1, 30); changes > 0; changes--) {
      const name = `template ${expected.length}`
      await newTemplate(api, name)
      expected.push(name)
    }
    await process.end('SIGKILL')
    process = await services.start(dataDir)
    api = new ApiClient(process.http)
  }

  // Some were received twice: there may be enough of them before the last one comes.
  const isLastStored = async () => (await api.status(streamId)).counters.stored >= expected.length
  await expect.poll(isLastStored).toBe(true)
  expect(await names(api, streamId, expected.length)).toEqual(expected)
  const { received, stored, duplicates } = await api.settled(streamId, expected.length)
  expect([stored, received]).toEqual([expected.length, expected.length + duplicates])
})

test('what is changed while no service runs is told when one does', async () => {
  const dataDir = services.newFolder()
  const process = await services.start(dataDir)
  const api = new ApiClient(process.http)
  const streamId = await newServiceStream(api)
  await names(api, streamId, 1)
  await process.end('SIGTERM')

  const key = await streamvaultJson<{ apiKey: string }>(
    ['keys', 'create', '--user', 'admin', '--name', 'gateway', '--permission', 'read_only'],
    settingsOf(dataDir),
  )

  const again = new ApiClient((await services.start(dataDir)).http)
  await again.settled(streamId, 2)
  expect((await again.readAll(streamId)).at(-1)).toMatchObject({
    event: 'key.created',
    resourceId: key.apiKey,
    name: 'gateway',
  })
})
