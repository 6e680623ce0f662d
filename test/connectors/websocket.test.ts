import { describe, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { webSocket } from '../../connectors/web-events/web-socket.ts'
import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { ApiServer, json } from '../support/api-server.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { MessageServer } from '../support/message-server.ts'
import { RecordedRun } from '../support/recorded-run.ts'

function follow(
  port: number,
  { position, ...more }: { readonly position?: SourcePosition; [key: string]: unknown } = {},
): RecordedRun {
  const source = { protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/feed?a=b`, ...more }
  return new RecordedRun(webSocket.open({ streamId: newId<StreamId>(), source }), port, position)
}

const silent = () => undefined

const takeFirst = () => 'one'

/** Why a run ends when a server closes the connection with this code. */
async function endOf(code: number, reason = '', more: object = {}): Promise<Error> {
  await using server = await MessageServer.start((socket) => socket.close(code, reason))
  await using run = follow(server.port, { ...more })
  return (await run.ended) as Error
}

describe('a server that is reached', () => {
  test('sends texts and bytes, and an empty message is none', async () => {
    await using server = await MessageServer.start((socket) => {
      socket.send('1')
      socket.send('')
      socket.send(Buffer.of(0xff, 0))
    })
    await using run = follow(server.port)
    await expect.poll(() => run.messages.length).toBe(2)
    expect(run.messages.map(({ payload }) => Buffer.from(payload).toString('hex'))).toEqual([
      '31',
      'ff00',
    ])
    expect(run.messages[0]?.source).toBe(`messages of ws://127.0.0.1:${server.port}/feed`)
    expect(server.visits[0]?.url).toBe('/feed?a=b')
  })

  test('may send together with its answer', async () => {
    await using server = await MessageServer.start((socket) => {
      for (let number = 0; number < 3_000; number++) socket.send(`${number}`)
      socket.close(1001)
    })
    await using run = follow(server.port)
    expect(String(await run.ended)).toContain('closed the connection (1001)')
    expect(run.rows).toEqual(Array.from({ length: 3_000 }, (_, number) => `${number}`))
  })

  test.each<[object, string, string]>([
    [{ type: 'basic', username: 'a', password: 'b' }, 'authorization', 'Basic YTpi'],
    [{ type: 'bearer', token: 'a' }, 'authorization', 'Bearer a'],
    [{ type: 'apiKey', name: 'X-Key', value: 'a' }, 'x-key', 'a'],
  ])('is shown who is there: %j', async (authentication, name, value) => {
    await using server = await MessageServer.start(silent)
    await using run = follow(server.port, { authentication, headers: { Origin: 'http://a' } })
    await expect.poll(() => run.isRunning).toBe(true)
    expect(server.visits[0]?.headers).toMatchObject({ [name]: value, origin: 'http://a' })
    expect(server.visits[0]?.headers.host).toBe(`127.0.0.1:${server.port}`)
  })

  test('is shown a key in the query', async () => {
    await using server = await MessageServer.start(silent)
    const authentication = { type: 'apiKey', name: 'key', value: 'a b', in: 'query' }
    await using run = follow(server.port, { authentication })
    await expect.poll(() => server.visits[0]?.url).toBe('/feed?a=b&key=a+b')
    expect(run.messages).toEqual([])
  })

  test('speaks the subprotocol that was asked for, or is refused', async () => {
    await using server = await MessageServer.start(silent, { handleProtocols: takeFirst })
    await using run = follow(server.port, { subprotocol: 'one' })
    await expect.poll(() => run.isRunning).toBe(true)
    await using other = follow(server.port, { subprotocol: 'two' })
    expect(await other.ended).toBeInstanceOf(SourceRefused)
  })

  test('is not offered compression', async () => {
    await using server = await MessageServer.start(silent, { perMessageDeflate: true })
    await using run = follow(server.port)
    await expect.poll(() => run.isRunning).toBe(true)
    expect(server.visits[0]?.headers['sec-websocket-extensions']).toBeUndefined()
  })
})

describe('what is said when the connection is there', () => {
  const after = { op: 'replay', after: '{cursor}', note: 'since {cursor}' }

  test.each<[string, object, SourcePosition | undefined, readonly string[]]>([
    [
      'texts and objects',
      { subscribe: ['hello', { op: 'all', n: [1] }] },
      undefined,
      ['hello', '{"op":"all","n":[1]}'],
    ],
    ['nothing', {}, undefined, []],
    [
      'a token',
      { subscribe: ['a {token}', { t: '{token}' }], credentials: { token: 'x"y' } },
      undefined,
      ['a x"y', '{"t":"x\\"y"}'],
    ],
    [
      'no cursor where there is none',
      { subscribe: ['hello', after], cursorField: 'n' },
      undefined,
      ['hello'],
    ],
    [
      'where to begin',
      { subscribe: after, cursorField: 'n', cursorStart: 0 },
      undefined,
      ['{"op":"replay","after":0,"note":"since 0"}'],
    ],
    [
      'a number, digit by digit',
      { subscribe: after, cursorField: 'n', cursorStart: 0 },
      { cursor: '90071992547409931' },
      ['{"op":"replay","after":90071992547409931,"note":"since 90071992547409931"}'],
    ],
    [
      'a text',
      { subscribe: [after, 'from {cursor}'], cursorField: 'n' },
      { cursor: '"a\\"$&{token}"' },
      ['{"op":"replay","after":"a\\"$&{token}","note":"since a\\"$&{token}"}', 'from a"$&{token}'],
    ],
  ])('may be %s', async (_, more, position, said) => {
    await using server = await MessageServer.start(silent)
    await using run = follow(server.port, { ...more, ...(position && { position }) })
    await expect.poll(() => run.isRunning).toBe(true)
    await expect.poll(() => server.said).toEqual(said)
  })

  test.each<[string, string | undefined]>([
    ['{"n":90071992547409931}', '90071992547409931'],
    ['{"n":"a\\"b"}', '"a\\"b"'],
    ['{"n":null}', '1'],
    ['{"n":{"a":1}}', '1'],
    ['{"n":""}', '1'],
    ['{"n":', '1'],
    ['{"n":2,"n":3}', '1'],
    ['[{"n":2}]', '1'],
    ['n', '1'],
    [`{"n":"${'a'.repeat(1_000)}"}`, '1'],
  ])('goes on behind a text or a number of the newest message: %s', async (message, cursor) => {
    await using server = await MessageServer.start((socket) => {
      socket.send('{"n":1}')
      socket.send(message)
    })
    await using run = follow(server.port, { subscribe: '{cursor}', cursorField: 'n' })
    await expect.poll(() => run.messages.length).toBe(2)
    expect(run.position?.['cursor']).toBe(cursor)
  })
})

describe('a server that closes the connection', () => {
  test.each([1003, 1007, 1008, 1009, 1010, 3000, 3003, 4000, 4999])(
    'with %i has something to be mended',
    async (code) => {
      expect(await endOf(code)).toBeInstanceOf(SourceRefused)
    },
  )

  test.each([1012, 1013])('with %i is left alone for a while', async (code) => {
    const { retryAfterMs } = (await endOf(code)) as RetryLater
    expect(retryAfterMs).toBeGreaterThanOrEqual(5_000)
    expect(retryAfterMs).toBeLessThanOrEqual(30_000)
  })

  test.each([1000, 1001, 1011, 3001])('with %i is asked again', async (code) => {
    const end = await endOf(code)
    expect(end).not.toBeInstanceOf(SourceRefused)
    expect(end).not.toBeInstanceOf(RetryLater)
  })

  test('may say why, without secrets', async () => {
    const { message } = await endOf(1008, 'no hush,\nhush or HUSH', {
      subscribe: '{token}',
      credentials: { token: 'hush' },
      headers: { 'x-key': 'HUSH' },
    })
    expect(message).toBe(
      'the server has closed the connection (1008: no ********, ******** or ********)',
    )
  })
})

describe('a server that does not agree to a WebSocket', () => {
  test.each<[number, typeof Error | typeof SourceRefused, string]>([
    [401, SourceRefused, 'the answer was 401: no ********'],
    [302, Error, 'the answer was 302'],
    [200, Error, 'the answer was 200: no ********'],
    [500, Error, 'the answer was 500: no ********'],
  ])('answers %i', async (status, kind, message) => {
    await using server = await ApiServer.start((_, answer) => {
      answer
        .writeHead(status, { location: 'http://10.0.0.1/' })
        .end(status === 302 ? '' : 'no hush')
    })
    const authentication = { type: 'bearer', token: 'hush' }
    await using run = follow(server.port, { authentication })
    const end = (await run.ended) as Error
    expect(end).toBeInstanceOf(kind)
    expect(end.message).toBe(message)
  })

  test('may have us wait', async () => {
    await using server = await ApiServer.start((_, answer) =>
      answer.writeHead(503, { 'retry-after': '9' }).end(),
    )
    await using run = follow(server.port)
    expect(await run.ended).toMatchObject({ retryAfterMs: 9_000 })
  })

  test('is shown a new token, once', async () => {
    let tokens = 0
    await using server = await ApiServer.start(({ url }, answer) => {
      if (url.pathname === '/token')
        json(answer, { access_token: `t${tokens++}`, token_type: 'bearer' })
      else answer.writeHead(401).end()
    })
    const tokenUrl = `${server.origin}/token`
    const authentication = { type: 'oauth2', tokenUrl, clientId: 'a', clientSecret: 'b' }
    await using run = follow(server.port, { authentication })
    expect(await run.ended).toBeInstanceOf(SourceRefused)
    expect(
      server.asked
        .map(({ headers }) => headers.authorization)
        .filter((one) => one?.startsWith('Bearer')),
    ).toEqual(['Bearer t0', 'Bearer t1'])
  })
})

test('a trial shows what comes, and takes nothing away from a source that runs', async () => {
  const sockets: WebSocket[] = []
  await using server = await MessageServer.start((socket) => {
    sockets.push(socket)
    socket.send('{"number":1,"timestamp":"2026-03-01T00:00:00Z"}')
  })
  const { port } = server
  const source = { protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/` }
  await using running = new FetchingSource({ connector: webSocket, source, ports: [port] })
  running.start()
  await expect.poll(() => running.entries().numbers).toEqual([1])
  const dial = guardedDial(
    new EgressGuard({ allowed: new AllowedDestinations([{ host: '127.0.0.1', port }]) }),
  )
  const trials = new SourceTrials({
    connectors: [webSocket],
    dial,
    nowUs: () => Date.now() * 1_000,
  })
  const trial = await trials.try(source, newId<UserId>())
  expect(trial).toMatchObject({ isReached: true, count: 1, problem: undefined })
  await expect.poll(() => server.clients).toBe(1)
  sockets[0]?.send('{"number":2,"timestamp":"2026-03-01T00:00:01Z"}')
  await expect.poll(() => running.entries().numbers).toEqual([1, 2])
})
