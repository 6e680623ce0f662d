import { describe, expect, test } from 'vitest'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

interface Refused {
  readonly topic: string | null
  readonly payload: string
}

async function topicsInQuarantine(person: Person, streamId: string): Promise<string[]> {
  const path = `/streams/${streamId}/quarantine`
  const { body } = await person.withToken<{ entries: Refused[] }>('GET', path)
  return body.entries.map(({ topic, payload }) => `${payload} on ${topic}`).toSorted()
}

async function streamOn(person: Person, filter: string): Promise<string> {
  const { body } = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: await vaultOf(person),
    type: 'iot_sensor',
    source: { topic: filter },
    schema: { temperature: { type: 'number' } },
  })
  return body.streamId
}

/** Sends a broken reading in every way there is, and leaves one as a will. */
async function sendBroken(person: Person, topic: string): Promise<void> {
  const will = { topic, payload: Buffer.from('will'), qos: 1, retain: false } as const
  const { mqtt } = await connect(person.key, { will })
  for (const qos of [0, 1, 2] as const) await mqtt.publishAsync(topic, `qos ${qos}`, { qos })
  mqtt.stream.destroy()
}

function expected(topic: string): readonly string[] {
  return ['qos 0', 'qos 1', 'qos 2', 'will'].map((payload) => `${payload} on ${topic}`)
}

describe('the quarantine names the topic of what came to our own broker', () => {
  test('on that of the stream itself', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)

    await sendBroken(ada, `streams/${streamId}/data`)

    await expect
      .poll(() => topicsInQuarantine(ada, streamId))
      .toEqual(expected(`streams/${streamId}/data`))
  })

  test('on one that was given to it, and to another stream', async () => {
    const ada = await newPerson(service.api)
    const ids = [await streamOn(ada, 'hall/+/temp'), await streamOn(ada, 'hall/#')]

    await sendBroken(ada, 'hall/3/temp')

    for (const id of ids) {
      await expect.poll(() => topicsInQuarantine(ada, id)).toEqual(expected('hall/3/temp'))
    }
  })
})
