import { expect, test } from 'vitest'
import { apiPull } from '../../connectors/api-pull/api-pull.ts'
import { ApiPeer } from '../support/api-peer.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'

test.each<[object, boolean]>([
  [{ endpoint: 'https://weather.example/v1', schedule: '* * * * *' }, true],
  [{ endpoint: 'http://weather.example', schedule: '* * * * *' }, true],
  [{ endpoint: 'https://weather.example/v1' }, false],
  [{ endpoint: 'mqtt://broker.example', schedule: '* * * * *' }, false],
  [{ endpoint: 'db.example:5432/plant', schedule: '* * * * *' }, false],
  [{ schedule: '* * * * *' }, false],
])('whether %j is a source of this connector: %s', (source, isTaken) => {
  expect(apiPull.takes(source as Readonly<Record<string, unknown>>)).toBe(isTaken)
})

test.each([
  ['https://weather.example/v1', 'weather.example', 443],
  ['http://weather.example/v1', 'weather.example', 80],
  ['http://[2001:db8::1]:8080/', '2001:db8::1', 8080],
])('%s leads to %s, port %s', (endpoint, host, port) => {
  expect(apiPull.destinationOf({ endpoint })).toEqual({ host, port })
})

test('a request is made as the source says', async () => {
  await using api = await ApiServer.start((_, answer) => json(answer, '{"number": 1}'))
  const source = {
    endpoint: `${api.origin}/search?site=7`,
    method: 'POST',
    headers: { 'X-Plant': 'seven', 'content-type': 'application/vnd.plant+json' },
    body: { since: '2026-01-01' },
  }
  await new ApiRounds(source, [api.port]).round()
  expect(api.asked).toMatchObject([
    {
      method: 'POST',
      body: '{"since":"2026-01-01"}',
      headers: {
        host: `127.0.0.1:${api.port}`,
        'x-plant': 'seven',
        'content-type': 'application/vnd.plant+json',
        'accept-encoding': 'gzip, deflate, br, zstd',
      },
    },
  ])
  expect(api.paths).toEqual(['/search?site=7'])
})

test('a text is sent as it is', async () => {
  await using api = await ApiServer.start((_, answer) => json(answer, '{"number": 1}'))
  const source = { endpoint: api.origin, method: 'PUT', body: '{ not json' }
  await new ApiRounds(source, [api.port]).round()
  expect(api.asked).toMatchObject([
    { method: 'PUT', body: '{ not json', headers: { 'content-type': 'text/plain' } },
  ])
})

const identityOf = (source: object) => new ApiRounds(source, []).identity

test('what a position belongs to does not depend on credentials, and never shows them', () => {
  const endpoint = 'https://weather.example'
  const plain = identityOf({ endpoint })
  const token = { type: 'bearer', token: 'hush' }
  expect(identityOf({ endpoint, authentication: token, headers: { a: 'b' } })).toBe(plain)
  const others = [
    { endpoint: `${endpoint}/v2` },
    { endpoint, method: 'POST' },
    { endpoint, itemsPath: 'items' },
    { endpoint, pagination: { type: 'page' } },
  ].map(identityOf)
  expect(new Set([plain, ...others]).size).toBe(5)
})

test('connections are kept within a round, and not beyond it', async () => {
  const sockets = new Set<number | undefined>()
  await using api = await ApiServer.start((_, answer) => {
    sockets.add(answer.socket?.remotePort)
    json(answer, sockets.size > 1 || api.asked.length > 3 ? [] : [{ number: api.asked.length }])
  })
  const rounds = new ApiRounds({ endpoint: api.origin, pagination: { type: 'page' } }, [api.port])
  expect(await rounds.texts()).toHaveLength(3)
  expect(sockets.size).toBe(1)
})

test('a connection that ends when it is used again is replaced', async () => {
  const sockets = new Set<number | undefined>()
  await using api = await ApiServer.start((_, answer) => {
    const { remotePort } = answer.req.socket
    if (sockets.has(remotePort)) answer.destroy()
    else json(answer, sockets.size > 2 ? [] : [{ number: sockets.size }])
    sockets.add(remotePort)
  })
  const rounds = new ApiRounds({ endpoint: api.origin, pagination: { type: 'page' } }, [api.port])
  expect(await rounds.texts()).toHaveLength(3)
  expect(api.paths).toEqual(['1', '2', '2', '3', '3', '4', '4'].map((page) => `/?page=${page}`))
})

test('a round that is told to end ends, and its connection with it', async () => {
  await using api = await ApiServer.start(() => stop.abort())
  const stop = new AbortController()
  const rounds = new ApiRounds({ endpoint: api.origin }, [api.port])
  await expect(rounds.round(1, stop.signal)).rejects.toThrow('aborted')
  expect(api.asked).toHaveLength(1)
})

test('a queue is delivered byte for byte, each payload once, also behind its end and a restart', async () => {
  await using peer = await ApiPeer.start()
  const payloads = ['{"number": 1}', 'not a reading', '\xff\x00', ' [1 ,2]'].map((text) =>
    Buffer.from(text, 'latin1'),
  )
  await peer.publish(payloads)
  const rounds = new ApiRounds(peer.source, peer.ports)
  const first = await rounds.round(2)
  const second = await rounds.round()
  expect(await rounds.round()).toEqual([])
  await peer.stop()
  await expect(rounds.round()).rejects.toThrow('ECONNREFUSED')
  await peer.start()
  await peer.publish([Buffer.from('{"number": 5}')])
  const third = await rounds.round()
  const got = [...first, ...second, ...third].map(({ payload }) => Buffer.from(payload))
  expect(got.slice(0, 3)).toEqual(payloads.slice(0, 3))
  expect(got.slice(3).map(String)).toEqual(['[1,2]', '{"number": 5}'])
})
