import { describe, expect, test } from 'vitest'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

/** InfluxDB line protocol in bodies for one stream. */

const service = runningService()

const { push, post } = bodiesTo(service)

const schema = { host: { type: 'string' }, usage: { type: 'number' } }
const lines = { 'content-type': 'text/x-influx-line-protocol' }

interface Kept {
  readonly reason: string
  readonly payload: string
}

async function quarantined(streamId: string): Promise<readonly Kept[]> {
  const { body } = await service.api.withToken<{ entries: readonly Kept[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  return body.entries
}

describe('lines', () => {
  test('are readings, as the same ones are in JSON', async () => {
    const streamId = await service.api.createStream(schema)

    const body =
      'cpu,host=a usage=1.5,cores=4i 1769853590000000000\ncpu,host=b usage=2 1769853591000000000\n'
    expect(await push(streamId, lines, body)).toMatchObject({
      status: 202,
      body: { accepted: 2, rejected: [] },
    })
    const twin = { timestamp: '2026-01-31T09:59:50Z', host: 'a', usage: 1.5, cores: 4 }
    await service.api.withToken('POST', `/streams/${streamId}/data`, {
      ...twin,
      measurement: 'cpu',
    })

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, duplicates: 1 })
    expect(await service.api.readAll(streamId)).toMatchObject([
      { host: 'a', usage: 1.5, extra: { measurement: 'cpu', cores: 4 } },
      { host: 'b', usage: 2, extra: { measurement: 'cpu' } },
    ])
  })

  test('may be called plain text, where they are what the stream takes', async () => {
    const text = { 'content-type': 'text/plain; charset=utf-8' }
    const source = { format: 'line-protocol', precision: 's' }
    const streamId = await service.api.createStream(schema, { source })

    expect(await push(streamId, text, 'cpu usage=1 1769853590')).toMatchObject({ status: 202 })
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2026-01-31T09:59:50.000000Z', usage: 1 },
    ])
    const plain = await service.api.createStream({ usage: { type: 'number' } })
    expect(await push(plain, text, 'cpu usage=1 1769853590')).toMatchObject({ status: 422 })
  })

  test('have their times in the unit that the request names, also when they are judged again', async () => {
    const source = { precision: 'h' }
    const streamId = await service.api.createStream(schema, { source })

    const body = 'cpu usage=1 1769853590\ncpu usage="x" 1769853591\ncpu usage= 1769853592'
    const { body: answer } = await post(`/streams/${streamId}/data?precision=s`, lines, body)
    expect(answer).toMatchObject({
      accepted: 1,
      rejected: [
        { index: 1, error: 'schema_mismatch' },
        { index: 2, error: 'malformed', message: 'the field usage at character 5 has no value' },
      ],
    })
    await service.api.settled(streamId, 3)
    expect((await quarantined(streamId)).map(({ payload }) => payload).sort()).toEqual([
      'cpu usage= 1769853592',
      'cpu usage="x" 1769853591000000000',
    ])

    await service.api.withToken('PUT', `/streams/${streamId}`, {
      schema: { ...schema, usage: { type: 'string' } },
    })
    const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
    expect(again.body).toMatchObject({ redriven: 1, remaining: 1 })
    await service.api.settled(streamId, 3)
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2026-01-31T09:59:50.000000Z' },
      { timestamp: '2026-01-31T09:59:51.000000Z', usage: 'x' },
    ])
  })

  test('in another unit than the definition says are stored once it is right', async () => {
    const source = { format: 'line-protocol' }
    const streamId = await service.api.createStream(schema, { source })

    const refused = await push(streamId, lines, 'cpu usage=1 1769853590')
    expect(refused).toMatchObject({
      status: 422,
      body: { rejected: [{ error: 'timestamp_implausible' }] },
    })
    await service.api.settled(streamId, 1)
    expect(await quarantined(streamId)).toMatchObject([{ payload: 'cpu usage=1 1769853590' }])

    const right = { ...source, precision: 's' }
    await service.api.withToken('PUT', `/streams/${streamId}`, { source: right })
    const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
    expect(again.body).toMatchObject({ redriven: 1, remaining: 0 })
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2026-01-31T09:59:50.000000Z', usage: 1 },
    ])
  })

  test('are mapped: paths that are names, and what no field reads is dropped', async () => {
    const fields = { load: { type: 'number', from: 'usage' }, of: { type: 'string', from: 'host' } }
    const streamId = await service.api.createStream(fields, { source: { extra: 'drop' } })

    const body = 'cpu,host=a usage=1,x=1i 1769853590000000000\ncpu,host=a usage="x"\ncpu x=1e3'
    expect(await push(streamId, lines, body)).toMatchObject({
      body: { accepted: 2, rejected: [{ index: 1, error: 'schema_mismatch' }] },
    })
    await service.api.settled(streamId, 3)
    expect(await service.api.readAll(streamId)).toMatchObject([{ load: 1, of: 'a' }, {}])
    expect(await quarantined(streamId)).toMatchObject([{ payload: 'cpu,host=a usage="x"' }])
  })

  test('may be wide: a pivot makes one reading of lines of one time', async () => {
    const level = { path: '$', as: 'pivot', name: 'measurement', value: 'value', time: 'timestamp' }
    const source = { format: 'line-protocol', items: [level] }
    const streamId = await service.api.createStream(
      { temperature: { type: 'number' }, humidity: { type: 'number' } },
      { source },
    )

    const body =
      'temperature value=21.5 1769853590000000000\nhumidity value=40 1769853590000000000\n'
    expect(await push(streamId, lines, body)).toMatchObject({ body: { accepted: 1 } })
    await service.api.settled(streamId, 1)
    expect(await service.api.readAll(streamId)).toMatchObject([{ temperature: 21.5, humidity: 40 }])
  })

  test('are not of a unit that nobody knows, and nothing else has one', async () => {
    const streamId = await service.api.createStream(schema)

    expect(await post(`/streams/${streamId}/data?precision=x`, lines, 'cpu usage=1')).toMatchObject(
      {
        status: 400,
        body: { error: 'invalid_request', details: [{ path: 'precision' }] },
      },
    )
    const json = { 'content-type': 'application/json' }
    expect(await post(`/streams/${streamId}/data?precision=s`, json, '{}')).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', details: [{ path: 'precision' }] },
    })
    const validated = await post(
      `/streams/${streamId}/validate?precision=ms`,
      lines,
      'm usage=1 1769853590000',
    )
    expect(validated.body).toMatchObject({
      readings: [{ status: 'accepted', timestamp: '2026-01-31T09:59:50.000000Z' }],
    })
  })

  test('have no precision in another format', async () => {
    const vaultId = await service.api.createVault()
    const definition = { name: 'n', vaultId, type: 'iot_sensor', schema }
    const source = { format: 'csv', columns: ['usage'], precision: 's' }
    expect(
      await service.api.withToken('POST', '/streams', { ...definition, source }),
    ).toMatchObject({
      status: 400,
      body: { details: [{ path: 'source.precision' }] },
    })
  })
})
