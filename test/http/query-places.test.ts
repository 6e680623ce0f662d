import { beforeAll, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let ids: Readonly<Record<'stream' | 'vault', string>>
let authorization: string

beforeAll(async () => {
  const stream = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${stream}`)
  ids = { stream, vault: body.vaultId }
  await service.api.withToken('POST', `/streams/${stream}/data`, [{ temperature: 20 }])
  await service.api.settled(stream, 1)
  authorization = `Bearer ${await service.api.token()}`
})

interface Question {
  readonly path: string
  readonly method?: string
  readonly accept?: string
  readonly body?: object
}

const hourly = { fields: ['temperature'], aggregation: 'hourly' }

const questions: readonly (readonly [string, Question])[] = [
  ['readings', { path: '/streams/{stream}/data' }],
  ['the head of readings', { path: '/streams/{stream}/data', method: 'HEAD' }],
  ['lines', { path: '/streams/{stream}/data', accept: 'text/csv' }],
  ['the head of lines', { path: '/streams/{stream}/data', accept: 'text/csv', method: 'HEAD' }],
  ['points as lines', { path: '/streams/{stream}/data?aggregation=hourly', accept: 'text/csv' }],
  ['the newest reading', { path: '/streams/{stream}/latest' }],
  ['the newest readings of a vault', { path: '/vaults/{vault}/latest' }],
  ['many streams', { path: '/query', method: 'POST', body: hourly }],
]

async function ask(question: Question, signal?: AbortSignal): Promise<number> {
  const { path, method = 'GET', accept = 'application/json', body } = question
  const url = path.replace('{stream}', ids.stream).replace('{vault}', ids.vault)
  const response = await fetch(service.api.base + url, {
    method,
    headers: { authorization, accept, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  await response.arrayBuffer()
  return response.status
}

async function askAll(question: Question, signal?: AbortSignal): Promise<readonly unknown[]> {
  const all = Array.from({ length: 200 }, () => ask(question, signal).catch(() => undefined))
  return await Promise.all(all)
}

test.each(questions)(
  'a user who asks for %s, often, and goes away has all places again later',
  async (_, question) => {
    for (let round = 0; round < 2; round++) {
      const leaving = new AbortController()
      const left = askAll(question, leaving.signal)
      await ask({ path: '/streams/{stream}' })
      leaving.abort()
      await left
    }

    await expect.poll(() => ask(question), { timeout: 30_000 }).toBe(200)
    for (let time = 0; time < 30; time++) expect(await ask(question)).toBe(200)
  },
)
