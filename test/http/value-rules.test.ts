import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const t = (second: number) => `2026-01-01T00:00:0${second}.000000Z`

interface Entry {
  readonly reason: string
  readonly message: string
  readonly payload: string
}

function push(streamId: string, body: string, contentType = 'application/json') {
  const headers = { 'content-type': contentType }
  return service.api.withToken<{ reason?: string; accepted?: number }>(
    'POST',
    `/streams/${streamId}/data`,
    body,
    headers,
  )
}

/** What is stored in the end. */
function stored(streamId: string) {
  return expect.poll(() => service.api.readAll(streamId), { timeout: 10_000 })
}

async function held(streamId: string): Promise<readonly Entry[]> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<{ entries: Entry[] }>('GET', path)).body.entries
}

async function redriven(streamId: string): Promise<number> {
  const path = `/streams/${streamId}/quarantine/redrive`
  return (await service.api.withToken<{ accepted: number }>('POST', path)).body.accepted
}

async function change(streamId: string, definition: object): Promise<void> {
  const { status, body } = await service.api.withToken('PUT', `/streams/${streamId}`, definition)
  expect(status, JSON.stringify(body)).toBe(200)
}

describe('values that are not of the type of their field', () => {
  const schema = {
    temperature: { type: 'number', missing: [-999] },
    isOn: { type: 'boolean' },
    note: { type: 'string', texts: 'as-sent' },
  }
  const source = { missing: [null, 'N/A'], texts: 'typed' }

  test.each([
    ['application/json', `{"timestamp":"${t(1)}","temperature":" 21.5 ","isOn":"ON","note":null}`],
    ['application/x-ndjson', `{"timestamp":"${t(1)}","temperature":21.5,"isOn":1,"note":"n/a"}`],
  ])('are read as the definition says: %s', async (contentType, body) => {
    const streamId = await service.api.createStream(schema, { source })
    expect((await push(streamId, body, contentType)).status).toBe(202)
    await stored(streamId).toEqual([{ timestamp: t(1), temperature: 21.5, isOn: true }])
  })

  test('have one identity, however they were spelled', async () => {
    const streamId = await service.api.createStream(schema, { source })
    await push(streamId, `{"timestamp":"${t(1)}","temperature":"21.50","isOn":"N/A"}`)
    await push(streamId, `{"timestamp":"${t(1)}","temperature":21.5,"isOn":null}`)
    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })

  test('are in lines of CSV as well', async () => {
    const csv = { format: 'csv', columns: ['timestamp', 'temperature', 'isOn'], delimiter: ';' }
    const streamId = await service.api.createStream(schema, {
      source: { ...source, ...csv, decimal: ',' },
    })
    const lines = `${t(1)};21,5;yes\n${t(2)};n/a;no\n${t(3)};-999,0;off\n${t(4)};1.234;off`
    const { body } = await push(streamId, lines, 'text/csv')
    expect(body).toMatchObject({ accepted: 3, rejected: [{ index: 3, error: 'schema_mismatch' }] })
    await stored(streamId).toEqual([
      { timestamp: t(1), temperature: 21.5, isOn: true },
      { timestamp: t(2), isOn: false },
      { timestamp: t(3), isOn: false },
    ])
  })

  test('are refused in words where a double would round them', async () => {
    const streamId = await service.api.createStream(schema, { source })
    const body = `{"timestamp":"${t(1)}","temperature":"9007199254740993"}`
    const { status, body: answer } = await push(streamId, body)
    expect([status, answer.reason]).toEqual([422, 'schema_mismatch'])
    expect(answer).toMatchObject({
      details: [
        {
          path: 'temperature',
          message: 'the integer 9007199254740993 is beyond 2^53 and would be rounded',
        },
      ],
    })
  })
})

describe('NaN in JSON', () => {
  const list = `[{"timestamp":"${t(1)}","temperature":1}, {"timestamp":"${t(2)}","temperature":NaN}]`

  test('refuses one reading, which is kept as it was sent, and comes in once it is missing', async () => {
    const streamId = await service.api.createStream({
      temperature: { type: 'number' },
      humidity: { type: 'number' },
    })
    expect((await push(streamId, list)).body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 1, error: 'malformed' }],
    })
    await service.api.settled(streamId, 2)
    const [entry] = await held(streamId)
    expect(entry).toMatchObject({
      reason: 'malformed',
      payload: `{"timestamp":"${t(2)}","temperature":NaN}`,
    })
    expect(await redriven(streamId)).toBe(0)
    expect(await held(streamId)).toHaveLength(1)

    await change(streamId, { source: { missing: ['nan'] } })
    expect(await redriven(streamId)).toBe(1)
    expect(await held(streamId)).toEqual([])
    await stored(streamId).toEqual([{ timestamp: t(1), temperature: 1 }, { timestamp: t(2) }])
  })

  test('refuses an object by itself, unless it stands for what is missing', async () => {
    const streamId = await service.api.createStream()
    const body = `{"timestamp":"${t(1)}","temperature":NaN}`
    expect((await push(streamId, body)).status).toBe(400)
    await change(streamId, { schema: { temperature: { type: 'number', missing: ['NaN'] } } })
    expect((await push(streamId, body)).status).toBe(202)
    expect((await push(streamId, body.replace('temperature', 'other'))).body).toMatchObject({
      reason: 'malformed',
    })
  })

  test('is what each stream says, among readings of several', async () => {
    const schema = { temperature: { type: 'number' } }
    const plain = await service.api.createStream(schema)
    const lenient = await service.api.createStream(schema, { source: { missing: ['nan'] } })
    const of = (id: string) => `{"streamId":"${id}","timestamp":"${t(1)}","temperature":NaN}`
    const body = `[${of(plain)},${of(lenient)}]`
    expect((await service.api.withToken('POST', '/data', body)).body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, error: 'malformed' }],
    })
    await stored(lenient).toEqual([{ timestamp: t(1) }])
    await expect.poll(() => held(plain)).toMatchObject([{ payload: of(plain) }])
  })

  test('refuses one item of a message, and not the message', async () => {
    const source = { items: 'all' }
    const streamId = await service.api.createStream({ temperature: { type: 'number' } }, { source })
    const answer = await push(streamId, `{"all":${list}}`)
    expect(answer.body).toMatchObject({ accepted: 1, rejected: [{ index: 1, error: 'malformed' }] })
    await service.api.settled(streamId, 2)
    await change(streamId, { source: { ...source, missing: ['nan'] } })
    expect(await redriven(streamId)).toBe(1)
    await stored(streamId).toHaveLength(2)
  })
})
