import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const password = 'hush-hush-very-secret'
const [port, silentPort] = [await freePort(), await freePort()]
const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port},127.0.0.1:${silentPort}`,
})
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

interface Check {
  readonly reached: boolean
  readonly problem?: string
  readonly messages: number
  readonly samples: readonly { readonly payload: string }[]
  readonly problems: readonly object[]
  readonly readings?: readonly object[]
  readonly proposal?: { readonly type: string; readonly source: object; readonly schema: object }
  readonly notes?: readonly object[]
}

async function check(source: object, rest: object = {}) {
  const whole = { endpoint: broker.endpoint, topic: 'plants/7', credentials, ...source }
  const body = { type: 'iot_sensor', source: whole, ...rest }
  return await service.api.withToken<Check>('POST', '/sources/check', body)
}

async function retain(topic: string, payload: string): Promise<void> {
  const client = await broker.client(credentials)
  await client.publishAsync(topic, payload, { qos: 1, retain: true })
}

describe('a source that is tried', () => {
  test('shows what comes, and what a stream of it could be', async () => {
    await retain('plants/7', '{"temperature": 21.5, "timestamp": "2026-01-31T10:00:00Z"}')
    const { status, body } = await check({})
    expect(status).toBe(200)
    expect(body).toMatchObject({
      reached: true,
      messages: 1,
      samples: [{ payload: '{"temperature": 21.5, "timestamp": "2026-01-31T10:00:00Z"}' }],
      problems: [],
      proposal: {
        type: 'iot_sensor',
        source: { topic: 'plants/7', credentials: { username: 'plant', password: '********' } },
        schema: { temperature: { type: 'number' } },
      },
    })
    expect(body).not.toHaveProperty('problem')
    expect(JSON.stringify(body)).not.toContain(password)
  })

  test('has its readings judged by a schema', async () => {
    await retain('plants/8', '[{"temperature": 21.5}, {"temperature": "hot"}]')
    const schema = { temperature: { type: 'number' } }
    const { body } = await check({ topic: 'plants/8' }, { schema })
    expect(body.readings).toMatchObject([
      { status: 'accepted' },
      { status: 'refused', reason: 'schema_mismatch' },
    ])
    expect(body).not.toHaveProperty('proposal')
  })

  test('shows what cannot be read', async () => {
    await retain('plants/9', '{"temperature": ')
    const { body } = await check({ topic: 'plants/9' })
    expect(body).toMatchObject({ reached: true, messages: 1, problems: [{ index: 0 }] })
    expect(body).not.toHaveProperty('proposal')
  })

  test('keeps nothing, and takes nothing away from a stream that has the same source', async () => {
    const source = { endpoint: broker.endpoint, topic: 'plants/10', credentials, clientId: 'ours' }
    const streamId = await service.api.createStream(undefined, { source })
    await expect
      .poll(async () => (await service.api.status(streamId))['source'])
      .toMatchObject({ state: 'running' })
    const streams = await service.api.withToken<object[]>('GET', '/streams')
    await retain('plants/10', '{"temperature": 1}')
    await service.api.settled(streamId, 1)

    expect((await check(source)).body.messages).toBe(1)

    expect((await service.api.withToken<object[]>('GET', '/streams')).body).toHaveLength(
      streams.body.length,
    )
    expect((await service.api.status(streamId))['source']).toMatchObject({ retries: 0 })
    expect((await service.api.settled(streamId)).received).toBe(1)
    // A session that was begun for it would have the broker keep messages for ever.
    expect(broker.log().filter((line) => line.includes('disconnected')).length).toBeGreaterThan(0)
  })

  test('may have nothing to say', async () => {
    const { body } = await check({ topic: 'nobody/is/here' })
    expect(body).toMatchObject({ reached: true, messages: 0, samples: [] })
    expect(body).not.toHaveProperty('problem')
  })

  test('is not reached where nobody listens, or the password is wrong, which stays a secret', async () => {
    const away = await check({ endpoint: `mqtt://127.0.0.1:${silentPort}` })
    expect(away.body).toMatchObject({ reached: false, messages: 0 })
    expect(away.body.problem).toContain('ECONNREFUSED')
    const wrong = 'wrong-but-just-as-secret'
    const refused = await check({ credentials: { username: 'plant', password: wrong } })
    expect(refused.body).toMatchObject({ reached: false, messages: 0 })
    expect(refused.body.problem).toBeDefined()
    expect(JSON.stringify(refused.body) + service.process.output()).not.toContain(wrong)
  })

  test('has to be somewhere that may be connected to, and to be a source', async () => {
    const within = await check({ endpoint: 'mqtt://10.0.0.7:1883' })
    expect(within).toMatchObject({ status: 422, body: { error: 'destination_not_allowed' } })
    expect(await check({ topic: undefined })).toMatchObject({ status: 400 })
    expect(await check({}, { name: 'a stream' })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'name' }] },
    })
    expect(await check({ endpoint: undefined, credentials: undefined })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'source.endpoint' }] },
    })
  })
})

async function run(streamId: string) {
  return await service.api.withToken<object>('POST', `/streams/${streamId}/source/run`)
}

describe('a source that is to be read from now', () => {
  test('is one that is running', async () => {
    const source = { endpoint: broker.endpoint, topic: 'plants/11', credentials }
    const streamId = await service.api.createStream(undefined, { source })
    await expect.poll(async () => (await run(streamId)).status).toBe(202)
    expect((await run(streamId)).body).toEqual({ streamId })
    await service.api.withToken('POST', `/streams/${streamId}/pause`)
    expect(await run(streamId)).toMatchObject({
      status: 409,
      body: { message: 'the stream is paused' },
    })
    const pushed = await service.api.createStream()
    expect(await run(pushed)).toMatchObject({
      status: 409,
      body: { message: 'the stream fetches no readings' },
    })
    const stranger = await newPerson(service.api)
    const answer = await stranger.withToken('POST', `/streams/${streamId}/source/run`)
    expect(answer.status).toBe(404)
  })

  test('is tried again at once when it fails', async () => {
    const endpoint = `mqtt://127.0.0.1:${silentPort}`
    const streamId = await service.api.createStream(undefined, {
      source: { endpoint, topic: 'plants/12', credentials: { ...credentials } },
    })
    const source = async () =>
      (await service.api.status(streamId))['source'] as { retries: number; state: string }
    await expect.poll(async () => (await source()).retries).toBeGreaterThanOrEqual(6)
    const { retries } = await source()
    expect((await run(streamId)).status).toBe(202)
    // By itself it would wait for 8 s at least.
    await expect
      .poll(async () => (await source()).retries, { timeout: 7_500, interval: 20 })
      .toBeGreaterThan(retries)
  })
})
