import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const service = runningService()

async function publish(streamId: string, ...payloads: readonly Uint8Array[]): Promise<void> {
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

interface Kept {
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
  readonly reason: string
}

async function quarantined(streamId: string): Promise<readonly Kept[]> {
  const path = `/streams/${streamId}/quarantine`
  const { body } = await service.api.withToken<{ entries: readonly Kept[] }>('GET', path)
  return body.entries
}

function ndjson(values: readonly unknown[]): Uint8Array {
  return Buffer.from(values.map((value) => JSON.stringify(value)).join('\n'))
}

const formats = [
  ['json', (values: readonly unknown[]) => Buffer.from(JSON.stringify(values)), 'not json'],
  ['ndjson', ndjson, '\n'],
  ['cbor', (values: readonly unknown[]) => encodeCbor(values), 'not cbor'],
  ['msgpack', (values: readonly unknown[]) => encodeMsgpack(values), '\xc1'],
] as const

const reading = { timestamp: '2026-01-01T00:00:00Z', temperature: 21.5, note: 'é' }

describe.each(formats)('a stream whose source.format is %s', (format, encode, unreadable) => {
  test('takes such payloads, which are the same readings as in JSON over HTTP', async () => {
    const streamId = await service.api.createStream(undefined, { source: { format } })

    await publish(streamId, encode([reading, { ...reading, temperature: 22 }]))
    await service.api.withToken('POST', `/streams/${streamId}/data`, reading)

    expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, duplicates: 1 })
    const [first] = await service.api.readAll(streamId)
    expect(first).toMatchObject({ temperature: 21.5, extra: { note: 'é' } })
  })

  test('quarantines what it cannot take as it was sent, and counts all of it', async () => {
    const streamId = await service.api.createStream(undefined, { source: { format } })
    const bad = { ...reading, temperature: 'ü'.repeat(200) }

    const whole = Buffer.from(unreadable, 'latin1')
    await publish(streamId, encode([reading, bad, 7]), whole)

    const counters = await service.api.settled(streamId, 4)
    expect(counters).toMatchObject({ received: 4, stored: 1, quarantined: 3 })
    const entries = await quarantined(streamId)
    expect(entries.map(({ reason }) => reason)).toEqual([
      'schema_mismatch',
      'malformed',
      'malformed',
    ])
    const elements = [bad, 7].map((value) => Buffer.from(encode([value])))
    // A batch of one is its element, after one byte that says so; text has no such byte, or brackets.
    const isBinary = format === 'cbor' || format === 'msgpack'
    const own = isBinary
      ? elements.map((bytes) => bytes.subarray(1))
      : [bad, 7].map((value) => Buffer.from(JSON.stringify(value)))
    expect(entries.map(({ payload, encoding }) => Buffer.from(payload, encoding))).toEqual([
      ...own,
      whole,
    ])
  })
})

test('what is no UTF-8 is shown in base64, what is UTF-8 as text', async () => {
  const streamId = await service.api.createStream(undefined, { source: { format: 'msgpack' } })

  await publish(streamId, Buffer.of(0xc1), Buffer.from('{"a":1}'))

  expect(await service.api.settled(streamId, 2)).toMatchObject({ quarantined: 2 })
  expect(await quarantined(streamId)).toMatchObject([
    { payload: 'wQ==', encoding: 'base64' },
    { payload: '{"a":1}', encoding: 'utf8' },
  ])
})
