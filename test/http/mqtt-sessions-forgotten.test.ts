import { describe, expect, test } from 'vitest'
import { newDevice, newStreams } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
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
    .poll(() => sessionsOf(ada), { timeout: 10_000 })
    .toMatchObject([{ queuedMessages: 1, subscriptions: 1 }, {}])
  const late = await connect(ada.key)
  await late.subscribe(`streams/${other}/data`)
  await expect.poll(() => late.messages).toMatchObject([{ retain: true }])
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
