import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { fleetOf, type ShownFleet, type ShownFleetDevice } from '../support/fleets.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

const environment = () => settingsOf(service.process.dataDir)
const json = <Result>(...words: readonly string[]) => streamvaultJson<Result>(words, environment())
const run = (...words: readonly string[]) => streamvault(words, environment())

let folder: TemporaryFolder
let vaultId = ''

beforeAll(async () => {
  folder = new TemporaryFolder()
  vaultId = await service.api.createVault()
  return () => folder[Symbol.dispose]()
})

function fileOf(body: object): string {
  const path = `${folder.path}/body.json`
  writeFileSync(path, JSON.stringify(body))
  return path
}

async function newFleet(): Promise<ShownFleet> {
  return await json<ShownFleet>('fleets', 'create', '--file', fileOf(fleetOf(vaultId)))
}

async function send(fleetId: string, device: string): Promise<void> {
  const path = `/fleets/${fleetId}/devices/${device}/data`
  const { status } = await service.api.withKey('POST', path, { temperature: 1 })
  expect(status).toBe(202)
}

const namesOf = (devices: readonly ShownFleetDevice[]) => devices.map(({ name }) => name)

test('fleets are created from a file, listed, shown, changed and deleted', async () => {
  const { fleetId, name } = await newFleet()
  await send(fleetId, 'plug-1')

  const listed = await json<readonly ShownFleet[]>('fleets', 'list', '--vault', vaultId)
  const change = fileOf({ definition: { schema: { humidity: { type: 'number' } } } })
  const changed = await json('fleets', 'update', fleetId, '--file', change, '--if-version', '1')
  const late = await run('fleets', 'update', fleetId, '--file', change, '--if-version', '1')

  expect(listed.map((fleet) => fleet.fleetId)).toContain(fleetId)
  expect(changed).toMatchObject({ fleetId, name, version: 2 })
  expect(late.code).toBe(1)
  await expect
    .poll(async () => (await run('fleets', 'get', fleetId)).stdout)
    .toMatch(/^streams +1 of at most 10000\nversion +2\nchange +-$/m)
  expect(await json('fleets', 'delete', fleetId)).toMatchObject({ fleetId, deleted: true })
  expect((await run('fleets', 'get', fleetId)).stderr).toContain('GET /fleets')
})

test('the streams of a fleet are deleted with it where that is said', async () => {
  const { fleetId } = await newFleet()
  await send(fleetId, 'a')
  const [device] = await json<readonly ShownFleetDevice[]>('fleets', 'devices', fleetId)

  await json('fleets', 'delete', fleetId, '--with-streams')

  const path = `/streams/${device?.streamId}`
  await expect.poll(async () => (await service.api.withToken('GET', path)).status).toBe(404)
})

test('devices are listed, renamed, denied and allowed', async () => {
  const { fleetId } = await newFleet()
  for (const device of ['a', 'b']) await send(fleetId, device)
  const find = async (...words: readonly string[]) =>
    namesOf(await json<readonly ShownFleetDevice[]>('fleets', 'devices', fleetId, ...words))

  const renamed = await json('fleets', 'rename', fleetId, 'a', '--to', 'c d')
  const denied = await run('fleets', 'deny', fleetId, 'c d')

  expect(renamed).toMatchObject({ name: 'c d', version: 1 })
  expect(denied.stdout).toMatch(/^device +c d$[^]*^denied +yes$/m)
  expect(await find()).toEqual(['b', 'c d'])
  expect(await find('--status', 'denied')).toEqual(['c d'])
  expect(await find('--silent', '1h')).toEqual([])
  await expect.poll(async () => await find('--silent', '1s'), { timeout: 10_000 }).toHaveLength(2)
  expect(await json('fleets', 'allow', fleetId, 'c d')).toMatchObject({ denied: false })
  expect(await find('--status', 'active')).toEqual(['b', 'c d'])
})
