import { afterAll, describe, expect, test } from 'vitest'
import { ApiServer } from '../support/api-server.ts'
import { runningService } from '../support/running-service.ts'
import { ToldStream } from '../support/told-messages.ts'

const answers: Readonly<Record<string, string>> = {
  '/list': JSON.stringify({
    site: 'north',
    data: { rows: [{ n: { level: 1 } }, { n: { level: 50 } }] },
    meta: { unit: 'bar' },
  }),
  '/columns': JSON.stringify({ site: 'north', hourly: { level: [1, 50], unit: ['bar', 'bar'] } }),
}
const api = await ApiServer.start(({ url }, answer) => {
  answer.writeHead(200, { 'content-type': 'application/json' })
  answer.end(answers[url.pathname])
})
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${api.port}` })

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

/** Asked once when it is made, and not again in this century. */
const schedule = '0 0 29 2 *'

const type = 'api_pull'

const list = {
  source: { endpoint: `${api.origin}/list`, schedule, items: 'data.rows' },
  schema: {
    site: { type: 'string', from: '$message.site' },
    unit: { type: 'string', from: '$parent.meta.unit' },
    level: { type: 'number', from: 'n.level' },
  },
} as const

describe('an answer of an API', () => {
  test('that is cut has what is around its items in each of them, and in the quarantine', async () => {
    const { level: _, ...fields } = list.schema
    const { source } = list
    const stream = await ToldStream.make(service.api, fields, { type, source, path: 'n.level' })
    await service.api.withToken('POST', `/streams/${stream.id}/source/run`, {})
    await stream.has({ site: 'north', unit: 'bar' })
  })

  test('that is one message brings its columns', async () => {
    const fields = { site: list.schema.site, unit: { type: 'string' } }
    const items = { path: 'hourly', as: 'columns' }
    const source = { endpoint: `${api.origin}/columns`, schedule, items }
    const stream = await ToldStream.make(service.api, fields, { type, source })
    await service.api.withToken('POST', `/streams/${stream.id}/source/run`, {})
    await stream.has({ site: 'north', unit: 'bar' })
  })

  test('is tried with its mapping', async () => {
    const definition = { type, ...list }
    const path = '/sources/check'
    const answer = await service.api.withToken('POST', path, definition)
    expect(answer).toMatchObject({
      status: 200,
      body: { reached: true, readings: [{ status: 'accepted' }, { status: 'accepted' }] },
    })
    const wrong = { ...definition, source: { ...list.source, items: 'meta' } }
    expect(await service.api.withToken('POST', path, wrong)).toMatchObject({
      body: { readings: [{ status: 'accepted' }] },
    })
    const nowhere = { ...definition, source: { ...list.source, items: 'data.rows[7].x' } }
    expect(await service.api.withToken('POST', path, nowhere)).toMatchObject({
      body: { readings: [{ status: 'refused', reason: 'mapping_failed' }] },
    })
  })
})

test('items stand in place of itemsPath, and not beside it', async () => {
  const source = { ...list.source, itemsPath: 'data.rows' }
  const answer = await service.api.withToken('POST', '/streams', {
    name: 'both',
    vaultId: await service.api.createVault(),
    type: 'api_pull',
    source,
    schema: list.schema,
  })
  expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'source.itemsPath' }] } })
})
