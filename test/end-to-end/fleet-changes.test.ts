import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type ShownFleet, storedIn, TestFleet } from '../support/fleets.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, personOf, vaultOf } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()
let port = 0
const connect = mqttClients(() => port)

interface Stored {
  readonly n: number
  readonly judgedBy?: number
}

const schema = { n: { type: 'integer' } }

/** A definition whose readings say which version has judged them. */
function versionedBy(version: number): object {
  const derive = { field: 'judgedBy', type: 'integer', expression: String(version) }
  return { processing: { transform: [{ derive }] } }
}

async function started(folder: string) {
  const service = await services.start(folder)
  port = service.mqttPort
  return { service, api: new ApiClient(service.http) }
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `device-${index}`)
}

async function publishAll(
  fleet: TestFleet,
  mqtt: MqttClient,
  devices: readonly string[],
  n: number,
): Promise<void> {
  await Promise.all(devices.map((device) => fleet.publish(mqtt, device, { n })))
}

async function readAll(person: Person, streamId: string): Promise<readonly Stored[]> {
  const path = `/streams/${streamId}/data?limit=1000&order=asc`
  return (await person.withToken<{ readonly data: readonly Stored[] }>('GET', path)).body.data
}

test('each reading is judged by a version in force while the definition changes, and none is lost', async () => {
  const { api } = await started(services.newFolder())
  const ada = await newPerson(api)
  const fleet = await TestFleet.make(ada, await vaultOf(ada), {
    definition: { type: 'iot_sensor', source: { topic: 'f/{device}' }, schema, ...versionedBy(1) },
  })
  const { mqtt } = await connect(ada.key)
  const devices = names(250)
  await publishAll(fleet, mqtt, devices, 0)

  let rounds = 1
  const changes = new AbortController()
  const sending = (async () => {
    for (; !changes.signal.aborted || rounds < 5; rounds++) {
      await publishAll(fleet, mqtt, devices, rounds)
    }
  })()
  for (const version of [2, 3]) {
    await ada.withToken('PUT', fleet.path, { definition: versionedBy(version) })
    await fleet.settled()
  }
  changes.abort()
  await sending
  await publishAll(fleet, mqtt, devices, rounds++)

  for (const { name, streamId, version } of await fleet.devices('limit=1000')) {
    expect(version).toBe(3)
    if (Number(name.split('-')[1]) % 25 !== 0) continue
    await storedIn(ada, streamId ?? '', rounds)
    const readings = await readAll(ada, streamId ?? '')
    const inOrder = readings.toSorted((left, right) => left.n - right.n)
    expect(inOrder.map(({ n }) => n)).toEqual(Array.from({ length: rounds }, (_, n) => n))
    const judges = inOrder.map(({ judgedBy = 0 }) => judgedBy)
    expect(judges).toEqual(judges.toSorted((left, right) => left - right))
    expect(new Set([1, 2, 3, ...judges]).size).toBe(3)
    expect(judges.at(-1)).toBe(3)
  }
})

test('a kill in the middle of a change leaves no stream behind, and none that has two versions more', async () => {
  const folder = services.newFolder()
  const { service, api } = await started(folder)
  const ada = await newPerson(api)
  const fleet = await TestFleet.make(ada, await vaultOf(ada), {
    definition: { type: 'iot_sensor', source: { topic: 'f/{device}' }, schema },
  })
  const { mqtt } = await connect(ada.key)
  const devices = names(2_000)
  await publishAll(fleet, mqtt, devices, 0)

  await ada.withToken('PUT', fleet.path, { definition: { schema: { m: { type: 'integer' } } } })
  let change: ShownFleet['change'] = null
  for (;;) {
    change = (await fleet.read()).change
    if (change === null || change.done > 0) break
    await sleep(5)
  }
  await service.end('SIGKILL')

  expect(change).toMatchObject({ version: 2, total: 2_000, failed: 0 })
  expect(change?.done).toBeLessThan(2_000)
  const again = await services.start(folder)
  port = again.mqttPort
  const later = new ApiClient(again.http)
  const person = personOf(later, ada.key)
  const resumed = new TestFleet(
    person,
    (await person.withToken<ShownFleet>('GET', fleet.path)).body,
  )
  await resumed.settled()
  const seenDevices = await resumed.devices('limit=1000')
  expect(seenDevices).toHaveLength(2_000)
  expect(new Set(seenDevices.map(({ version }) => version))).toEqual(new Set([2]))
  for (const { streamId } of seenDevices.filter((_, index) => index % 40 === 0)) {
    const { body } = await person.withToken<{ version: number; schema: object }>(
      'GET',
      `/streams/${streamId}`,
    )
    expect(body).toMatchObject({ version: 2, schema: { ...schema, m: { type: 'integer' } } })
  }
})
