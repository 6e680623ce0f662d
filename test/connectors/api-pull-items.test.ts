import { array, assert, asyncProperty, dictionary, jsonValue, record, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer } from '../support/api-server.ts'

/** A round of an API that answers all the same. */
async function roundOf(body: string, source: object): Promise<readonly FetchedMessage[]> {
  await using api = await ApiServer.start((_, answer) => {
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.end(body)
  })
  return await new ApiRounds({ endpoint: `${api.origin}/v1`, ...source }, [api.port]).round()
}

async function textsOf(body: string, source: object): Promise<readonly string[]> {
  const messages = await roundOf(body, source)
  return messages.map(({ payload }) => Buffer.from(payload).toString())
}

/** The requests of a round whose pages are these. */
async function requestsOf(pages: readonly unknown[], source: object): Promise<readonly string[]> {
  const asked: string[] = []
  await using api = await ApiServer.start(({ url }, answer) => {
    const page = pages[asked.length] ?? {}
    asked.push(url.pathname + url.search)
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.end(JSON.stringify(page))
  })
  const rounds = new ApiRounds({ endpoint: `${api.origin}/v1`, ...source }, [api.port])
  await rounds.round()
  return asked
}

const enclosed = (some: readonly string[]) => `{"u":7,"l":[${some.join(',')}]}`

const numbers = (count: number) => Array.from({ length: count }, (_, number) => `{"n":${number}}`)

describe('a list at a path', () => {
  test('comes in messages that have all around it, and some of its items each', async () => {
    const envelope = record({
      before: dictionary(string({ unit: 'grapheme-ascii' }), jsonValue(), { maxKeys: 3 }),
      after: dictionary(string({ unit: 'grapheme-ascii' }), jsonValue(), { maxKeys: 3 }),
    })
    await assert(
      asyncProperty(envelope, array(jsonValue(), { maxLength: 5 }), async (around, more) => {
        const items = [...Array.from({ length: 700 }, (_, at) => at), ...more]
        const body = JSON.stringify({ ...around, data: { rows: items, meta: [1] } })
        const texts = await textsOf(body, { items: 'data.rows' })
        const read = texts.map((text) => JSON.parse(text) as { data: { rows: unknown[] } })
        expect(texts.length).toBe(2)
        expect(read.flatMap(({ data }) => data.rows)).toEqual(JSON.parse(JSON.stringify(items)))
        for (const one of read) {
          expect(one).toEqual({ ...around, data: { rows: one.data.rows, meta: [1] } })
        }
      }),
      { numRuns: 20 },
    )
  })

  test('leaves all bytes as they are', async () => {
    const body = '\ufeff {"a" :1.50, "l": [ {"n":1e400} ,{ "n":2}] , "z":\n9007199254740993 }'
    expect(await textsOf(body, { items: [{ path: 'l' }, { path: 'n' }] })).toEqual([
      '{"a" :1.50, "l": [{"n":1e400},{ "n":2}] , "z":\n9007199254740993 }',
    ])
  })

  test('has one item that cannot be read alone', async () => {
    const items = numbers(300)
    items[100] = '{"n":1,"n":2}'
    const texts = await textsOf(`{"u":7,"l":[${items.join(',')}]}`, { items: 'l' })
    expect(texts).toEqual(
      [items.slice(0, 100), items.slice(100, 101), items.slice(101)].map(enclosed),
    )
  })

  test.each(['{"l":[]}', '{"l":null}'])('without items is no message: %s', async (body) => {
    expect(await textsOf(body, { items: 'l' })).toEqual([])
  })

  test.each(['{"l":{"n":1},"u":7}', '{"l":1}'])('that is none is one message: %s', async (body) => {
    expect(await textsOf(body, { items: 'l' })).toEqual([body])
  })

  test('which is the whole answer comes as it came before', async () => {
    expect(await textsOf('[{"n":1}, {"n":2}]', { items: '$' })).toEqual(['[{"n":1},{"n":2}]'])
  })

  test('with more around it than is copied is one message', async () => {
    const body = `{"around":"${'x'.repeat(300_000)}","l":[${numbers(1_200).join(',')}]}`
    expect(await textsOf(body, { items: 'l' })).toEqual([body])
  })

  test('whose copies would be too much together is one message, and too long for one', async () => {
    const item = `{"n":"${'y'.repeat(10_000)}"}`
    const items = Array.from({ length: 900 }, (_, at) => (at % 2 ? item : '{"n":1,"n":1}'))
    const body = `{"around":"${'x'.repeat(200_000)}","l":[${items.join(',')}]}`
    const messages = await roundOf(body, { items: 'l' })
    expect(messages).toEqual([
      expect.objectContaining({ problem: expect.stringContaining('larger than 4 MiB') as string }),
    ])
  })

  test('that is not there fails the round', async () => {
    await using api = await ApiServer.start((_, answer) => answer.end('{"error":"no"}'))
    const source = { endpoint: `${api.origin}/v1`, items: 'data.rows' }
    const failure = await new ApiRounds(source, [api.port]).failure()
    expect(failure.message).toContain('there is nothing at data.rows')
  })
})

describe('any other form', () => {
  test.each([
    [{ path: 'hourly', as: 'columns' }],
    [{ path: 'rows', as: 'rows', columns: ['t', 'v'] }],
    [{ path: 'data[0].rows' }],
    [[{ path: 'map', as: 'map' }, { path: 'l' }]],
  ])('is one message, byte for byte: %j', async (items) => {
    const body =
      ' {"hourly":{"t":[1, 2]},"rows":[[1,2]],"data":[{"rows":[1]}],"map":{"a":{"l":[1]}}}\n'
    expect(await textsOf(body, { items })).toEqual([body])
  })

  test.each([
    [{ path: 'rows', as: 'rows', columns: ['t', 'v'] }, { rows: [[1, 2]] }, { rows: [] }],
    [{ path: 'm', as: 'map' }, { m: { a: 1 } }, { m: {} }],
    [{ path: 'h', as: 'columns' }, { h: { t: [1], v: [2] } }, { h: { t: [], v: [] } }],
    ['l', { l: [1] }, { l: [] }],
    ['l', { l: [1] }, { l: null }],
  ])('ends the pages with one that has no items: %j', async (items, page, empty) => {
    const pages = [page, { ...page, more: 1 }, empty, page]
    const asked = await requestsOf(pages, { items, pagination: { type: 'page' } })
    expect(asked).toEqual(['/v1?page=1', '/v1?page=2', '/v1?page=3'])
  })

  test('has its cursor beside its items', async () => {
    const pages = [{ c: { next: 'b' }, h: { t: [1] } }, { h: { t: [2] } }]
    const pagination = { type: 'cursor', parameter: 'after', cursorPath: 'c.next' }
    const items = { path: 'h', as: 'columns' }
    expect(await requestsOf(pages, { items, pagination })).toEqual(['/v1', '/v1?after=b'])
  })
})

test('what is done with items does not change how far a source was read', () => {
  const endpoint = 'http://127.0.0.1/v1'
  const [one, other] = ['a', { path: 'b', as: 'map' }].map(
    (items) => new ApiRounds({ endpoint, items }, []).identity,
  )
  expect(one).toBe(other)
})
