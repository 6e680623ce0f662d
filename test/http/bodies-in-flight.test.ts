import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const sockets: Socket[] = []
const mebibyte = 1024 * 1024

let ada: Person

beforeAll(async () => {
  ada = await newPerson(service.api)
})

/** A request whose head is sent, and a part of its body. */
interface Unfinished {
  readonly socket: Socket
  /** Everything that was answered so far. */
  readonly answer: () => string
}

async function begin(headers: readonly string[], body: string | Uint8Array): Promise<Unfinished> {
  const { apiKey, apiSecret } = ada.key
  const credentials = [`x-api-key: ${apiKey}`, `x-api-secret: ${apiSecret}`]
  const all = ['Content-Type: application/json', ...credentials, ...headers]
  return await beginAt('/templates', all, body)
}

async function beginAt(
  path: string,
  headers: readonly string[],
  body: string | Uint8Array,
): Promise<Unfinished> {
  const socket = connect(Number(new URL(service.process.http).port), '127.0.0.1')
  sockets.push(socket)
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  // A connection that is refused may also be reset.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  return { socket, answer: () => answer }
}

/** A file of blank lines that is to be imported, of which the last MiB is missing. */
async function beginFile(bytes: number): Promise<Unfinished> {
  const headers = [
    'Content-Type: application/x-ndjson',
    `Authorization: Bearer ${await ada.token()}`,
    `Content-Length: ${bytes}`,
  ]
  const path = `/streams/${await streamOf(ada)}/import`
  return await beginAt(path, headers, '\n'.repeat(bytes - mebibyte))
}

/** Requests that announce so many bytes each, and send the first of them. */
async function announce(count: number, bytes: number): Promise<readonly Unfinished[]> {
  const begun: Unfinished[] = []
  for (let index = 0; index < count; index++) {
    begun.push(await begin([`Content-Length: ${bytes}`], '{'))
  }
  return begun
}

async function inFlight(): Promise<number> {
  return await metricOf(service.process, 'bodies_in_flight_bytes')
}

function refused(requests: readonly Unfinished[]): readonly string[] {
  return requests.map(({ answer }) => answer()).filter((text) => text !== '')
}

const template = { name: 'boiler', hint: '', required_streams: [] }
const padded = { ...template, hint: 'x'.repeat(20_000) }

async function create(person: Pick<Person, 'withKey'>, body: object): Promise<number> {
  return (await person.withKey('POST', '/templates', body)).status
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await expect.poll(inFlight).toBe(0)
})

describe('bodies that are announced and not sent', () => {
  test('take 32 MiB of one user, and what comes then is 503 with Retry-After', async () => {
    const requests = await announce(20, 2 * mebibyte)

    await expect.poll(() => refused(requests).length).toBe(4)

    expect(await inFlight()).toBe(32 * mebibyte)
    for (const text of refused(requests)) {
      expect(text).toMatch(/^HTTP\/1\.1 503 /)
      expect(text).toMatch(/^retry-after: 1\r$/im)
      expect(text).toMatch(/^connection: close\r$/im)
      expect(text).toContain('"error":"overloaded"')
    }
  })

  test('keep nobody else from sending', async () => {
    await announce(16, 2 * mebibyte)
    await expect.poll(inFlight).toBe(32 * mebibyte)

    expect(await create(service.api, padded)).not.toBe(503)
    expect(await create(ada, padded)).toBe(503)
  })

  test('keep their sender from nothing that is small', async () => {
    await announce(16, 2 * mebibyte)
    await expect.poll(inFlight).toBe(32 * mebibyte)

    expect(await create(ada, template)).toBe(201)
  })

  test('give their room back when the connection ends', async () => {
    const requests = await announce(16, 2 * mebibyte)
    await expect.poll(inFlight).toBe(32 * mebibyte)

    requests[0]?.socket.destroy()
    await expect.poll(inFlight).toBe(30 * mebibyte)

    expect(await create(ada, padded)).not.toBe(503)
  })

  test('take 128 MiB of all users together', async () => {
    const before = ada
    for (let index = 0; index < 4; index++) {
      ada = await newPerson(service.api)
      await announce(16, 2 * mebibyte)
    }
    await expect.poll(inFlight).toBe(128 * mebibyte)
    ada = before

    expect(await create(ada, padded)).toBe(503)
    expect(await create(ada, template)).toBe(201)
  })

  test('are not waited for longer than half a minute, but for files that go on', async () => {
    const [request] = await announce(1, 2 * mebibyte)
    const file = await beginFile(2 * mebibyte)

    await expect.poll(() => request?.answer()).toMatch(/^HTTP\/1\.1 408 /)

    await expect.poll(inFlight).toBe(0)
    file.socket.write('\n'.repeat(mebibyte))
    await expect.poll(() => file.answer()).toMatch(/^HTTP\/1\.1 202 /)
  })
})

describe('bodies that come in chunks', () => {
  const chunk = `${mebibyte.toString(16)}\r\n${'x'.repeat(mebibyte)}\r\n`

  test('are counted as they come', async () => {
    const requests: Unfinished[] = []
    for (let index = 0; index < 40; index++) {
      requests.push(await begin(['Transfer-Encoding: chunked'], chunk))
    }

    await expect.poll(() => refused(requests).length).toBeGreaterThan(0)
    await expect.poll(inFlight).toBeGreaterThan(24 * mebibyte)

    expect(await inFlight()).toBeLessThanOrEqual(32 * mebibyte)
    expect(refused(requests)[0]).toMatch(/^HTTP\/1\.1 503 /)
  })
})

describe('bodies that were answered', () => {
  test('take no room, whatever became of them', async () => {
    const streamId = await service.api.createStream()
    const path = `/streams/${streamId}/data`
    const large = JSON.stringify(Array.from({ length: 1_000 }, () => ({ temperature: 1 })))
    const send = async (headers: Readonly<Record<string, string>>, body: string | Uint8Array) =>
      fetch(service.process.http + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${await service.api.token()}`, ...headers },
        body,
      })
    const json = { 'content-type': 'application/json' }

    expect((await send(json, large)).status).toBe(202)
    expect((await send(json, `${large}]`)).status).toBe(400)
    expect((await send({ ...json, 'content-encoding': 'gzip' }, gzipSync(large))).status).toBe(202)
    expect((await send({ ...json, 'content-encoding': 'br' }, large)).status).toBe(415)

    await expect.poll(inFlight).toBe(0)
  })
})
