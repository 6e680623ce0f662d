import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import { QueryShare } from '../../src/reading/queries/query-share.ts'
import { handleError } from '../../src/requests/http/error-handler.ts'

const app = Fastify()
const share = new QueryShare()
let waiting: (() => void)[] = []
let goneCount = 0
let address = ''

const needsNumber = { querystring: { type: 'object', properties: { limit: { type: 'integer' } } } }

beforeAll(async () => {
  app.setErrorHandler(handleError)
  app.addHook('onRequest', (_, reply, done) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) goneCount++
    })
    done()
  })
  const answers = {
    '/slow': async () => {
      await turn()
      return {}
    },
    '/quick': async () => ({}),
    '/lines': async () => Readable.from(lines()),
    '/late-lines': async () => {
      await turn()
      return Readable.from(lines())
    },
    '/broken': async () => {
      throw new Error('broken')
    },
    '/broken-lines': async () => Readable.from(brokenLines()),
  }
  for (const [path, answer] of Object.entries(answers)) {
    app.get(path, { schema: needsNumber }, async (request) => {
      return await share.during(request.headers['x-user'] as UserId, answer)
    })
  }
  address = await app.listen({ host: '127.0.0.1', port: 0 })
})

afterAll(async () => {
  await app.close()
})

afterEach(() => {
  answerAll()
  goneCount = 0
})

/** The turn of a query at the store. */
async function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(resolve)
  await promise
}

async function* lines(): AsyncGenerator<string> {
  yield 'first\n'
  await turn()
  yield 'second\n'
}

async function* brokenLines(): AsyncGenerator<string> {
  yield 'first\n'
  throw new Error('broken')
}

interface Asking {
  readonly path?: string
  readonly method?: string
  readonly signal?: AbortSignal
}

async function ask(user: string, { path = 'slow', ...rest }: Asking = {}): Promise<number> {
  const response = await fetch(`${address}/${path}`, { headers: { 'x-user': user }, ...rest })
  await response.text()
  return response.status
}

function askOften(count: number, user: string, asking?: Asking): Promise<number | string>[] {
  return Array.from({ length: count }, () => ask(user, asking).catch(() => 'gone'))
}

async function untilWaiting(count: number): Promise<void> {
  await expect.poll(() => waiting.length).toBe(count)
}

function answerAll(): void {
  for (const answer of waiting) answer()
  waiting = []
}

/** Asks, goes away, and waits until the service knows. */
async function askAndLeave(count: number, user: string, path: string): Promise<void> {
  const leaving = new AbortController()
  const left = askOften(count, user, { path, signal: leaving.signal })
  await untilWaiting(count)
  leaving.abort()
  expect(new Set(await Promise.all(left))).toEqual(new Set(['gone']))
  await expect.poll(() => goneCount).toBe(count)
}

test('one user may have 24 queries open, and nobody else is kept out by that', async () => {
  const open = askOften(24, 'ada')
  await untilWaiting(24)

  expect(await ask('ada')).toBe(429)
  const other = ask('bob')
  await untilWaiting(25)
  answerAll()
  expect(await Promise.all([...open, other])).toEqual(Array(25).fill(200))
})

test.each(['slow', 'lines', 'late-lines'])(
  'a client that goes away keeps its places until its queries have ended: /%s',
  async (path) => {
    const user = `eve of ${path}`
    await askAndLeave(24, user, path)

    expect(await ask(user, { path: 'quick' })).toBe(429)
    answerAll()
    await expect.poll(() => ask(user, { path: 'quick' })).toBe(200)
  },
)

test('lines keep their place until the last one is sent', async () => {
  const open = askOften(24, 'gil', { path: 'lines' })
  await untilWaiting(24)

  expect(await ask('gil', { path: 'quick' })).toBe(429)
  answerAll()
  expect(await Promise.all(open)).toEqual(Array(24).fill(200))
  await expect.poll(() => ask('gil', { path: 'quick' })).toBe(200)
})

test.each([
  ['quick', 'GET', 200],
  ['quick', 'HEAD', 200],
  ['quick?limit=x', 'GET', 400],
  ['broken', 'GET', 500],
  ['broken', 'HEAD', 500],
  ['broken-lines', 'HEAD', 200],
])('a place is given back once by /%s (%s)', async (path, method, status) => {
  const user = `kay of ${method} ${path}`
  const [held] = askOften(1, user)
  await untilWaiting(1)
  for (let time = 0; time < 30; time++) expect(await ask(user, { path, method })).toBe(status)
  const others = askOften(23, user)
  await untilWaiting(24)

  expect(await ask(user)).toBe(429)
  answerAll()
  expect(await Promise.all([held, ...others])).toEqual(Array(24).fill(200))
})
