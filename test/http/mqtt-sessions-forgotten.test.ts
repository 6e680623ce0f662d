import { describe, expect, test } from 'vitest'
import { newDevice, newStreams } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

interface ShownSession {
  readonly clientId: string
  readonly deviceId: string | null
  readonly queuedMessages: number
}

async function sessionsOf(person: Person): Promise<readonly ShownSession[]> {
  return (await person.withToken<ShownSession[]>('GET', '/mqtt/sessions')).body
}

test('of a deleted stream nothing is kept for subscribers, and of others everything is', async () => {
  const ada = await newPerson(service.api)
  const [deleted, other] = [await streamOf(ada), await streamOf(ada)]
  const away = await connect(ada.key, { clientId: 'away', clean: false })
  for (const id of [deleted, other]) await away.subscribe(`streams/${id}/data`)
  await away.mqtt.endAsync()
  const device = await connect(ada.key, { clientId: 'device' })
  for (const id of [deleted, other]) {
    const options = { qos: 1, retain: true } as const
    await device.mqtt.publishAsync(`streams/${id}/data`, '{"temperature": 21.5}', options)
  }
  await expect.poll(() => sessionsOf(ada)).toMatchObject([{ queuedMessages: 2 }, {}])

  expect((await ada.withToken('DELETE', `/streams/${deleted}`)).status).toBe(204)

  await expect
    .poll(() => sessionsOf(ada))
    .toMatchObject([{ queuedMessages: 1, subscriptions: 1 }, {}])
  const late = await connect(ada.key)
  await late.subscribe(`streams/${other}/data`)
  await expect.poll(() => late.messages).toMatchObject([{ retain: true }])
})

/** A stream that takes what comes on a topic. */
async function streamOn(person: Person, topic: string): Promise<string> {
  const { body } = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: await vaultOf(person),
    type: 'iot_sensor',
    source: { topic },
    schema: { temperature: { type: 'number' } },
  })
  return body.streamId
}

test('of a topic that no stream takes any more nothing is kept, and of others everything is', async () => {
  const ada = await newPerson(service.api)
  const [deleted] = [await streamOn(ada, 'factory/+'), await streamOn(ada, 'factory/hall-3')]
  const space = `users/${ada.userId}/commands`
  const topics = ['factory/hall-3', 'factory/hall-4', space]
  const away = await connect(ada.key, { clientId: 'away', clean: false })
  await away.subscribe(topics)
  await away.mqtt.endAsync()
  const device = await connect(ada.key, { clientId: 'device' })
  for (const topic of topics) {
    await device.mqtt.publishAsync(topic, '{"temperature": 21.5}', { qos: 1, retain: true })
  }
  const waiting = async () => (await sessionsOf(ada))[0]?.queuedMessages
  await expect.poll(waiting).toBe(3)

  expect((await ada.withToken('DELETE', `/streams/${deleted}`)).status).toBe(204)

  await expect.poll(waiting).toBe(2)
  // What was retained is found by whoever has another stream for the topic later.
  await streamOn(ada, 'factory/#')
  const late = await connect(ada.key)
  await late.subscribe(topics)
  const wanted = ['factory/hall-3', space]
  await expect.poll(() => late.messages.map(({ topic }) => topic).toSorted()).toEqual(wanted)
})

describe('the session of a device', () => {
  test.each([
    ['is deleted', 'DELETE', '', 0],
    ['is revoked', 'POST', '/revoke', 0],
    ['gets a new secret', 'POST', '/rotate', 1],
  ])('that %s', async (_, method, path, left) => {
    const ada = await newPerson(service.api)
    const { streamIds } = await newStreams(ada)
    const [device, another] = [
      await newDevice(ada, { streamIds }),
      await newDevice(ada, { streamIds }),
    ]
    for (const one of [device, another]) {
      const client = await connect(one, { clientId: 'boiler', clean: false })
      await client.mqtt.endAsync()
    }

    const body = path === '/rotate' ? { overlapSeconds: 0 } : undefined
    const answer = await ada.withToken(method, `/devices/${device.id}${path}`, body)

    expect(answer.status).toBeLessThan(300)
    const ofDevice = async () =>
      (await sessionsOf(ada)).filter(({ deviceId }) => deviceId === device.id).length
    await expect.poll(ofDevice).toBe(left)
    expect(await sessionsOf(ada)).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ deviceId: another.id })]) as object,
    )
  })
})
