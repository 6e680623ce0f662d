import { expect, test } from 'vitest'
import { type Answer, ApiClient } from '../../support/api-client.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { foundIn } from '../../support/left-by-a-kill.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

type Template = Readonly<Record<string, unknown>>

function post(api: ApiClient, key: string, name = key): Promise<Answer<Template>> {
  const body = { name, hint: 'a boiler', required_streams: [] }
  return api.withToken('POST', '/templates', body, { 'idempotency-key': key })
}

/** How many templates the files hold, as a kill would leave them. */
function templatesIn(dataDir: string): number {
  return foundIn(dataDir, 'state.db', '(SELECT count(*) FROM templates)')
}

async function names(api: ApiClient): Promise<string[]> {
  const found: string[] = []
  for (let page = 1; ; page++) {
    const path = `/templates?page_size=100&page=${page}`
    const { body } = await api.withKey<{ content: { name: string }[] }>('GET', path)
    if (body.content.length === 0) return found.toSorted()
    found.push(...body.content.map(({ name }) => name))
  }
}

test('a kill after the change was written, before anybody could hear of it, makes one thing', async () => {
  await using service = await FaultyService.start()
  await service.api.token()
  service.faults.begin('hold-sync', 'state.db')
  const unanswered = post(service.api, 'a').catch((error: unknown) => error)
  await service.until('the change is in the file', async () => templatesIn(service.dataDir) === 1)
  await service.kill()
  expect(await unanswered).toBeInstanceOf(Error)

  await service.restart()
  const again = await post(service.api, 'a')
  const other = await post(service.api, 'a', 'pump')

  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(other.status).toBe(422)
  expect(await names(service.api)).toEqual(['a'])
})

test('kills at any moment make one thing of each key, and lose nothing that was answered', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_260)
  const answered = new Map<string, unknown>()
  const sent = new Set<string>()
  for (let round = 0; round < 6; round++) {
    const service = await services.start(dataDir)
    const api = new ApiClient(service.http)
    await api.token()
    // New keys, and all that came before: with an answer or without one.
    for (let index = 0; index < 40; index++) sent.add(`${round}-${index}`)
    const killed = Promise.withResolvers<void>()
    let answersLeft = random.integer(1, sent.size)
    const requests = [...sent].map(async (key) => {
      const { status, body } = await post(api, key)
      expect(status).toBe(201)
      if (answered.has(key)) expect(body).toEqual(answered.get(key))
      answered.set(key, body)
      if (--answersLeft === 0) killed.resolve(service.end('SIGKILL').then(() => undefined))
    })
    const results = Promise.allSettled(requests)
    await killed.promise
    for (const result of await results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(TypeError)
    }
  }

  const api = new ApiClient((await services.start(dataDir)).http)
  for (const key of sent) {
    const { status, body } = await post(api, key)
    expect(status).toBe(201)
    if (answered.has(key)) expect(body).toEqual(answered.get(key))
  }

  expect(await names(api)).toEqual([...sent].toSorted())
})
