import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiFailure, createClient, newIdempotencyKey } from '../../clients/typescript/call.ts'
import { ApiServer } from '../support/api-server.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

function withToken() {
  return createClient({
    baseUrl: service.process.http,
    headers: async () => ({ authorization: `Bearer ${await service.api.token()}` }),
  })
}

function withKey() {
  return createClient({
    baseUrl: `${service.process.http}/`,
    headers: { 'x-api-key': adminKey, 'x-api-secret': adminSecret },
    interface: 'header-key',
  })
}

async function failureOf(call: Promise<unknown>): Promise<ApiFailure> {
  const failure = await call.then(
    () => new Error('it has not failed'),
    (reason: unknown) => reason,
  )
  if (!(failure instanceof ApiFailure)) throw failure
  return failure
}

const schema = { temperature: { type: 'number' } } as const

async function newStream() {
  const vaultId = await service.api.createVault()
  const body = { name: 'temperature', vaultId, type: 'iot_sensor', schema } as const
  return await withToken().call('createStream', { body })
}

test('a stream is made, sent to and read', async () => {
  const { call } = withToken()
  const { streamId } = await newStream()

  await call('pushReadings', { path: { streamId }, body: { temperature: 21.5 } })
  await service.api.settled(streamId, 1)

  const { data } = await call('readReadings', { path: { streamId }, query: { limit: 5 } })
  expect(data).toMatchObject([{ temperature: 21.5 }])
})

test('each interface has its own answer', async () => {
  await newStream()

  const vaults = await withToken().call('listVaults', { query: { limit: 1 } })
  const { content, total_pages: pages } = await withKey().call('listVaults', {
    query: { page_size: 1 },
  })

  expect(vaults).toHaveLength(1)
  expect(content).toHaveLength(1)
  expect(pages).toBeGreaterThan(0)
})

test('the headers of an answer lead to the next page', async () => {
  await newStream()
  await newStream()

  const { status, headers, answer } = await withToken().callRaw('listStreams', {
    query: { limit: 1 },
  })

  expect(status).toBe(200)
  expect(answer).toHaveLength(1)
  expect(headers.get('link')).toMatch(/rel="next"/)
})

test('bytes of another type go and come as they are', async () => {
  const { call, open } = withToken()
  const { streamId } = await newStream()
  const content = '{"temperature":1}\n{"temperature":2}\n'

  await call('pushReadings', { path: { streamId }, raw: { type: 'application/x-ndjson', content } })
  await service.api.settled(streamId, 2)
  const read = await open('readReadings', {
    path: { streamId },
    headers: { accept: 'text/csv' },
  })

  expect((await read.text()).trim().split('\r\n')).toHaveLength(3)
  expect(await withToken().call('readMetrics')).toMatch(/^# HELP/)
})

test('events are followed as they come', async () => {
  const { call, open } = withToken()
  const { streamId } = await newStream()
  const ending = new AbortController()

  const { body } = await open('tailStream', { path: { streamId }, signal: ending.signal })
  await call('pushReadings', { path: { streamId }, body: { temperature: 7.25 } })
  let read = ''
  for await (const chunk of body ?? []) {
    read += new TextDecoder().decode(chunk)
    if (read.includes('7.25')) break
  }

  expect(read).toContain('data: {')
  ending.abort()
})

test('a deletion answers nothing', async () => {
  const { streamId } = await newStream()

  expect(await withToken().call('deleteStream', { path: { streamId } })).toBeUndefined()
})

test('a refusal says what the service says', async () => {
  const { call } = withToken()

  const missing = await failureOf(
    call('readStream', { path: { streamId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60' } }),
  )
  expect(missing).toMatchObject({ status: 404, code: 'not_found', operationId: 'readStream' })

  const vaultId = await service.api.createVault()
  const body = { name: '', vaultId, type: 'iot_sensor', schema } as const
  const invalid = await failureOf(call('createStream', { body }))
  expect(invalid).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(invalid.details[0]?.path).toBe('name')
})

test('a POST that is repeated under the key of the first does nothing more', async () => {
  const { call, callRaw } = withToken()
  const vaultId = await service.api.createVault()
  const idempotencyKey = newIdempotencyKey()
  const body = { name: 'once', vaultId, type: 'iot_sensor', schema } as const

  const first = await call('createStream', { body, idempotencyKey })
  const second = await callRaw('createStream', { body, idempotencyKey })

  expect(second.answer).toEqual(first)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
})

test('what was cut off is repeated under the key that the failure has', async () => {
  const { streamId } = await newStream()
  let calls = 0
  const { call } = createClient({
    baseUrl: service.process.http,
    headers: async () => ({ authorization: `Bearer ${await service.api.token()}` }),
    async fetch(url, init) {
      const response = await fetch(url, init)
      calls++
      if (calls === 1) throw new TypeError('the connection was lost')
      return response
    },
  })
  const asked = { path: { streamId }, body: { temperature: 3 } } as const

  const { code, status, idempotencyKey } = await failureOf(call('pushReadings', asked))
  await call('pushReadings', { ...asked, idempotencyKey })

  expect([code, status]).toEqual(['unreachable', 0])
  expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
})

test('a service that is not there is unreachable', async () => {
  const { call } = createClient({ baseUrl: 'http://127.0.0.1:1' })

  expect(await failureOf(call('readOpenApi'))).toMatchObject({ status: 0, code: 'unreachable' })
})

test('an answer that ends early is unreachable, and what is not of the service unreadable', async () => {
  await using server = await ApiServer.start(({ url: { pathname } }, answer) => {
    if (pathname === '/docs') {
      answer.writeHead(200, { 'content-type': 'text/html', 'content-length': 100 })
      answer.write('<!doc')
      setImmediate(() => answer.destroy())
      return
    }
    if (pathname === '/health/live') {
      answer.writeHead(200, { 'content-type': 'application/json' }).end('{"status":')
      return
    }
    answer.writeHead(502, { 'content-type': 'text/html', 'retry-after': '7' }).end('<h1>Bad')
  })
  const { call } = createClient({ baseUrl: server.origin })

  expect(await failureOf(call('readDocs'))).toMatchObject({ code: 'unreachable' })
  expect(await failureOf(call('readLiveness'))).toMatchObject({ code: 'unreadable', status: 200 })
  expect(await failureOf(call('readOpenApi'))).toMatchObject({
    code: 'unreadable',
    status: 502,
    retryAfterS: 7,
  })
})

test('a call that its signal ends fails with the reason of the signal', async () => {
  const reason = new Error('the page was left')

  const call = withToken().call('listVaults', { signal: AbortSignal.abort(reason) })

  await expect(call).rejects.toBe(reason)
})

test('an id that would lead to another place is unknown', async () => {
  const { call } = withToken()

  for (const streamId of ['', '.', '..']) {
    const failure = await failureOf(call('deleteStream', { path: { streamId } }))
    expect(failure).toMatchObject({ status: 404, code: 'not_found' })
  }
})

test('any id comes as it was sent', async () => {
  const seen: string[] = []
  const { call } = createClient({
    baseUrl: 'http://127.0.0.1',
    async fetch(url) {
      seen.push(new URL(url).pathname)
      return new Response('{}', { headers: { 'content-type': 'application/json' } })
    },
  })
  const id = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/^\.{1,2}$/.test(one))
  await fc.assert(
    fc.asyncProperty(id, async (streamId) => {
      await call('readStream', { path: { streamId } })

      const [, top, last = '', ...more] = seen.pop()?.split('/') ?? []
      expect([top, decodeURIComponent(last), more]).toEqual(['streams', streamId, []])
    }),
  )
})

test('no two keys are the same', () => {
  const keys = Array.from({ length: 1_000 }, newIdempotencyKey)

  expect(new Set(keys).size).toBe(1_000)
  expect(keys.every((key) => /^[0-9a-f]{32}$/.test(key))).toBe(true)
})

test('the compiler refuses what an operation does not take', () => {
  const { call } = withToken()
  const calls = [
    // @ts-expect-error: no stream is named
    () => call('readStream'),
    // @ts-expect-error: pages are of the other interface
    () => call('listStreams', { query: { page: 1 } }),
    // @ts-expect-error: a key alone has it
    () => withKey().call('validateToken'),
    // @ts-expect-error: there is no such type
    () => call('createStream', { body: { name: 'a', vaultId: 'b', type: 'sensor' } }),
    () => call('listStreams', { query: { 'tag.site': 'north', name: undefined } }),
  ]

  expect(calls).toHaveLength(5)
})
