import type { MqttClient } from 'mqtt'
import { expect } from 'vitest'
import type { ListeningClient } from './mqtt-clients.ts'
import { type MadeKey, newPerson, type Person, received, vaultOf } from './people.ts'
import type { RunningService } from './running-service.ts'

/** A message as firmware publishes it. */
export type Said = readonly [
  topic: string,
  payload: string,
  options?: { readonly qos?: 0 | 1 | 2; readonly retain?: boolean },
]

/** What a firmware says to a broker that it knows nothing of, in its order. */
export interface FirmwareScript {
  readonly clientId: string
  readonly clean: boolean
  readonly will: Said
  readonly subscriptions: readonly (readonly [filter: string, qos: 0 | 1 | 2])[]
  /** After it has connected, before and after it subscribes. */
  readonly says: readonly Said[]
  /** What its owner wants: a topic of a stream, the definition of that, and what is sent to it. */
  readonly readings: {
    readonly topic: string
    readonly source?: object
    readonly schema: object
    readonly payloads: readonly string[]
    readonly stored: readonly object[]
  }
}

type Connect = (
  key: Pick<MadeKey, 'apiKey' | 'apiSecret'>,
  options: object,
) => Promise<ListeningClient>

interface Unrouted {
  readonly topic: string
  readonly count: number
  readonly example: { readonly payload: string; readonly bytes: number }
}

/** Messages to topics of no stream in a minute: five times of what ends a connection otherwise. */
const foreignMessages = 500

/** Somebody with a key that ignores what is not their own, and a stream on the topic of a script. */
export async function ownerOf(
  service: RunningService,
  { readings }: FirmwareScript,
): Promise<{ readonly owner: Person; readonly streamId: string }> {
  const owner = await newPerson(service.api, { foreignTopics: 'ignore' })
  const made = await owner.withToken<{ streamId: string }>('POST', '/streams', {
    name: readings.topic,
    vaultId: await vaultOf(owner),
    type: 'iot_sensor',
    source: { topic: readings.topic, ...readings.source },
    schema: readings.schema,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return { owner, streamId: made.body.streamId }
}

/**
 * Plays a script, and holds the service to what its owner expects: it connects as it is, keeps its connection whatever
 * it says, its readings are stored, the rest is shown, and nothing of it comes back.
 */
export async function converse(
  service: RunningService,
  connect: Connect,
  script: FirmwareScript,
): Promise<void> {
  const { owner, streamId } = await ownerOf(service, script)
  const { clientId, clean, subscriptions, says, readings } = script
  const [topic, payload, options = {}] = script.will
  const will = { topic, payload: Buffer.from(payload), qos: 0, retain: false, ...options }
  const client = await connect(owner.key, { clientId, clean, will })

  await say(client.mqtt, says)
  for (const [filter, qos] of subscriptions) {
    expect(await client.subscribe(filter, qos), filter).toEqual([qos])
  }
  const foreign = says.map(([name]) => name)
  for (let sent = 0; sent < foreignMessages; sent++) {
    await client.mqtt.publishAsync(foreign[sent % foreign.length] ?? '', `${sent}`, { qos: 0 })
  }
  for (const one of readings.payloads) {
    await client.mqtt.publishAsync(readings.topic, one, { qos: 0 })
  }

  await expect.poll(() => received(owner, streamId)).toBe(readings.payloads.length)
  expect(client.mqtt.connected).toBe(true)
  expect(client.messages).toEqual([])
  const stored = async () => {
    const path = `/streams/${streamId}/data`
    return (await owner.withToken<{ data: object[] }>('GET', path)).body.data
  }
  await expect.poll(stored).toMatchObject(readings.stored)
  await expectShown(owner, foreign)
  client.mqtt.stream.destroy()
  await expectShown(owner, [...foreign, topic])
  await expectNothingKept(owner, clientId)
}

async function say(client: MqttClient, said: readonly Said[]): Promise<void> {
  for (const [topic, payload, { qos = 0, retain = false } = {}] of said) {
    await client.publishAsync(topic, payload, { qos, retain })
  }
}

async function expectShown(owner: Person, topics: readonly string[]): Promise<void> {
  const shown = async () => {
    const { body } = await owner.withToken<Unrouted[]>('GET', '/mqtt/unrouted?limit=1000')
    return body.map((one) => one.topic).toSorted()
  }
  await expect.poll(shown).toEqual([...new Set(topics)].toSorted())
}

/** A session that is kept has no filter of what leads nowhere. */
async function expectNothingKept(owner: Person, clientId: string): Promise<void> {
  const session = await owner.withToken<{ filters?: unknown }>('GET', `/mqtt/sessions/${clientId}`)
  if (session.status === 200) expect(session.body.filters).toEqual([])
}
