import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import { handleError } from '../../src/http/error-handler.ts'
import type { CallerOf } from '../../src/http/server.ts'
import { QueryShare } from '../../src/queries/query-share.ts'

const app = Fastify()
let waiting: (() => void)[] = []
let address = ''

beforeAll(async () => {
  app.setErrorHandler(handleError)
  const callerOf = ((request) => ({ userId: request.headers['x-user'] as UserId })) as CallerOf
  app.addHook('preHandler', new QueryShare().hook(callerOf))
  app.get('/', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await promise
    return {}
  })
  app.get('/quick', async () => ({}))
  address = await app.listen({ host: '127.0.0.1', port: 0 })
})

afterAll(async () => {
  await app.close()
})

async function ask(
  user: string,
  { path = '', signal }: { readonly path?: string; readonly signal?: AbortSignal } = {},
): Promise<number> {
  const headers = { 'x-user': user }
  const response = await fetch(`${address}/${path}`, { headers, ...(signal && { signal }) })
  await response.text()
  return response.status
}

async function untilWaiting(count: number): Promise<void> {
  await expect.poll(() => waiting.length).toBe(count)
}

function answerAll(): void {
  for (const answer of waiting) answer()
  waiting = []
}

test('one user may have 24 queries open, and nobody else is kept out by that', async () => {
  const open = Array.from({ length: 24 }, () => ask('ada'))
  await untilWaiting(24)

  expect(await ask('ada')).toBe(429)
  const other = ask('bob')
  await untilWaiting(25)
  answerAll()
  expect(await Promise.all([...open, other])).toEqual(Array(25).fill(200))
})

test('a place is free again when the answer is sent or its client has gone', async () => {
  const leaving = new AbortController()
  const left = Array.from({ length: 24 }, () =>
    ask('eve', { signal: leaving.signal }).catch(() => 'gone'),
  )
  await untilWaiting(24)
  leaving.abort()
  expect(new Set(await Promise.all(left))).toEqual(new Set(['gone']))
  answerAll()

  await expect.poll(() => ask('eve', { path: 'quick' })).toBe(200)
})
