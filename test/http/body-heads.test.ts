import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { bodiesTo, type SentHeaders } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const { post, push } = bodiesTo(service)

const json = { 'content-type': 'application/json' }
const good = { timestamp: '2026-01-01T00:00:00Z', temperature: 20.5 }

describe('a body that is refused for what its head says', () => {
  test.each<[string, SentHeaders, number, string]>([
    ['no content type', {}, 415, 'unsupported_media_type'],
    ['another type', { 'content-type': 'text/html' }, 415, 'unsupported_media_type'],
    ['half a type', { 'content-type': 'application' }, 415, 'unsupported_media_type'],
    [
      'a type that begins alike',
      { 'content-type': 'application/jsonp' },
      415,
      'unsupported_media_type',
    ],
    [
      'another charset',
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'unsupported_media_type',
    ],
    [
      'a quoted one',
      { 'content-type': 'application/json;CHARSET="utf-16"' },
      415,
      'unsupported_media_type',
    ],
    ['an unknown coding', { ...json, 'content-encoding': 'br' }, 415, 'unsupported_media_type'],
    [
      'a coding twice',
      { ...json, 'content-encoding': 'gzip, gzip' },
      415,
      'unsupported_media_type',
    ],
    ['two codings', { ...json, 'content-encoding': 'zstd,gzip' }, 415, 'unsupported_media_type'],
    [
      'a coding that it does not have',
      { ...json, 'content-encoding': 'gzip' },
      400,
      'malformed_body',
    ],
  ])('(%s) is answered and counted nowhere', async (_, headers, status, error) => {
    const streamId = await service.api.createStream()

    const answer = await push(streamId, headers, JSON.stringify(good))

    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ error })
    expect(await service.api.settled(streamId)).toMatchObject({ received: 0 })
  })

  test('names the codings that would be taken', async () => {
    const streamId = await service.api.createStream()

    const { headers } = await push(streamId, { ...json, 'content-encoding': 'br' }, '{}')

    expect(headers['accept-encoding']).toBe('gzip, zstd')
  })

  test.each([
    { 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=ascii' },
  ])('(%j) is 415 for an operation that is not about readings, too', async (headers) => {
    const body = gzipSync('{"name":"boiler","hint":"","required_streams":[]}')

    expect((await post('/templates', { ...json, ...headers }, body)).status).toBe(415)
  })
})

describe('a compressed body', () => {
  const mebibyte = 1024 * 1024

  test.each([
    ['gzip', gzipSync],
    ['zstd', (bytes: Uint8Array) => zstdCompressSync(bytes)],
  ] as const)('that is a bomb of %s is 413, and the service goes on', async (coding, compress) => {
    const streamId = await service.api.createStream()
    const bomb = compress(Buffer.alloc(256 * mebibyte, ' '))

    const answer = await push(streamId, { ...json, 'content-encoding': coding }, bomb)

    expect(answer.status).toBe(413)
    expect(answer.body).toMatchObject({ error: 'body_too_large' })
    expect((await push(streamId, json, JSON.stringify(good))).status).toBe(202)
  })

  test('that is compressed twice is malformed', async () => {
    const streamId = await service.api.createStream()
    const twice = gzipSync(gzipSync(JSON.stringify(good)))

    const answer = await push(streamId, { ...json, 'content-encoding': 'gzip' }, twice)

    expect(answer.body).toMatchObject({ error: 'malformed_body' })
  })

  test('of more than 4 MiB is 413, whatever is in it', async () => {
    const streamId = await service.api.createStream()
    const stored = gzipSync(Buffer.alloc(4 * mebibyte, ' '), { level: 0 })

    const answer = await push(streamId, { ...json, 'content-encoding': 'gzip' }, stored)

    expect(answer.status).toBe(413)
  })

  test('of 4 MiB when decompressed is taken', async () => {
    const streamId = await service.api.createStream()
    const padded = Buffer.alloc(4 * mebibyte, ' ')
    padded.write(JSON.stringify(good))

    const answer = await push(streamId, { ...json, 'content-encoding': 'gzip' }, gzipSync(padded))

    expect(answer.status).toBe(202)
  })

  test('that comes in chunks is taken', async () => {
    const streamId = await service.api.createStream()

    const response = await fetch(`${service.process.http}/streams/${streamId}/data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.api.token()}`,
        ...json,
        'content-encoding': 'gzip',
      },
      body: ReadableStream.from(
        [...gzipSync(JSON.stringify(good))].map((byte) => Uint8Array.of(byte)),
      ),
      duplex: 'half',
    })

    expect(response.status).toBe(202)
  })

  test('under an Idempotency-Key is the same when it is sent again', async () => {
    const streamId = await service.api.createStream()
    const headers = { ...json, 'content-encoding': 'gzip', 'idempotency-key': 'one' }
    const body = gzipSync('{"temperature":1}')

    const first = await push(streamId, headers, body)
    const second = await push(streamId, headers, body)

    expect(second.text).toBe(first.text)
    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, duplicates: 1 })
  })
})
