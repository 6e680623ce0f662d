import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newDevice } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { createKey, newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

async function droppedOf(person: Person, path: string): Promise<unknown> {
  return (await person.withToken<{ droppedPublishes: number }>('GET', path)).body.droppedPublishes
}

test('messages to nothing of the user are counted under the key that they came with', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  const other = await createKey(service.api, { userId: ada.userId })
  const client = await connect(ada.key)
  const foreign = await streamOf(bob)

  for (const id of [randomUUID(), foreign, foreign]) {
    await client.mqtt.publishAsync(`streams/${id}/data`, '{"temperature": 1}', { qos: 1 })
  }
  await client.mqtt.publishAsync(`streams/${await streamOf(ada)}/data`, '{}', { qos: 1 })

  expect(await droppedOf(ada, `/keys/${ada.key.apiKey}`)).toBe(3)
  expect(await droppedOf(ada, `/keys/${other.apiKey}`)).toBe(0)
  const { body } = await ada.withToken<{ apiKey: string; droppedPublishes: number }[]>(
    'GET',
    '/keys',
  )
  expect(body.map((key) => key.droppedPublishes).toSorted((few, many) => few - many)).toEqual([
    0, 3,
  ])
})

test('and under the device', async () => {
  const ada = await newPerson(service.api)
  const [own, another] = [await streamOf(ada), await streamOf(ada)]
  const device = await newDevice(ada, { streamIds: [own] })
  const client = await connect(device)

  await client.mqtt.publishAsync(`streams/${another}/data`, '{"temperature": 1}', { qos: 1 })

  expect(await droppedOf(ada, `/devices/${device.id}`)).toBe(1)
  const { body } = await ada.withToken<object[]>('GET', '/devices')
  expect(body).toMatchObject([{ droppedPublishes: 1 }])
})
