import { encode } from 'cborg'
import { describe, expect, test } from 'vitest'
import { plantFile } from '../support/plant-protobuf.ts'
import { base64, descriptorOf, encoderOf } from '../support/protobuf-messages.ts'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

/** Formats that are read by the definition of their stream. */

const service = runningService()

const { push, post } = bodiesTo(service)

interface Kept {
  readonly reason: string
  readonly message: string
  readonly payload: string
  readonly encoding: string
}

async function quarantined(streamId: string): Promise<readonly Kept[]> {
  const { body } = await service.api.withToken<{ entries: readonly Kept[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  return body.entries
}

const columns = ['timestamp', 'temperature', 'note']
const schema = { temperature: { type: 'number' }, note: { type: 'string' } }

describe('text/csv', () => {
  const headers = { 'content-type': 'text/csv' }

  test('is read by the columns of the source, whatever its format is', async () => {
    const streamId = await service.api.createStream(schema, { source: { columns } })

    const lines = '2026-01-01T00:00:00Z,21.5,\n2026-01-01T00:00:01Z,22,"a,b"\n'
    const { status, body } = await push(streamId, headers, lines)
    await service.api.withToken('POST', `/streams/${streamId}/data`, {
      timestamp: '2026-01-01T00:00:00Z',
      temperature: 21.5,
    })

    expect({ status, body }).toMatchObject({ status: 202, body: { accepted: 2, rejected: [] } })
    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, duplicates: 1 })
    expect(await service.api.readAll(streamId)).toMatchObject([
      { temperature: 21.5 },
      { temperature: 22, note: 'a,b' },
    ])
  })

  test('keeps a refused line, which is judged again by the newest definition', async () => {
    const streamId = await service.api.createStream(schema, { source: { columns } })

    const lines = '2026-01-01T00:00:00Z,hot,x\n2026-01-01T00:00:01Z,1\n2026-01-01T00:00:02Z,2,y'
    const { body } = await push(streamId, headers, lines)
    expect(body).toMatchObject({
      accepted: 1,
      rejected: [
        { index: 0, error: 'schema_mismatch', details: [{ path: 'temperature' }] },
        { index: 1, error: 'malformed' },
      ],
    })
    await service.api.settled(streamId, 3)
    expect(await quarantined(streamId)).toMatchObject([
      { payload: '2026-01-01T00:00:00Z,hot,x' },
      { payload: '2026-01-01T00:00:01Z,1' },
    ])

    await service.api.withToken('PUT', `/streams/${streamId}`, {
      schema: { temperature: { type: 'string' } },
    })
    const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

    expect(again.body).toMatchObject({ redriven: 1, remaining: 1 })
    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
  })

  test('keeps a refused line with the header that names its columns', async () => {
    const source = { format: 'csv', headerLines: 2, columnsLine: 1 }
    const streamId = await service.api.createStream(schema, { source })

    const lines = 'timestamp,temperature\nTS,C\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,hot\n'
    expect((await push(streamId, headers, lines)).body).toMatchObject({ accepted: 1 })
    await service.api.settled(streamId, 2)
    expect(await quarantined(streamId)).toMatchObject([
      { payload: 'timestamp,temperature\nTS,C\n2026-01-01T00:00:01Z,hot' },
    ])

    await service.api.withToken('PUT', `/streams/${streamId}`, {
      schema: { temperature: { type: 'string' } },
    })
    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, quarantined: 0 })
  })

  test('is 400 for a stream whose source names no columns', async () => {
    const { status, body } = await push(await service.api.createStream(), headers, '1')

    expect(status).toBe(400)
    expect(body).toMatchObject({
      error: 'malformed_body',
      message: expect.stringContaining('source.columns') as string,
    })
  })
})

describe('text/plain', () => {
  const headers = { 'content-type': 'text/plain' }

  test('is the value of the only field', async () => {
    const streamId = await service.api.createStream()

    expect(await push(streamId, headers, '21.5')).toMatchObject({ status: 202 })
    expect(await push(streamId, headers, 'hot')).toMatchObject({
      status: 422,
      body: { reason: 'schema_mismatch', details: [{ path: 'temperature' }] },
    })
    expect(await push(streamId, headers, '')).toMatchObject({ status: 400 })

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, quarantined: 1 })
    expect(await quarantined(streamId)).toMatchObject([{ payload: 'hot' }])
  })
})

describe('SenML', () => {
  const pack = [
    { bn: 'urn:dev:1:', bt: 1767225600, n: 'temperature', v: 21.5 },
    { n: 'temperature', t: 1, vs: 'hot' },
    { n: 'temperature', t: 2, v: 22 },
  ]
  const numbered = [
    new Map<number, unknown>([
      [-2, 'urn:dev:1:'],
      [0, 'temperature'],
      [2, 21.5],
      [6, 1767225600],
    ]),
  ]

  test('is the same readings as in JSON, in either of its forms', async () => {
    const streamId = await service.api.createStream()

    const text = await push(
      streamId,
      { 'content-type': 'application/senml+json' },
      JSON.stringify(pack),
    )
    const binary = await push(
      streamId,
      { 'content-type': 'application/senml+cbor' },
      encode(numbered),
    )
    await service.api.withToken('POST', `/streams/${streamId}/data`, {
      timestamp: '2026-01-01T00:00:00Z',
      temperature: 21.5,
    })

    expect(text.body).toMatchObject({ accepted: 2, rejected: [{ index: 1 }] })
    expect(binary.body).toMatchObject({ accepted: 1, rejected: [] })
    const counters = await service.api.settled(streamId, 5)
    expect(counters).toMatchObject({ stored: 2, duplicates: 2, quarantined: 1 })
    const [kept] = await quarantined(streamId)
    expect(JSON.parse(kept?.payload ?? '')).toEqual([
      { bn: 'urn:dev:1:', n: 'temperature', t: 1767225601, vs: 'hot' },
    ])

    await service.api.withToken('PUT', `/streams/${streamId}`, {
      schema: { temperature: { type: 'string' } },
    })
    const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
    expect(again.body).toMatchObject({ redriven: 1, remaining: 0 })
  })

  test('with times that count from the receipt is stored once under an Idempotency-Key', async () => {
    const streamId = await service.api.createStream()
    const headers = { 'content-type': 'application/senml+json', 'idempotency-key': 'one' }
    const body = JSON.stringify([{ n: 'temperature', t: -60, v: 1 }])

    await push(streamId, headers, body)
    await push(streamId, headers, body)

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })
})

test('POST /data takes none of them', async () => {
  for (const contentType of ['text/csv', 'text/plain', 'application/senml+json']) {
    expect(await post('/data', { 'content-type': contentType }, '1')).toMatchObject({
      status: 415,
      body: { error: 'unsupported_media_type' },
    })
  }
})

test('POST /streams/{id}/validate says what would become of them', async () => {
  const source = { format: 'csv', columns: ['temperature', null] }
  const streamId = await service.api.createStream(undefined, { source })

  const path = `/streams/${streamId}/validate`
  const { status, body } = await post(path, { 'content-type': 'text/csv' }, '1,x\nwarm,y\n')

  expect(status).toBe(200)
  expect(body).toMatchObject({
    accepted: 1,
    rejected: 1,
    readings: [{ status: 'accepted', values: { temperature: 1 } }, { status: 'rejected' }],
  })
})

describe('a definition', () => {
  async function refusal(source: object, fields: object = schema): Promise<string[]> {
    const vaultId = await service.api.createVault()
    const { status, body } = await service.api.withToken<{ details: { path: string }[] }>(
      'POST',
      '/streams',
      { name: 'lines', vaultId, type: 'iot_sensor', source, schema: fields },
    )
    expect(status).toBe(400)
    return body.details.map(({ path }) => path)
  }

  const nested = { ...schema, inner: { type: 'object', fields: schema } }

  test.each([
    [{ format: 'csv' }, 'source.columns'],
    [{ format: 'csv', columns: [] }, 'source.columns'],
    [{ format: 'csv', columns: ['temperature', 'temperature'] }, 'source.columns.1'],
    [{ format: 'csv', columns: ['temperature', 'pressure'] }, 'source.columns.1'],
    [{ format: 'csv', columns: ['timestamp', 'inner'] }, 'source.columns.1'],
    [{ format: 'csv', columns: [7] }, 'source.columns.0'],
    [{ columns: ['temperature'], delimiter: ';;' }, 'source.delimiter'],
    [{ format: 'plain' }, 'source.field'],
    [{ format: 'plain', field: 'inner' }, 'source.field'],
    [{ format: 'plain', field: 'pressure' }, 'source.field'],
    [{ format: 'plain', field: 7 }, 'source.field'],
    [{ format: 'xml' }, 'source.format'],
  ])('with the source %j is refused', async (source, path) => {
    expect(await refusal(source, nested)).toEqual([path])
  })
})

describe('Protobuf', () => {
  const protobuf = {
    descriptor: base64(descriptorOf(plantFile)),
    message: 'plant.Small',
  }

  test.each(['application/protobuf', 'application/x-protobuf'])('comes as %s', async (type) => {
    const source = { protobuf, timestampField: 'at', timestampFormat: 'epoch_us' }
    const streamId = await service.api.createStream(undefined, { source })
    const write = encoderOf(plantFile, 'plant.Small')
    const body = write({ at: 1_767_225_600_000_000n, temperature: 21.5 })

    expect(await push(streamId, { 'content-type': type }, body)).toMatchObject({ status: 202 })
    expect(await push(streamId, { 'content-type': type }, body.subarray(1))).toMatchObject({
      status: 400,
    })

    await service.api.withToken('POST', `/streams/${streamId}/data`, {
      at: 1_767_225_600_000_000,
      temperature: 21.5,
    })
    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })

  test.each([
    [{ format: 'protobuf' }, 'source.protobuf'],
    [{ protobuf: {} }, 'source.protobuf.descriptor'],
    [{ protobuf: { ...protobuf, descriptor: 'AAAA' } }, 'source.protobuf.descriptor'],
    [{ protobuf: { ...protobuf, message: 'plant.None' } }, 'source.protobuf.message'],
    [{ protobuf: { ...protobuf, repeated: 'at' } }, 'source.protobuf.repeated'],
  ])('is refused with the source %j', async (source, path) => {
    const vaultId = await service.api.createVault()
    const body = { name: 'plant', vaultId, type: 'iot_sensor', source, schema }
    const refused = await service.api.withToken<{ details: unknown[] }>('POST', '/streams', body)

    expect(refused.status).toBe(400)
    expect(refused.body.details[0]).toMatchObject({ path })
  })
})
