import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const secret = 'hush-hush-very-secret'
const mark = '********'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const requests: IncomingMessage[] = []
let answer: Answer

const server = createServer((request, response) => {
  requests.push(request)
  answer(request, response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const base = `http://127.0.0.1:${port}`

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })

beforeEach(() => {
  requests.length = 0
  answer = (_, response) => response.setHeader('content-type', 'application/json').end(readings)
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const readings = JSON.stringify({
  data: [
    { timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 },
    { timestamp: '2026-01-31T10:01:00Z', temperature: 22 },
  ],
})

const authentication = {
  type: 'oauth2',
  tokenUrl: `${base}/token`,
  clientId: 'plant',
  clientSecret: secret,
}

/** Once a year: it is run when a test says so. */
const rarely = '0 0 1 1 *'

function sourceWith(changes: object = {}) {
  return { endpoint: `${base}/v1/readings`, schedule: rarely, itemsPath: 'data', ...changes }
}

const create = (changes: object = {}) =>
  service.api.createStream(undefined, { type: 'api_pull', source: sourceWith(changes) })

const run = (id: string) => service.api.withToken('POST', `/streams/${id}/source/run`)

const sourceOf = async (id: string) => (await service.api.status(id)).source

/** Requests for readings, and not for tokens. */
const readingRequests = () => requests.filter(({ url }) => url === '/v1/readings')

async function reached(id: string, status: object): Promise<void> {
  await expect.poll(() => sourceOf(id)).toMatchObject(status)
}

describe('a stream that pulls from an API', () => {
  test('waits for its time, is run when somebody wants it, and says so', async () => {
    const id = await create()
    await reached(id, { state: 'waiting', rounds: 0, lastRound: null, lag: 0 })
    const { nextRound } = (await sourceOf(id)) as { nextRound: string }
    expect(nextRound).toMatch(/-01-01T00:00:00.000000Z$/)
    expect(requests).toEqual([])

    expect((await run(id)).status).toBe(202)

    await service.api.settled(id, 2)
    await reached(id, { state: 'waiting', rounds: 1, messages: 1, nextRound })
    expect(await service.api.readAll(id)).toMatchObject([
      { temperature: 21.5 },
      { temperature: 22 },
    ])
    await run(id)
    await reached(id, { rounds: 2 })
    expect((await service.api.settled(id, 4)).duplicates).toBe(2)
  })

  test('asks for nothing while it is paused', async () => {
    const id = await create({ schedule: '* * * * * *' })
    await expect.poll(() => requests.length).toBeGreaterThan(0)
    await service.api.withToken('POST', `/streams/${id}/pause`)
    await reached(id, { state: 'paused' })
    const { rounds, messages } = (await sourceOf(id)) as { rounds: number; messages: number }
    await service.api.withToken('POST', `/streams/${id}/resume`)
    await expect.poll(async () => (await sourceOf(id))?.['rounds']).toBeGreaterThan(rounds)
    expect((await sourceOf(id))?.['messages']).toBeGreaterThan(messages)
    await service.api.withToken('DELETE', `/streams/${id}`)
  })

  test('is in error when it is refused, and well again when that is mended', async () => {
    answer = (_, response) => response.writeHead(401).end('who are you?')
    const id = await create()
    await reached(id, { state: 'waiting' })
    await run(id)
    await reached(id, { state: 'failing', lastError: expect.stringContaining('401') })
    expect((await service.api.status(id)).status).toBe('error')

    answer = (_, response) => response.setHeader('content-type', 'application/json').end(readings)
    await run(id)

    await service.api.settled(id, 2)
    await reached(id, { state: 'waiting', retries: 0 })
    expect((await service.api.status(id)).status).toBe('active')
  })
})

describe('secrets of an API', () => {
  test('are shown by nothing, and stand in no file and no log', async () => {
    answer = ({ url, headers }, response) => {
      if (url === '/token') response.writeHead(400).end(`${headers.authorization} ${secret}`)
      else response.writeHead(500).end(secret)
    }
    const id = await create({ authentication, headers: { 'x-plant': `${secret}-too` } })
    await reached(id, { state: 'waiting' })
    await run(id)
    await reached(id, { state: 'failing' })
    const { body } = await service.api.withToken<{ source: object }>('GET', `/streams/${id}`)
    expect(body.source).toMatchObject({
      authentication: { ...authentication, clientSecret: mark },
      headers: { 'x-plant': mark },
    })
    const shown = [
      JSON.stringify(body),
      JSON.stringify(await service.api.status(id)),
      service.process.output(),
      ...filesIn(service.process.dataDir),
    ]
    const encoded = Buffer.from(`plant:${secret}`).toString('base64')
    for (const text of shown) {
      expect(text.includes(secret)).toBe(false)
      expect(text.includes(encoded)).toBe(false)
    }
    // It would try again while others count what they ask for.
    await service.api.withToken('DELETE', `/streams/${id}`)
  })

  test('are kept when a mark is sent back, and not for another place to get tokens from', async () => {
    const id = await create({ authentication })
    const put = (changes: object) =>
      service.api.withToken<{ details?: { path: string }[] }>('PUT', `/streams/${id}`, {
        source: sourceWith({
          authentication: { ...authentication, clientSecret: mark },
          ...changes,
        }),
      })
    expect((await put({ timeout: '5s' })).status).toBe(200)
    const elsewhere = { ...authentication, tokenUrl: `${base}/other`, clientSecret: mark }
    const refused = await put({ authentication: elsewhere })
    expect(refused.status).toBe(400)
    expect(refused.body.details?.[0]?.path).toBe('source.authentication.clientSecret')
    answer = ({ url }, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(url === '/token' ? '{"access_token": "t", "token_type": "Bearer"}' : readings)
    }
    await reached(id, { state: 'waiting' })
    await run(id)
    await service.api.settled(id, 2)
    expect(readingRequests().at(-1)?.headers.authorization).toBe('Bearer t')
  })
})

async function check() {
  const body = { type: 'api_pull', source: sourceWith() }
  return (await service.api.withToken('POST', '/sources/check', body)).body
}

describe('an API that is tried', () => {
  test('is asked once, and a stream is proposed', async () => {
    expect(await check()).toMatchObject({
      reached: true,
      messages: 1,
      proposal: {
        type: 'api_pull',
        source: sourceWith(),
        schema: { temperature: { type: 'number' } },
      },
    })
    expect(readingRequests()).toHaveLength(1)
  })

  test('may have nothing, may refuse, and may lead where nobody may connect to', async () => {
    answer = (_, response) =>
      response.setHeader('content-type', 'application/json').end('{"data":[]}')
    expect(await check()).toMatchObject({ reached: true, messages: 0 })
    answer = (_, response) => response.writeHead(403).end('not you')
    expect(await check()).toMatchObject({ messages: 0, problem: expect.stringContaining('403') })
    answer = (_, response) => response.writeHead(302, { location: 'http://10.0.0.7/' }).end()
    expect(await check()).toMatchObject({
      messages: 0,
      problem: expect.stringContaining('may not be connected to'),
    })
  })
})

/** Contents of all files below a folder. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
}
