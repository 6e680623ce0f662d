import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { OpcUaTestServer } from '../support/opcua-server.ts'
import { runningService } from '../support/running-service.ts'

/** That of `npm run servers -- up opcua`, with more kinds of variables. */
const server = await OpcUaTestServer.start({
  variables: { 'item-0': 'Double', 'item-1': 'Float', 'item-2': 'Boolean', 'item-3': 'Int16' },
})
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${server.port}` })

afterAll(async () => await server[Symbol.asyncDispose]())

interface Definition {
  readonly type: string
  readonly schema: object
  readonly source: Readonly<Record<string, unknown>>
}

const page = readFileSync('docs/opcua.md', 'utf8')
const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
const { type, schema, source } = JSON.parse(example) as Definition
const own = { ...source, endpoint: server.endpoint, publishingInterval: 50, samplingInterval: 0 }
const time = '2026-03-01T00:00:00.25Z'
const timeUs = '2026-03-01T00:00:00.250'

async function running(fields: object, changes: object = {}): Promise<string> {
  const id = await service.api.createStream(fields, { type, source: { ...own, ...changes } })
  await expect
    .poll(async () => (await service.api.status(id)).source)
    .toMatchObject({ state: 'running' })
  return id
}

describe('the example of docs/opcua.md', () => {
  test('puts together what changed at the same time, and tells what is not good', async () => {
    const id = await running(schema)
    await server.set([
      { name: 'item-0', value: 21.5, time },
      { name: 'item-1', value: 1.1, time },
      { name: 'item-0', value: 0, time: '2026-03-01T00:00:01Z', status: 'BadSensorFailure' },
      {
        name: 'item-1',
        value: 1.2,
        time: '2026-03-01T00:00:01Z',
        status: 'UncertainLastUsableValue',
      },
    ])
    await service.api.settled(id, 2)
    const readings = await service.api.readAll(id)
    expect(readings).toMatchObject([{ temperature: 21.5, pressure: 1.1 }, { pressure: 1.2 }])
    expect(JSON.stringify(readings)).toContain(timeUs)
    expect(JSON.stringify(readings)).toContain('BadSensorFailure')
    await service.api.withToken('DELETE', `/streams/${id}`)
  })

  test('says which node a value is of, where there are no fields', async () => {
    const fields = { node: { type: 'string' }, value: { type: 'number' } }
    const id = await running(fields, { items: ['ns=1;s=item-3'] })
    await server.set([{ name: 'item-3', value: -7, time }])
    await service.api.settled(id, 1)
    expect(await service.api.readAll(id)).toMatchObject([{ node: 'ns=1;s=item-3', value: -7 }])
    await service.api.withToken('DELETE', `/streams/${id}`)
  })

  test('shows what it would bring when it is tried', async () => {
    await server.set([{ name: 'item-0', value: 3, time }])
    const body = { type, schema, source: own }
    const checked = await service.api.withToken('POST', '/sources/check', body)
    expect(checked.body).toMatchObject({ reached: true })
    expect(JSON.stringify(checked.body)).toContain('\\"temperature\\":3')
  })
})
