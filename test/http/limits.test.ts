import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService({ STREAMVAULT_TRUST_PROXY: '127.0.0.1,10.0.0.0/8' })
const suspicious = runningService({ STREAMVAULT_TRUST_PROXY: '192.0.2.1' })

async function openSocket(): Promise<Socket> {
  const socket = connect(Number(new URL(service.process.http).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

interface RawEnd {
  readonly status: number
  readonly body: ErrorBody
}

/** What comes until the service closes the connection, after these bytes were sent. */
async function answerToBytes(bytes: string): Promise<RawEnd> {
  const socket = await openSocket()
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.write(bytes)
  await closed
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) as ErrorBody }
}

function getWith(headers: readonly string[], path = '/health/live'): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers
    .map((header) => `${header}\r\n`)
    .join('')}\r\n`
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `x-number-${index}: 1`)
}

function expectError({ status, body }: RawEnd, statusCode: number, error: string): void {
  expect(status).toBe(statusCode)
  expect(body).toMatchObject({ error, statusCode, message: expect.stringMatching(/\S/) as string })
}

describe('a request', () => {
  test('with more than 16 KiB of headers is 431 headers_too_large', async () => {
    const answer = await answerToBytes(getWith([`x-long: ${'a'.repeat(17_000)}`]))

    expectError(answer, 431, 'headers_too_large')
  })

  test('with more than 100 headers is 431, with 100 it is not', async () => {
    expectError(await answerToBytes(getWith(numbered(99))), 431, 'headers_too_large')
    expect((await answerToBytes(getWith(numbered(98)))).status).toBe(200)
  })

  test('with a thousand headers is 431 even when its credentials come last', async () => {
    const credentials = [`x-api-key: ${adminKey}`, `x-api-secret: ${adminSecret}`]

    const answer = await answerToBytes(getWith([...numbered(300), ...credentials], '/vaults'))

    expectError(answer, 431, 'headers_too_large')
  })

  test.each([
    ['is none', 'hello\r\n\r\n'],
    ['has no host', 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['is a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01'],
    [
      'says its length in two ways',
      'POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'has a header that goes on in the next line',
      'GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n folded\r\n\r\n',
    ],
  ])('that %s is 400 malformed_request', async (_, bytes) => {
    expectError(await answerToBytes(bytes), 400, 'malformed_request')
  })

  test('that has a method that no route has, and no content type, is 405', async () => {
    const bytes = 'QUERY /vaults HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    expectError(await answerToBytes(bytes), 405, 'method_not_allowed')
  })

  test('whose head does not end is 408 request_timeout', async () => {
    expectError(
      await answerToBytes('GET /health/live HTTP/1.1\r\nHost: x\r\n'),
      408,
      'request_timeout',
    )
  })

  test('after those is answered as ever', async () => {
    expect((await fetch(`${service.process.http}/health/live`)).status).toBe(200)
  })
})

/** The address that a quarantined reading is said to come from, when a request has this header. */
async function sourceOf(running: typeof service, forwardedFor: string): Promise<string> {
  const { api } = running
  const streamId = await api.createStream()
  const headers = { 'x-forwarded-for': forwardedFor }
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 'hot' }, headers)
  await api.settled(streamId, 1)
  const { body } = await api.withToken<{ entries: readonly { source: string }[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  return body.entries[0]?.source ?? ''
}

describe('the address of a caller', () => {
  test('is what a trusted proxy says', async () => {
    expect(await sourceOf(service, '203.0.113.9')).toBe('http 203.0.113.9')
  })

  test('is the last that is no trusted proxy itself', async () => {
    const chain = '198.51.100.1, 203.0.113.9, 10.1.2.3'

    expect(await sourceOf(service, chain)).toBe('http 203.0.113.9')
  })

  test('is the one of the connection when it is no trusted proxy, whatever it says', async () => {
    expect(await sourceOf(suspicious, '203.0.113.9')).toBe('http 127.0.0.1')
  })
})
