import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { TestFleet } from '../support/fleets.ts'
import { metricsOf } from '../support/metrics.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

/** Versions that a stream can have. */
const versionsMax = 10_000

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api, { foreignTopics: 'ignore' })
  vaultId = await vaultOf(ada)
})

/** How much each figure grows while something is done. */
async function growth(names: readonly string[], deed: () => Promise<void>) {
  const before = await metricsOf(service.process)
  await deed()
  const after = await metricsOf(service.process)
  return Object.fromEntries(names.map((name) => [name, after(name) - before(name)]))
}

test('a stream that has all of its versions is counted as failed, and others get the change', async () => {
  const fleet = await TestFleet.make(ada, vaultId)
  const { mqtt } = await connect(ada.key)
  for (const device of ['full', 'other']) await fleet.publish(mqtt, device, { temperature: 1 })
  const full = await fleet.streamOf('full')
  setVersion(full, versionsMax)

  const grown = await growth(
    ['fleet_streams_changed_total', 'fleet_streams_left_total'],
    async () => {
      const definition = { schema: { humidity: { type: 'number' } } }
      expect((await ada.withToken('PUT', fleet.path, { definition })).status).toBe(200)
      await expect
        .poll(async () => (await fleet.read()).change, { timeout: 20_000 })
        .toEqual({ version: 2, total: 2, done: 1, failed: 1 })
    },
  )

  expect(grown).toEqual({ fleet_streams_changed_total: 1, fleet_streams_left_total: 1 })
  expect(await fleet.devices('status=outdated')).toMatchObject([{ name: 'full', version: 1 }])
  expect(await fleet.device('other')).toMatchObject({ version: 2 })
  const left = await ada.withToken('GET', `/streams/${full}`)
  expect(left.body).toMatchObject({ version: versionsMax, schema: { temperature: {} } })
  expect((left.body as { schema: object }).schema).not.toHaveProperty('humidity')
  // It takes readings by the version that it has, and the way out is a stream that is made again.
  await fleet.publish(mqtt, 'full', { temperature: 2 })
  const renamed = await fleet.act<ErrorBody>('full', 'rename', { name: 'fuller' })
  expect([renamed.status, renamed.body.error]).toEqual([409, 'conflict'])
  await ada.withToken('DELETE', `/streams/${full}`)
  await fleet.publish(mqtt, 'full', { temperature: 3 })
  expect(await fleet.device('full')).toMatchObject({ version: 2 })
  expect((await fleet.read()).change).toBeNull()
})

test('the metrics count streams that first messages make, and messages that a fleet refuses', async () => {
  const fleet = await TestFleet.make(ada, vaultId, { streamsMax: 2 })
  const { mqtt } = await connect(ada.key)

  const grown = await growth(
    [
      'fleet_streams_made_total',
      refused('denied'),
      refused('full'),
      'fleet_devices_cached',
      'fleet_devices_waiting',
    ],
    async () => {
      for (const device of ['a', 'b', 'a', 'c', 'c', 'd']) {
        await fleet.publish(mqtt, device, { temperature: 1 })
      }
      await fleet.act('b', 'deny')
      await fleet.publish(mqtt, 'b', { temperature: 2 })
      await fleet.publish(mqtt, 'b', { temperature: 3 })
    },
  )

  expect(grown).toEqual({
    fleet_streams_made_total: 2,
    [refused('denied')]: 2,
    [refused('full')]: 3,
    fleet_devices_cached: 2,
    fleet_devices_waiting: 0,
  })
})

const refused = (reason: string) => `fleet_messages_refused_total{reason="${reason}"}`

function setVersion(streamId: string, version: number): void {
  using state = new DatabaseSync(join(service.process.dataDir, 'state.db'), { timeout: 10_000 })
  for (const statement of [
    'UPDATE data_streams SET version = ? WHERE id = ?',
    'UPDATE data_stream_versions SET version = ? WHERE stream_id = ?',
  ]) {
    state.prepare(statement).run(version, streamId)
  }
}
