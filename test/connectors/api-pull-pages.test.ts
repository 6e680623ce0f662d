import { array, assert, asyncProperty, integer, nat } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextLink } from '../../connectors/api-pull/link-header.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, type AskedOfServer, json } from '../support/api-server.ts'

const item = (number: number) => ({ number })
const numbersOf = (texts: readonly string[]) =>
  texts
    .flatMap((text) => JSON.parse(text) as { number: number } | { number: number }[])
    .map(({ number }) => number)

/** A list, of which pages can be asked for in each way. */
async function listServer(items: readonly (readonly unknown[])[]) {
  const flat = items.flat()
  const server = await ApiServer.start(({ url, body }, answer) => {
    const parameters = {
      ...Object.fromEntries(url.searchParams),
      ...(body === '' ? {} : (JSON.parse(body) as Record<string, string>)),
    }
    const { page, skip, cursor, size = '3' } = parameters
    if (page !== undefined) json(answer, { data: { items: items[Number(page) - 1] ?? [] } })
    else if (skip !== undefined) {
      const start = Number(skip)
      json(answer, { data: { items: flat.slice(start, start + Number(size)) } })
    } else {
      const place = Number(cursor ?? 0)
      const next = place + 1 < items.length ? place + 1 : null
      const link = next === null ? {} : { link: `<?cursor=${next}>; rel="prev next"` }
      json(answer, { data: { items: items[place] ?? [], next: next && `${next}` } }, link)
    }
  })
  return server
}

const kinds = {
  page: { type: 'page', pagesMax: 100 },
  offset: { type: 'offset', parameter: 'skip', sizeParameter: 'size', pageSize: 3, pagesMax: 100 },
  cursor: { type: 'cursor', parameter: 'cursor', cursorPath: 'data.next', pagesMax: 100 },
  link: { type: 'link', pagesMax: 100 },
}

/** Each page has an item at least: one without ends a list of pages. */
const lists = array(integer({ min: 1, max: 4 }), { maxLength: 8 }).map((sizes) => {
  let number = 0
  return sizes.map((size) => Array.from({ length: size }, () => item(number++)))
})

describe.each(Object.entries(kinds))('a list whose pages are found by %s', (_, pagination) => {
  test('is read whole, each item once, in order, wherever rounds end early', async () => {
    await assert(
      asyncProperty(lists, array(nat(4), { maxLength: 6 }), async (list, cuts) => {
        await using api = await listServer(list)
        const source = { endpoint: `${api.origin}/list`, itemsPath: 'data.items', pagination }
        const got: number[] = []
        let position: ApiRounds['position']
        const all = list.flat().length
        for (const pages of [...cuts, Number.POSITIVE_INFINITY]) {
          if (got.length === all) break
          // Nothing but the position outlasts a round.
          const rounds = new ApiRounds(source, [api.port], { position })
          const messages = await rounds.round(pages)
          got.push(...numbersOf(messages.map(({ payload }) => Buffer.from(payload).toString())))
          position = rounds.position
        }
        expect(got).toEqual(list.flat().map(({ number }) => number))
      }),
      { numRuns: 60 },
    )
  })

  test('is read anew in the round after its end', async () => {
    await using api = await listServer([[item(0), item(1)], [item(2)]])
    const source = { endpoint: `${api.origin}/list`, itemsPath: 'data.items', pagination }
    const rounds = new ApiRounds(source, [api.port])
    expect(numbersOf(await rounds.texts())).toEqual([0, 1, 2])
    expect(rounds.position?.['next']).toBeUndefined()
    expect(numbersOf(await rounds.texts())).toEqual([0, 1, 2])
  })

  test('is read in several rounds when it has more pages than one round may ask for', async () => {
    await using api = await listServer(
      [0, 1, 2, 3, 4].map((start) => [start * 3, start * 3 + 1, start * 3 + 2].map(item)),
    )
    const source = {
      endpoint: `${api.origin}/list`,
      itemsPath: 'data.items',
      pagination: { ...pagination, pagesMax: 2 },
    }
    const rounds = new ApiRounds(source, [api.port])
    expect(numbersOf(await rounds.texts())).toEqual([0, 1, 2, 3, 4, 5])
    expect(api.asked).toHaveLength(2)
    expect(numbersOf(await rounds.texts())).toEqual([6, 7, 8, 9, 10, 11])
  })
})

async function requestsFor(pagination: object, source: object = {}) {
  await using api = await ApiServer.start((_, answer) =>
    json(answer, {
      items: api.asked.length < 3 ? [item(1), item(api.asked.length)] : [],
      next: 12345678901234567890n.toString() + api.asked.length,
    }),
  )
  const all = { endpoint: `${api.origin}/?site=7`, itemsPath: 'items', pagination, ...source }
  await new ApiRounds(all, [api.port]).round()
  return { paths: api.paths, bodies: api.asked.map(({ body }) => body) }
}

describe('what is asked for', () => {
  test.each([
    [{ type: 'page' }, ['page=1', 'page=2', 'page=3']],
    [{ type: 'page', parameter: 'p', firstPage: 0 }, ['p=0', 'p=1', 'p=2']],
    [{ type: 'page', pageSize: 3 }, ['page=1']],
    [{ type: 'page', pageSize: 2, sizeParameter: 'n' }, ['page=1&n=2', 'page=2&n=2', 'page=3&n=2']],
    [{ type: 'offset' }, ['offset=0', 'offset=2', 'offset=4']],
  ])('by %j', async (pagination, queries) => {
    const { paths } = await requestsFor(pagination)
    expect(paths).toEqual(queries.map((query) => `/?site=7&${query}`))
  })

  test('by a cursor in the body', async () => {
    const pagination = { type: 'cursor', parameter: 'after', cursorPath: 'next', in: 'body' }
    const { bodies } = await requestsFor(pagination, { method: 'POST', body: { since: 1 } })
    expect(bodies).toEqual([
      '{"since":1}',
      '{"since":1,"after":"123456789012345678901"}',
      '{"since":1,"after":"123456789012345678902"}',
    ])
  })
})

test('a cursor that is a number is sent as it is written', async () => {
  await using api = await ApiServer.start((_, answer) =>
    json(
      answer,
      api.asked.length > 1 ? '{"i": [], "n": null}' : '{"i": [{}], "n": 12345678901234567890}',
    ),
  )
  const pagination = { type: 'cursor', parameter: 'c', cursorPath: 'n' }
  await new ApiRounds({ endpoint: api.origin, itemsPath: 'i', pagination }, [api.port]).round()
  expect(api.paths).toEqual(['/', '/?c=12345678901234567890'])
})

test('an API that always names a cursor is read on from there', async () => {
  const items = [item(0), item(1)]
  await using api = await ApiServer.start(({ url }, answer) => {
    const start = Number(url.searchParams.get('after') ?? 0)
    json(answer, { items: items.slice(start, start + 2), next: Math.min(items.length, start + 2) })
  })
  const pagination = { type: 'cursor', parameter: 'after', cursorPath: 'next' }
  const rounds = new ApiRounds({ endpoint: api.origin, itemsPath: 'items', pagination }, [api.port])
  expect(numbersOf(await rounds.texts())).toEqual([0, 1])
  expect(await rounds.texts()).toEqual([])
  items.push(item(2))
  expect(numbersOf(await rounds.texts())).toEqual([2])
})

test.each([400, 404, 410, 422])(
  'a cursor that is forgotten (%s) has the list read anew',
  async (status) => {
    await using api = await ApiServer.start(({ url }, answer) => {
      if (url.searchParams.has('c')) answer.writeHead(status).end('unknown cursor')
      else json(answer, '{"i": [{"number": 1}], "n": null}')
    })
    const pagination = { type: 'cursor', parameter: 'c', cursorPath: 'n' }
    const source = { endpoint: api.origin, itemsPath: 'i', pagination }
    const rounds = new ApiRounds(source, [api.port], { position: { next: 'old' } })
    expect(numbersOf(await rounds.texts())).toEqual([1])
    expect(rounds.position).toEqual({})
  },
)

async function failure(next: (asked: AskedOfServer) => string, pagination: object) {
  await using api = await ApiServer.start((asked, answer) => {
    const cursor = next(asked)
    json(answer, { items: [item(1)], next: cursor }, { link: `<${cursor}>; rel=next` })
  })
  const rounds = new ApiRounds({ endpoint: `${api.origin}/`, itemsPath: 'items', pagination }, [
    api.port,
  ])
  return { failure: await rounds.failure(), asked: api.asked.length }
}

describe('a list without an end', () => {
  const cursor = { type: 'cursor', parameter: 'c', cursorPath: 'next' }

  test.each<[string, object, (asked: AskedOfServer) => string, number]>([
    ['a cursor that leads to itself', cursor, () => 'a', 2],
    ['cursors in a circle', cursor, ({ url }) => (url.search === '?c=a' ? 'b' : 'a'), 3],
    ['a link that leads to itself', { type: 'link' }, () => '/', 1],
    ['links in a circle', { type: 'link' }, ({ url }) => (url.search === '?a' ? '?b' : '?a'), 3],
  ])('fails: %s', async (_, pagination, next, requests) => {
    const { failure: error, asked } = await failure(next, pagination)
    expect(error.message).toContain('leads back to a page of this round')
    expect(asked).toBe(requests)
  })

  test('fails when the API does not know the parameter', async () => {
    const { failure: error, asked } = await failure(() => '', { type: 'page' })
    expect(error.message).toContain('may not know the parameter page')
    expect(asked).toBe(2)
  })

  test('ends with the round when there is always another cursor', async () => {
    await using api = await ApiServer.start((_, answer) =>
      json(answer, { items: [item(1)], next: `${api.asked.length}` }),
    )
    const source = {
      endpoint: api.origin,
      itemsPath: 'items',
      pagination: { ...cursor, pagesMax: 50 },
    }
    const rounds = new ApiRounds(source, [api.port])
    expect(await rounds.texts()).toHaveLength(50)
    expect(rounds.position).toEqual({ next: '50' })
  })

  test('fails when a cursor is longer than anybody needs', async () => {
    const { failure: error } = await failure(() => 'x'.repeat(9_000), cursor)
    expect(error).toBeInstanceOf(SourceRefused)
  })
})

test('a header of links that are never closed is looked through once', () => {
  // What the thread itself has taken, in microseconds: a busy machine may have it wait meanwhile.
  const before = process.threadCpuUsage()
  expect(nextLink('<'.repeat(32_000))).toBeUndefined()
  expect(process.threadCpuUsage(before).user).toBeLessThan(100_000)
})

describe('a link to another origin', () => {
  test('is followed without anything that is secret', async () => {
    await using other = await ApiServer.start((_, answer) => json(answer, [item(2)]))
    await using api = await ApiServer.start((_, answer) =>
      json(answer, [item(1)], { link: `<${other.origin}/p2?x=1>; rel="next"` }),
    )
    const source = {
      endpoint: api.origin,
      headers: { 'x-secret': 'hush' },
      authentication: { type: 'bearer', token: 'hush' },
      pagination: { type: 'link' },
    }
    const rounds = new ApiRounds(source, [api.port, other.port])
    expect(numbersOf(await rounds.texts())).toEqual([1, 2])
    expect(JSON.stringify(api.asked)).toContain('hush')
    expect(JSON.stringify(other.asked)).not.toContain('hush')
  })

  test.each(['http://10.0.0.1/', 'http://169.254.169.254/'])('%s is not followed', async (link) => {
    await using api = await ApiServer.start((_, answer) =>
      json(answer, [item(1)], { link: `<${link}>; rel="next"` }),
    )
    const rounds = new ApiRounds({ endpoint: api.origin, pagination: { type: 'link' } }, [api.port])
    expect(await rounds.failure()).toMatchObject({ code: 'destination_not_allowed' })
  })
})
