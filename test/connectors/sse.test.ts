import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventText } from '../../connectors/web-events/event-text.ts'
import { sse } from '../../connectors/web-events/sse.ts'
import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { ApiServer } from '../support/api-server.ts'
import { RecordedRun } from '../support/recorded-run.ts'

type Answers = ConstructorParameters<typeof RecordedRun>[2]

/** One run of a source that is sent these bytes, in pieces, and then the end. */
async function follow(
  chunks: readonly (string | Uint8Array)[],
  { position, source = {} }: { position?: Answers; source?: object } = {},
) {
  await using server = await ApiServer.start((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const chunk of chunks) answer.write(chunk)
    answer.end()
  })
  await using run = open(server, { source, position })
  const end = (await run.ended) as Error
  const events = run.messages.map(({ payload, eventType }) => [
    eventType,
    Buffer.from(payload).toString(),
  ])
  return { events, position: run.position, end, asked: server.asked }
}

function open(
  server: ApiServer,
  { source = {}, position }: { source?: object; position?: SourcePosition | undefined } = {},
): RecordedRun {
  const endpoint = `${server.origin}/events`
  const opened = sse.open({
    streamId: newId<StreamId>(),
    source: { protocol: 'sse', endpoint, ...source },
  })
  return new RecordedRun(opened, server.port, position)
}

/** Why a run ends that is answered so. */
async function endOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  { body = '', source = {} } = {},
): Promise<Error> {
  await using server = await ApiServer.start((_, answer) =>
    answer.writeHead(status, headers).end(body),
  )
  await using run = open(server, { source })
  return (await run.ended) as Error
}

const eventStream = { 'content-type': 'text/event-stream' }

describe('what a server sends is read as the standard has it', () => {
  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['several lines of data', 'data: a\ndata:b\ndata:  c\n\n', [['message', 'a\nb\n c']]],
    [
      'names',
      'event: add\ndata: 1\n\ndata: 2\n\n',
      [
        ['add', '1'],
        ['message', '2'],
      ],
    ],
    ['an empty name', 'event: add\nevent:\ndata: 1\n\n', [['message', '1']]],
    ['no second mark', '\uFEFF\uFEFFdata: 1\n\ndata: 2\n\n', [['message', '2']]],
    ['comments', ': here\ndata: 1\n:\n\n: still\n\n', [['message', '1']]],
    ['unknown fields', 'DATA: 0\nfoo: bar\ndata: 1\nfoo\n\n', [['message', '1']]],
    ['no data', 'event: add\n\ndata\n\ndata: 1\n\n', [['message', '1']]],
    ['an end in the midst', 'data: 1\n\ndata: 2\n', [['message', '1']]],
    ['a mark at the beginning', '\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n', [['message', '1']]],
    [
      'any end of a line',
      'data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n',
      [
        ['message', '1'],
        ['message', '2'],
        ['message', '3'],
      ],
    ],
  ])('%s', async (_, text, events) => {
    expect((await follow([text])).events).toEqual(events)
  })

  test('however it is cut, with whichever ends of lines', async () => {
    const word = fc.string({
      unit: fc.constantFrom('a', ' ', ':', 'ü', '\u{1f9ca}', '"', '{'),
      minLength: 1,
    })
    const event = fc.record({
      name: fc.option(
        word.map((text) => `n${text}`),
        { nil: undefined },
      ),
      id: fc.option(fc.stringMatching(/^[a-z0-9]{0,5}$/), { nil: undefined }),
      lines: fc.array(word, { minLength: 1, maxLength: 3 }),
    })
    const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 50 })
    const ends = fc.constantFrom('\n', '\r', '\r\n')
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 8 }), cuts, ends, async (sent, sizes, end) => {
        const text = sent.map(({ name, id, lines }) =>
          [
            ...(name === undefined ? [] : [`event: ${name}`]),
            ...(id === undefined ? [] : [`id: ${id}`]),
            ...lines.map((line) => `data: ${line}`),
            '',
            '',
          ].join(end),
        )
        const chunks = cut(Buffer.from(text.join('')), sizes)
        const { events, position } = await follow(chunks)
        expect(events).toEqual(sent.map(({ name = 'message', lines }) => [name, lines.join('\n')]))
        const last = sent.findLast(({ id }) => id !== undefined)?.id
        expect(position?.['lastEventId']).toBe(last)
      }),
      { numRuns: 40 },
    )
  })
})

function cut(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = sizes[chunks.length % sizes.length] as number
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('the id of the last event', () => {
  test.each<[string, string, string | undefined]>([
    ['is kept with its event', 'id: 7\ndata: 1\n\ndata: 2\n\n', '7'],
    ['is kept without an event, too', 'data: 1\n\nid: 8\n\n', '8'],
    ['is not that of an event that is not whole', 'id: 7\ndata: 1\n\nid: 8\ndata: 2\n', '7'],
    ['is left out with a NUL in it', 'id: 7\ndata: 1\n\nid: 8\0\ndata: 2\n\n', '7'],
    ['is left out when no header can have it', 'id: 7\ndata: 1\n\nid: \x1b\ndata: 2\n\n', '7'],
    ['is taken back by an empty one', 'id: 7\ndata: 1\n\nid\ndata: 2\n\n', ''],
    ['is none where there is none', 'data: 1\n\n', undefined],
  ])('%s', async (_, text, id) => {
    expect((await follow([text])).position?.['lastEventId']).toBe(id)
  })

  test('is handed over together with its event, and never before it', async () => {
    const text = await EventText.begin({ source: 'a test', onRetry: () => undefined })
    const sent = 'id: 7\ndata: 1\n\ndata: 2\n\nid: 8\n\nid: 9\ndata\n\nid: 10\ndata: 3\n\n'
    const seen = text
      .read(Buffer.from(sent))
      .map(({ message, position }) => [
        message && Buffer.from(message.payload).toString(),
        position?.['lastEventId'],
      ])
    expect(seen).toEqual([
      ['1', '7'],
      ['2', undefined],
      [undefined, '8'],
      [undefined, '9'],
      ['3', '10'],
    ])
  })

  test('is what a server is told, as UTF-8', async () => {
    const { asked } = await follow([], { position: { lastEventId: 'ä 7' } })
    const sent = asked[0]?.headers['last-event-id'] as string
    expect(Buffer.from(sent, 'latin1').toString()).toBe('ä 7')
  })

  test.each<[string, SourcePosition | undefined, string | undefined]>([
    ['there was none yet', undefined, 'first'],
    ['it was taken back', { lastEventId: '' }, 'first'],
    ['there is one', { lastEventId: '7' }, '7'],
  ])('is that of the definition until there is one: %s', async (_, position, id) => {
    const source = { headers: { 'Last-Event-ID': 'first' } }
    const { asked } = await follow([], { position, source })
    expect(asked[0]?.headers['last-event-id']).toBe(id)
  })
})

describe('an answer', () => {
  test('of 204 has us stay away', async () => {
    const end = await endOf(204, {})
    expect(end).toBeInstanceOf(SourceRefused)
    expect(end.message).toContain('stay away')
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['of another type', { 'content-type': 'text/html' }],
    ['without a type', {}],
    ['that is compressed', { ...eventStream, 'content-encoding': 'gzip' }],
  ])('%s is refused', async (_, headers) => {
    expect(await endOf(200, headers, { body: 'data: 1\n\n' })).toBeInstanceOf(SourceRefused)
  })

  test.each([429, 503])('of %i says when to come again', async (status) => {
    const end = await endOf(status, { 'retry-after': '7' })
    expect(end).toMatchObject({ retryAfterMs: 7_000 })
  })

  test('of 401 tells of no secret', async () => {
    const authentication = { type: 'bearer', token: 'hush-hush' }
    const end = await endOf(401, {}, { body: 'no hush-hush here', source: { authentication } })
    expect(end).toBeInstanceOf(SourceRefused)
    expect(end.message).toBe('the answer was 401: no ******** here')
  })

  test('of a redirect is followed, with what is secret where it stays with the server', async () => {
    await using server = await ApiServer.start(({ url }, answer) => {
      if (url.pathname === '/events') answer.writeHead(307, { location: '/further' }).end()
      else answer.writeHead(200, eventStream).end('data: 1\n\n')
    })
    await using run = open(server, { source: { authentication: { type: 'bearer', token: 'a' } } })
    await run.ended
    expect(run.rows).toEqual(['1'])
    expect(run.messages[0]?.source).toBe(`events of ${server.origin}/further`)
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer a',
      'Bearer a',
    ])
  })

  test('of a redirect into a private network is not followed', async () => {
    expect(await endOf(302, { location: 'http://10.0.0.1/' })).toMatchObject({
      code: 'destination_not_allowed',
    })
  })
})

describe('the end of a stream', () => {
  test('has it asked for again, as soon as the server has said', async () => {
    const { end } = await follow(['retry: 12000\n\n'])
    expect(end).toBeInstanceOf(RetryLater)
    expect(end).toMatchObject({ retryAfterMs: 12_000 })
  })

  test.each([
    ['retry: 99999999999999999999\n', 3_600_000],
    ['retry: 5\n', 5],
    ['retry: 1s\n', undefined],
    ['retry: -1\n', undefined],
  ])('knows bounds: %j', async (text, retryAfterMs) => {
    const { end } = await follow([text])
    expect((end as RetryLater).retryAfterMs).toBe(retryAfterMs)
  })
})
