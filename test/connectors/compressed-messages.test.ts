import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Messages that are compressed although nothing with them says so: `source.contentCoding`. */

const service = runningService()

const { push } = bodiesTo(service)

async function publish(streamId: string, ...payloads: readonly Uint8Array[]) {
  const client = await connectAsync({
    host: '127.0.0.1',
    port: service.process.mqttPort,
    username: adminKey,
    password: adminSecret,
    reconnectPeriod: 0,
  })
  for (const payload of payloads) {
    await client.publishAsync(`streams/${streamId}/data`, Buffer.from(payload), { qos: 1 })
  }
  await client.endAsync()
}

interface Entry {
  readonly message: string
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
}

async function entriesOf(streamId: string) {
  const path = `/streams/${streamId}/quarantine`
  const { body } = await service.api.withToken<{ entries: readonly Entry[] }>('GET', path)
  return body.entries.map(({ message, payload, encoding }) => ({
    message,
    bytes: Buffer.from(payload, encoding),
  }))
}

async function redrive(streamId: string, source: object) {
  await service.api.withToken('PUT', `/streams/${streamId}`, { source })
  await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)
}

function readingAt(second: number, temperature: unknown = second) {
  return JSON.stringify({ timestamp: `2026-01-31T09:00:0${second}Z`, temperature })
}

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)('%s', async (contentCoding, compress) => {
  const source = { contentCoding }
  const streamId = await service.api.createStream(undefined, { source })

  await publish(streamId, compress(`[${readingAt(1)},${readingAt(2, 'hot')}]`))

  expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 1, quarantined: 1 })
  expect(await service.api.readAll(streamId)).toMatchObject([{ temperature: 1 }])
  expect(await entriesOf(streamId)).toMatchObject([{ bytes: Buffer.from(readingAt(2, 'hot')) }])
})

test('a format that is read by the definition', async () => {
  const source = { format: 'csv', columns: ['temperature'], contentCoding: 'gzip' }
  const streamId = await service.api.createStream(undefined, { source })

  await publish(streamId, gzipSync('1\n2\nx\n'))

  expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
  await redrive(streamId, { ...source, missing: ['x'] })
  expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 3, quarantined: 0 })
})

test('what cannot be decompressed is kept as it came, and decompressed again later', async () => {
  const source = { contentCoding: 'zstd' }
  const streamId = await service.api.createStream(undefined, { source })
  const cut = gzipSync(readingAt(1)).subarray(0, -1)
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  const sent = [gzipSync(readingAt(3)), cut, bomb, deflateSync(readingAt(4)), Buffer.from('{}')]

  await publish(streamId, ...sent)

  expect(await service.api.settled(streamId, 5)).toMatchObject({ stored: 0, quarantined: 5 })
  expect((await entriesOf(streamId)).map(({ bytes }) => bytes)).toEqual(sent)

  await redrive(streamId, { contentCoding: 'gzip' })
  await service.api.settled(streamId, 5)
  const left = await entriesOf(streamId)
  expect(left.map(({ message }) => message)).toEqual([
    'it is not valid gzip: unexpected end of file',
    'decompressed it has more than 4194304 bytes',
    'not valid UTF-8',
  ])
  expect(await service.api.readAll(streamId)).toContainEqual(
    expect.objectContaining({ temperature: 3 }),
  )
})

test('messages that came before the definition said so are decompressed', async () => {
  const streamId = await service.api.createStream()
  await publish(streamId, gzipSync(`[${readingAt(5)},${readingAt(6)}]`))
  expect(await service.api.settled(streamId, 1)).toMatchObject({ quarantined: 1 })

  await redrive(streamId, { contentCoding: 'gzip' })

  expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 2, quarantined: 0 })
})

test('over HTTP the header says it, and nothing is decompressed twice', async () => {
  const streamId = await service.api.createStream(undefined, { source: { contentCoding: 'gzip' } })
  const json = { 'content-type': 'application/json' }

  const plain = await push(streamId, json, readingAt(7))
  const coded = await push(
    streamId,
    { ...json, 'content-encoding': 'gzip' },
    gzipSync(readingAt(8)),
  )
  const unsaid = await push(streamId, json, gzipSync(readingAt(9)))

  expect([plain.status, coded.status, unsaid.status]).toEqual([202, 202, 400])
  expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2 })
})

function define(more: object) {
  return service.api.withToken('POST', '/streams', {
    name: 'a',
    type: 'event_stream',
    schema: { level: { type: 'number' } },
    source: {
      protocol: 'webhook',
      signature: { scheme: 'token', header: 'x-key' },
      credentials: { secret: 'long-enough' },
      ...more,
    },
  })
}

test('a source whose messages say it themselves has no such key', async () => {
  expect(await define({ contentCoding: 'gzip' })).toMatchObject({
    status: 400,
    body: {
      details: expect.arrayContaining([expect.objectContaining({ path: 'source.contentCoding' })]),
    },
  })
})
