import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { metricsOf } from '../support/metrics.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const password = 'hush-hush-very-secret'
const wrongPassword = 'wrong-but-just-as-secret'
const mark = '********'
const topic = 'plants/7'

const ports = [await freePort(), await freePort()]
const [port, otherPort] = ports
const allowed = ports.map((one) => `127.0.0.1:${one}`).join(',')
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: allowed })
const folder = new TemporaryFolder()
let broker: Mosquitto

beforeAll(async () => {
  const passwords = folder.file('passwords')
  execFileSync('mosquitto_passwd', ['-b', '-c', passwords, 'plant', password], { stdio: 'ignore' })
  broker = await Mosquitto.start(['allow_anonymous false', `password_file ${passwords}`], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const credentials = { username: 'plant', password }

function sourceWith(changes: object = {}) {
  return { endpoint: broker.endpoint, topic, credentials, ...changes }
}

interface Definition {
  readonly version: number
  readonly status: string
  readonly source: { readonly credentials?: object }
}

interface Refusal {
  readonly error: string
  readonly details?: readonly { readonly path: string }[]
}

const make = (source: object) => service.api.createStream(undefined, { source })

async function change(streamId: string, source: object) {
  return await service.api.withToken<Definition & Refusal>('PUT', `/streams/${streamId}`, {
    source,
  })
}

async function state(streamId: string, wanted: string) {
  await expect
    .poll(async () => (await service.api.status(streamId))['source'])
    .toMatchObject({ state: wanted })
}

describe('a password of an external broker', () => {
  test('is shown by nothing, and stands in no file and no log', async () => {
    const streamId = await make(sourceWith())
    await state(streamId, 'running')
    const failing = await make(
      sourceWith({ credentials: { ...credentials, password: wrongPassword } }),
    )
    await state(failing, 'failing')
    for (const path of ['', '/versions', '/status']) {
      for (const id of [streamId, failing]) {
        const { body } = await service.api.withToken('GET', `/streams/${id}${path}`)
        expect(JSON.stringify(body)).not.toMatch(/secret/)
      }
    }
    const shown = await service.api.withToken<Definition>('GET', `/streams/${streamId}`)
    expect(shown.body.source.credentials).toEqual({ username: 'plant', password: mark })
    const { dataDir, output } = service.process
    expect(output()).not.toMatch(/secret/)
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    for (const file of files.filter((entry) => entry.isFile())) {
      const bytes = readFileSync(join(file.parentPath, file.name))
      expect(bytes.includes(password), file.name).toBe(false)
    }
  })

  test('is kept by a change that has the mark in its place, or says nothing of it', async () => {
    const streamId = await make(sourceWith())
    const marked = { credentials: { username: 'plant', password: mark } }
    expect((await change(streamId, { ...marked, topic: 'plants/8' })).status).toBe(200)
    await state(streamId, 'running')
    expect((await change(streamId, { topic: 'plants/9' })).status).toBe(200)
    await state(streamId, 'running')
  })

  test('makes a new version when it changes, and none when it is sent again', async () => {
    const streamId = await make(sourceWith())
    expect((await change(streamId, { credentials })).body.version).toBe(1)
    const other = { credentials: { ...credentials, password: wrongPassword } }
    expect((await change(streamId, other)).body.version).toBe(2)
    await state(streamId, 'failing')
    expect(await service.api.status(streamId)).toMatchObject({ status: 'error' })
    expect((await change(streamId, { credentials })).body.version).toBe(3)
    await state(streamId, 'running')
  })

  test('is not sent elsewhere, unless it is sent along', async () => {
    const streamId = await make(sourceWith())
    const endpoint = `mqtt://127.0.0.1:${otherPort}`
    const answer = await change(streamId, { endpoint })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(answer.body.details?.map(({ path }) => path)).toEqual(['source.credentials.password'])
    expect((await change(streamId, { endpoint, credentials })).status).toBe(200)
  })

  test('cannot be a mark where none is kept', async () => {
    const marked = { credentials: { username: 'plant', password: mark } }
    await expect(make(sourceWith(marked))).rejects.toThrow('source.credentials.password')
    const streamId = await make(sourceWith())
    expect((await change(streamId, { credentials: null })).status).toBe(200)
    expect((await change(streamId, marked)).status).toBe(400)
  })
})

describe('a destination in the network of the operator', () => {
  test.each(['mqtt://127.0.0.1:1', 'mqtts://[::1]:1', 'ws://169.254.169.254', 'wss://10.0.0.1'])(
    '%s is refused when a stream is made, and when it is changed',
    async (endpoint) => {
      await expect(make({ endpoint, topic })).rejects.toThrow('destination_not_allowed')
      const streamId = await make(sourceWith())
      expect(await change(streamId, { endpoint, credentials: null })).toMatchObject({
        status: 422,
        body: { error: 'destination_not_allowed' },
      })
    },
  )
})

describe('a stream with an external broker', () => {
  test('fetches nothing while it is paused, and then what has come meanwhile', async () => {
    const streamId = await make(sourceWith())
    await state(streamId, 'running')
    await service.api.withToken('POST', `/streams/${streamId}/pause`)
    await state(streamId, 'paused')
    await publish(7)
    await service.api.withToken('POST', `/streams/${streamId}/resume`)
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toMatchObject([{ temperature: 7 }])
  })

  test('leaves no session behind when it is deleted', async () => {
    const streamId = await make(sourceWith())
    await state(streamId, 'running')
    await service.api.withToken('DELETE', `/streams/${streamId}`)
    const clientId = `streamvault-${streamId}`
    // The connection that fetched, and the one that had the session forgotten.
    await expect.poll(() => endedSessions().filter((one) => one === clientId)).toHaveLength(2)
    const options = { username: 'plant', password, clean: false, clientId }
    const client = connect(broker.endpoint, options)
    const isPresent = await new Promise((resolve) => {
      client.once('connect', ({ sessionPresent }) => resolve(sessionPresent))
    })
    await client.endAsync()
    expect(isPresent).toBe(false)
  })

  test('is left alone when its owner is deleted', async () => {
    const ada = await newPerson(service.api)
    const template = { name: 'boiler', hint: 'a boiler', required_streams: [] }
    const made = await ada.withKey<{ id: string }>('POST', '/templates', template)
    const ofTemplate = { template_id: made.body.id, name: 'boiler 7' }
    const vault = await ada.withKey<{ id: string }>('POST', '/vaults', ofTemplate)
    const stream = await ada.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'temperature',
      vaultId: vault.body.id,
      type: 'iot_sensor',
      schema: { temperature: { type: 'number' } },
      source: sourceWith(),
    })
    const clientId = `streamvault-${stream.body.streamId}`
    await expect.poll(() => broker.log().join()).toContain(`SUBSCRIBE from ${clientId}`)
    await service.api.withKey('DELETE', `/users/${ada.userId}`)
    await expect.poll(() => endedSessions().filter((one) => one === clientId)).toHaveLength(2)
  })

  test('is in the metrics', async () => {
    const metric = await metricsOf(service.process)
    expect(metric('sources_running')).toBeGreaterThanOrEqual(1)
    expect(metric('source_messages_total')).toBeGreaterThanOrEqual(1)
  })
})

async function publish(value: number): Promise<void> {
  const client = await broker.client({ username: 'plant', password })
  await client.publishAsync(topic, JSON.stringify({ temperature: value }), { qos: 1 })
  await client.endAsync()
}

function endedSessions(): readonly string[] {
  return broker.log().flatMap((line) => /Received DISCONNECT from (\S+)/.exec(line)?.[1] ?? [])
}
