import { afterEach, describe, expect, test } from 'vitest'
import { packetTypes } from '../support/mqtt-bytes.ts'
import { type ListeningClient, mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const listen = mqttClients(() => service.process.mqttPort)
const connections: RawMqttConnection[] = []

afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy()
})

async function connect(person: Person, isClean: boolean): Promise<RawMqttConnection> {
  const { apiKey: username, apiSecret: password } = person.key
  const connection = await RawMqttConnection.open(service.process.mqttPort)
  connections.push(connection)
  connection.send(connectPacket({ clientId: 'boiler', username, password, isClean }))
  await connection.next()
  return connection
}

/** A topic of each kind, and everybody who can hear what comes on it. */
async function audience(person: Person, topic: string): Promise<readonly ListeningClient[]> {
  const clients = [
    await listen(person.key),
    await listen(person.key),
    await listen(person.key, { clientId: 'kept', clean: false }),
  ]
  for (const [qos, client] of clients.entries()) {
    expect(await client.subscribe(topic, qos as 0 | 1 | 2)).toEqual([qos])
  }
  return clients
}

const topics: readonly (readonly [string, (person: Person) => Promise<string>])[] = [
  ['a message', async ({ userId }) => `users/${userId}/commands`],
  ['a reading', async (person) => `streams/${await streamOf(person)}/data`],
]

describe.each(topics)('%s with QoS 2 that is sent twice', (_, topicOf) => {
  test.each([
    ['at once', true, 'one write'],
    ['at once, in a session that is kept', false, 'one write'],
    ['after PUBREC', true, 'two writes'],
    ['after PUBREC, in a session that is kept', false, 'two writes'],
  ] as const)('%s reaches everybody once [MQTT-4.3.3-2]', async (_when, isClean, writes) => {
    const ada = await newPerson(service.api)
    const topic = await topicOf(ada)
    const heard = await audience(ada, topic)
    const device = await connect(ada, isClean)
    const fields = { topic, payload: '{"temperature": 21.5}', packetId: 5, qos: 2 } as const
    const [first, again] = [publishPacket(fields), publishPacket({ ...fields, isDup: true })]

    const answers = []
    if (writes === 'one write') device.send(first, again)
    else {
      device.send(first)
      answers.push(...(await device.next()))
      device.send(again)
    }
    answers.push(...(await device.next(2 - answers.length)))
    // What comes behind it shows that nothing else is on its way.
    const last = { topic, payload: '{"temperature": 99}', packetId: 6, qos: 1 } as const
    device.send(publishPacket(last))

    expect(answers.map(({ type }) => type)).toEqual([packetTypes.pubrec, packetTypes.pubrec])
    for (const { messages } of heard) {
      await expect
        // The exchange of a QoS 2 message may end after a later one of QoS 1 has come.
        .poll(() => messages.map(({ payload }) => payload).toSorted())
        .toEqual([fields.payload, last.payload])
    }
  })
})
