import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { TailClient, TailRefused, type TailTarget } from '../support/tail-client.ts'
import { keyHeaders } from '../support/tails.ts'

const service = runningService({ STREAMVAULT_CORS_ORIGINS: 'https://console.example' })
const tails: TailClient[] = []

afterEach(() => {
  for (const tail of tails.splice(0)) tail.close()
})

async function openSocket(target: Partial<TailTarget> = {}): Promise<TailClient> {
  const url = `${service.process.http}/streams/${await service.api.createStream()}/tail`
  const opened = await TailClient.open('socket', { url, headers: keyHeaders, ...target })
  tails.push(opened)
  await opened.begun()
  return opened
}

/** The error code that a WebSocket is refused with, or nothing. */
async function refusalOf(target: Partial<TailTarget>): Promise<unknown> {
  try {
    await openSocket(target)
    return undefined
  } catch (error) {
    if (error instanceof TailRefused) return error.body['error']
    throw error
  }
}

/** All that comes back for a request, until the connection is closed. */
function answerTo(head: readonly string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(service.process.http)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${[...head, 'Host: here'].join('\r\n')}\r\n\r\n${body}`)
    })
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.once('error', reject)
    socket.once('close', () => resolve(text))
  })
}
describe('a page of another origin', () => {
  test.each([
    ['https://console.example', undefined],
    ['https://console.example.evil.example', 'origin_not_allowed'],
    ['null', 'origin_not_allowed'],
  ])('%s: %s', async (origin, error) => {
    expect(await refusalOf({ headers: { ...keyHeaders, origin } })).toBe(error)
  })

  test('is not another one when it is our own', async () => {
    const { origin } = new URL(service.process.http)

    expect(await refusalOf({ headers: { ...keyHeaders, origin } })).toBeUndefined()
  })
})

describe('the token of a browser', () => {
  test('is taken as a subprotocol, and never given back as one', async () => {
    const url = `${service.process.http}/streams/${await service.api.createStream()}/tail`
    const token = await service.api.token()

    const socket = new WebSocket(url.replace('http', 'ws'), ['streamvault.v1', `bearer.${token}`])
    const protocol = await new Promise((resolve, reject) => {
      socket.once('open', () => resolve(socket.protocol))
      socket.once('error', reject)
    })
    socket.terminate()

    expect(protocol).toBe('streamvault.v1')
  })

  test.each([
    ['is no token', 'bearer.nonsense', 'invalid_api_key'],
    ['is missing', 'streamvault.v2', 'missing_credentials'],
  ])('that %s is 401', async (_, protocol, error) => {
    const protocols = ['streamvault.v1', protocol]

    expect(await refusalOf({ headers: {}, protocols })).toBe(error)
  })

  test('together with one in the header is refused', async () => {
    const token = await service.api.token()
    const headers = { authorization: `Bearer ${token}` }
    const protocols = ['streamvault.v1', `bearer.${token}`]

    expect(await refusalOf({ headers, protocols })).toBe('invalid_api_key')
  })

  test('counts for WebSockets only', async () => {
    const headers = { 'sec-websocket-protocol': `bearer.${await service.api.token()}` }

    expect((await service.api.request('GET', '/streams', { headers })).status).toBe(401)
  })
})

describe('a client that talks', () => {
  test('much is told that it has nothing to say (1009)', async () => {
    const opened = await openSocket()

    opened.send('x'.repeat(2_000))

    expect((await opened.ended).closeCode).toBe(1009)
  })

  test('often is told so, too (1008)', async () => {
    const opened = await openSocket()

    for (let message = 0; message < 101; message++) opened.send('hello')

    expect((await opened.ended).closeCode).toBe(1008)
  })
})

describe('a request for a WebSocket', () => {
  const webSocket = ['Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

  test('is an ordinary one where there is none, and the last on its connection', async () => {
    const answer = await answerTo(['GET /health/live HTTP/1.1', ...webSocket, key])

    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer).toContain('"status":"live"')
  })

  test('that is none is refused, and the connection closed', async () => {
    const path = `/streams/${await service.api.createStream()}/tail`
    const credentials = [`x-api-key: ${adminKey}`, `x-api-secret: ${adminSecret}`]

    const answer = await answerTo([`GET ${path} HTTP/1.1`, ...webSocket, ...credentials])

    expect(answer).toMatch(/^HTTP\/1.1 400 /)
  })

  test('for another protocol than that is taken as if it did not ask, with its body', async () => {
    const body = JSON.stringify({ apiKey: adminKey, apiSecret: adminSecret })
    const head = [
      'POST /auth/token HTTP/1.1',
      'Connection: upgrade, close',
      'Upgrade: h2c',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]

    const answer = await answerTo(head, body)

    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  })
})
