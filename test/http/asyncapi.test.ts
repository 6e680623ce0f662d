import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { complaintsAbout } from '../support/description-linter.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import type { Json } from '../support/openapi-operations.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'

const service = runningService()
const others = startedServices()
let document: Document

interface Document extends Json {
  readonly servers: Readonly<Record<string, { readonly host: string; readonly protocol: string }>>
  readonly channels: Readonly<Record<string, { readonly address?: string }>>
  readonly components: { readonly messages: Readonly<Record<string, Message>> }
}

interface Message {
  readonly contentType: string
  readonly payload?: Json
  readonly examples?: readonly { readonly payload: unknown }[]
}

async function documentAt(http: string): Promise<Document> {
  return (await (await fetch(`${http}/asyncapi.json`)).json()) as Document
}

beforeAll(async () => {
  document = await documentAt(service.process.http)
})

const connect = mqttClients(() => Number(document.servers['mqtt']?.host.split(':').at(-1)))

/** The address of a channel with what stands for its parameters. */
function addressOf(channel: string, values: Readonly<Record<string, string>>): string {
  const address = document.channels[channel]?.address ?? ''
  return address.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

/** Whether a value is as the document says of the payload of a message. */
function fits(name: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'document')
  return ajv.validate({ $ref: `document#/components/messages/${name}/payload` }, value)
}

async function follow(person: Person, streamId: string): Promise<unknown[]> {
  const { host, protocol } = document.servers['webSocket'] ?? {}
  const path = addressOf('tail', { streamId })
  // The public address of a test service has the port that was asked for, and not the one it got.
  expect(host).toMatch(/^127\.0\.0\.1:/)
  const port = new URL(service.process.http).port
  const socket = new WebSocket(`${protocol}://127.0.0.1:${port}${path}?include=quarantined`, [
    'streamvault.v1',
    `bearer.${await person.token()}`,
  ])
  const heard: unknown[] = []
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())))
  await expect.poll(() => heard.length).toBe(1)
  return heard
}

describe('the AsyncAPI document', () => {
  test('passes the linter', async () => {
    expect(await complaintsAbout(JSON.stringify(document))).toBe('')
  })

  test('is held to the specification by the linter', async () => {
    const broken = JSON.stringify(document).replace('"action":"receive"', '"action":"take"')

    expect(await complaintsAbout(broken)).toContain('receive')
  })

  test('has examples that fit their schemas', () => {
    const wrong = Object.entries(document.components.messages).filter(
      ([name, { payload, examples = [] }]) =>
        payload !== undefined && examples.filter((one) => fits(name, one.payload)).length !== 1,
    )

    expect(wrong.map(([name]) => name)).toEqual([])
  })

  test('leads a client to the broker, with a reading and back', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const topic = addressOf('readings', { streamId })
    const client = await connect(ada.key)
    expect(await client.subscribe(topic)).toEqual([1])
    const followed = await follow(ada, streamId)

    const [example] = document.components.messages['readings-json']?.examples ?? []
    await client.mqtt.publishAsync(topic, JSON.stringify(example?.payload), { qos: 1 })
    await client.mqtt.publishAsync(topic, '{"temperature": "hot"}', { qos: 1 })

    await expect.poll(() => client.messages).toMatchObject([{ topic }])
    await expect.poll(() => followed.length).toBe(3)
    const types = ['position', 'reading', 'quarantined']
    expect(followed).toMatchObject(types.map((type) => ({ type })))
    expect(types.filter((name, index) => !fits(name, followed[index]))).toEqual([])
  })

  test('names topics of the space of a user that are granted', async () => {
    const ada = await newPerson(service.api)
    const client = await connect(ada.key)
    const values = { userId: ada.userId, deviceId: 'sv_dev_1', path: '#' }
    const filters = ['userSpace', 'deviceSpace'].map((name) => addressOf(name, values))

    expect(await client.subscribe(filters)).toEqual([1, 1])
  })

  test('says nothing of MQTT where there is none', async () => {
    const { http } = await others.start(others.newFolder(), { STREAMVAULT_MQTT_PORT: '0' })

    const { servers, channels } = await documentAt(http)

    expect(Object.keys(servers)).toEqual(['webSocket'])
    expect(Object.keys(channels)).toEqual(['tail'])
  })
})
