import { gzipSync, zstdCompressSync } from 'node:zlib'
import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import { describe, expect, test } from 'vitest'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const { push } = bodiesTo(service)

const json = { 'content-type': 'application/json' }
const good = { timestamp: '2026-01-01T00:00:00Z', temperature: 20.5, note: 'é' }
const bad = { timestamp: '2026-01-01T00:00:01Z', temperature: 'hot' }
const batch = [good, bad, { ...good, temperature: 21 }, { ...good, temperature: Number.NaN }]

interface Kept {
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
}

async function quarantined(streamId: string): Promise<readonly Buffer[]> {
  const { body } = await service.api.withToken<{ entries: readonly Kept[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  return body.entries.map(({ payload, encoding }) => Buffer.from(payload, encoding))
}

/** `1e400` is what comes closest to NaN in a text. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    Number.isNaN(member) ? 'not a number' : member,
  ).replaceAll('"not a number"', '1e400')
}

const encoders = {
  json: (value: unknown) => Buffer.from(textOf(value)),
  ndjson: (value: unknown) =>
    Buffer.from(
      [value]
        .flat()
        .map((line) => `${textOf(line)}\n\n`)
        .join(''),
    ),
  cbor: (value: unknown) => encodeCbor(value),
  msgpack: (value: unknown) => encodeMsgpack(value),
}

const mediaTypes = [
  ['application/json', encoders.json],
  ['application/json; charset=UTF-8', encoders.json],
  ['application/cloudevents+json; charset=UTF-8', encoders.json],
  ['application/cloudevents-batch+json', encoders.json],
  ['application/x-ndjson', encoders.ndjson],
  ['application/cbor', encoders.cbor],
  ['Application/CBOR', encoders.cbor],
  ['application/msgpack', encoders.msgpack],
  ['application/vnd.msgpack', encoders.msgpack],
  ['application/x-msgpack', encoders.msgpack],
] as const

describe.each(mediaTypes)('%s', (contentType, encode) => {
  const headers = { 'content-type': contentType }
  const isLines = encode === encoders.ndjson

  test('takes a reading, which is the same as in JSON', async () => {
    const streamId = await service.api.createStream()

    const { status, text } = await push(streamId, headers, encode(good))
    await push(streamId, json, JSON.stringify(good))

    expect(status).toBe(202)
    expect(JSON.parse(text)).toEqual(
      isLines
        ? { accepted: 1, rejected: [] }
        : { streamId, timestamp: '2026-01-01T00:00:00.000000Z', status: 'accepted' },
    )
    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })

  test('tells of each reading of a batch what became of it, and keeps the refused as sent', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, headers, encode(batch))

    expect(status).toBe(202)
    expect(body).toMatchObject({
      accepted: 2,
      rejected: [
        { index: 1, error: 'schema_mismatch', details: [{ path: 'temperature' }] },
        { index: 3, error: 'malformed', message: expect.stringContaining('NaN') as string },
      ],
    })
    expect(await service.api.settled(streamId, 4)).toMatchObject({
      received: 4,
      stored: 2,
      quarantined: 2,
    })
    const alone = [batch[1], batch[3]].map((reading) => Buffer.from(encode(reading)))
    expect(await quarantined(streamId)).toEqual(
      isLines ? alone.map((line) => line.subarray(0, -2)) : alone,
    )
  })

  test('is 400 when nothing can be made of it, and counted nowhere', async () => {
    const streamId = await service.api.createStream()

    const { status, body } = await push(streamId, headers, isLines ? '\n' : '"{')

    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'malformed_body' })
    expect(await service.api.settled(streamId)).toMatchObject({ received: 0 })
  })

  test.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['zstd', (bytes: Uint8Array) => zstdCompressSync(bytes)],
    ['identity', (bytes: Uint8Array) => bytes],
  ] as const)('takes it in the content coding %s', async (coding, compress) => {
    const streamId = await service.api.createStream()

    const compressed = compress(encode(batch))
    const { status, body } = await push(
      streamId,
      { ...headers, 'content-encoding': coding },
      compressed,
    )

    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 2, rejected: [{ index: 1 }, { index: 3 }] })
    const alone = Buffer.from(encode(bad))
    expect(await service.api.settled(streamId, 4)).toMatchObject({ quarantined: 2 })
    expect((await quarantined(streamId))[0]).toEqual(isLines ? alone.subarray(0, -2) : alone)
  })
})

describe('a line of NDJSON that is no JSON', () => {
  test('is refused and kept alone', async () => {
    const streamId = await service.api.createStream()
    const lines = `${JSON.stringify(good)}\n{"temperature":\n\n${JSON.stringify({ ...good, temperature: 1 })}`

    const { status, body } = await push(streamId, { 'content-type': 'application/x-ndjson' }, lines)

    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 2, rejected: [{ index: 1, error: 'malformed' }] })
    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
    expect(await quarantined(streamId)).toEqual([Buffer.from('{"temperature":')])
  })
})
