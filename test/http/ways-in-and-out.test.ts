import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { edgeNumbers } from '../support/any-numbers.ts'
import { settingsOf, streamvault } from '../support/command-line.ts'
import { download, exported } from '../support/exports.ts'
import { importTypes } from '../support/imports.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { kinds, tailsOf } from '../support/tails.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { bodies, duplicatesOf, linesOf, push, queried, type Reading } from '../support/ways.ts'

const service = runningService()
const tails = tailsOf(service)
const connect = mqttClients(() => service.process.mqttPort)

const schema = {
  text: { type: 'string' },
  value: { type: 'number' },
  since: { type: 'datetime' },
  place: { type: 'object' },
  list: { type: 'array' },
}

const startUs = 1_767_225_600_000_000

const instants = [
  '0001-01-01T00:00:00.000001Z',
  '1600-02-29T12:00:00.123457Z',
  '1684-07-28T00:12:25.259007Z',
  '1969-12-31T23:59:59.999999Z',
  '2255-06-05T23:47:34.740993Z',
  '2300-01-01T00:00:00.1Z',
  '9999-12-31T23:59:59.999999Z',
]

/** Each text, number and instant wherever a reading can have it: in a field, in others, in a list, as a key. */
const readings: readonly Reading[] = [
  ...naughtyTexts.map((text) => ({
    text,
    ...(text !== '__proto__' && { place: { [text]: text, a: [text] } }),
    list: [text, { text }],
    other: text,
  })),
  ...edgeNumbers.map((value) => ({ value, place: { value }, list: [value], other: [value] })),
  ...instants.map((since) => ({ since, other: since })),
].map((reading, index) => ({ timestamp: formatUs(startUs + index), ...reading }))

const count = readings.length

/** Readings as they are answered: unknown fields apart, instants in one spelling, and no zero below zero. */
const answered = readings.map(({ other, ...reading }) => {
  const { since } = reading as { readonly since?: string }
  const written = { ...reading, ...(since !== undefined && { since: spelled(since) }) }
  return JSON.parse(JSON.stringify({ ...written, extra: { other } })) as Reading
})

function spelled(instant: string): string {
  return instant.replace(/\.(\d+)Z/, (_, digits: string) => `.${digits.padEnd(6, '0')}Z`)
}

async function filled(): Promise<string> {
  const streamId = await service.api.createStream(schema)
  const sent = await push(
    service.api,
    `/streams/${streamId}/data`,
    'application/json',
    Buffer.from(JSON.stringify(readings)),
  )
  expect(sent).toMatchObject({ status: 202, accepted: count })
  await service.api.settled(streamId, count)
  return streamId
}

const wholly = { state: 'completed', refused: 0, duplicates: count }

describe('what readings have comes in as it was sent', () => {
  test.each(Object.keys(bodies))('in a body of %s', async (type) => {
    const { api } = service
    const streamId = await api.createStream(schema)
    const body = (bodies[type] as (typeof bodies)[string])(readings)
    const sent = await push(api, `/streams/${streamId}/data`, type, body)
    await api.settled(streamId, count)

    expect(sent).toMatchObject({ status: 202, accepted: count })
    expect(await api.readAll(streamId)).toEqual(answered)
  })

  test('in a body for several streams', async () => {
    const { api } = service
    const streamId = await api.createStream(schema)
    const body = readings.map((reading) => ({ streamId, ...reading }))
    const sent = await push(api, '/data', 'application/json', Buffer.from(JSON.stringify(body)))
    await api.settled(streamId, count)

    expect(sent).toMatchObject({ status: 202, accepted: count })
    expect(await api.readAll(streamId)).toEqual(answered)
  })

  test.each(['json', 'cbor', 'msgpack'])('over MQTT in %s', async (format) => {
    const { api } = service
    const streamId = await api.createStream(schema, { source: { format } })
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    const type = format === 'msgpack' ? 'application/vnd.msgpack' : `application/${format}`
    for (let at = 0; at < count; at += 20) {
      const payload = (bodies[type] as (typeof bodies)[string])(readings.slice(at, at + 20))
      await mqtt.publishAsync(`streams/${streamId}/data`, Buffer.from(payload), { qos: 1 })
    }
    await api.settled(streamId, count)

    expect(await api.readAll(streamId)).toEqual(answered)
  })

  test('in lines of CSV that a device sends', async () => {
    const { api } = service
    const columns = ['timestamp', 'text', 'value', 'since']
    const source = { format: 'csv', columns }
    const streamId = await api.createStream(schema, { source })
    const lines = readings.map((reading) => columns.map((name) => quoted(reading[name])).join(','))
    const sent = await push(
      api,
      `/streams/${streamId}/data`,
      'text/csv',
      Buffer.from(`${lines.join('\r\n')}\r\n`),
    )
    await api.settled(streamId, count)

    expect(sent).toMatchObject({ status: 202, accepted: count })
    const known = answered.map(({ timestamp, text, value, since }) => ({
      timestamp,
      ...(text !== undefined && { text }),
      ...(value !== undefined && { value }),
      ...(since !== undefined && { since }),
    }))
    expect(await api.readAll(streamId)).toEqual(known)
  })

  test('as records of SenML', async () => {
    const { api } = service
    const streamId = await api.createStream(schema, { source: { format: 'senml-json' } })
    const pack = readings.flatMap(({ text, value }, index): readonly Reading[] => {
      const t = (startUs + index) / 1_000_000
      if (text !== undefined) return [{ n: 'text', t, vs: text }]
      return value === undefined ? [] : [{ n: 'value', t, v: value }]
    })
    const body = Buffer.from(JSON.stringify(pack))
    const sent = await push(api, `/streams/${streamId}/data`, 'application/senml+json', body)
    await api.settled(streamId, pack.length)

    expect(sent).toMatchObject({ status: 202, accepted: pack.length })
    const known = answered.slice(0, pack.length).map(({ timestamp, text, value }) => ({
      timestamp,
      ...(text !== undefined && { text }),
      ...(value !== undefined && { value }),
    }))
    expect(await api.readAll(streamId)).toEqual(known)
  })

  test('as plain values of one field, but for what a payload cannot be', async () => {
    const { api } = service
    const streamId = await api.createStream(
      { value: { type: 'number' } },
      { source: { format: 'plain' } },
    )
    for (const value of edgeNumbers) {
      const body = Buffer.from(JSON.stringify(value))
      await push(api, `/streams/${streamId}/data`, 'text/plain', body)
    }
    await api.settled(streamId, edgeNumbers.length)

    const stored = (await api.readAll(streamId)).map(({ value }) => value)
    expect(stored).toEqual(edgeNumbers.map((value) => value + 0))
  })
})

function quoted(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `"${text.replaceAll('"', '""')}"`
}

describe('what readings have comes out, and in again as the same', () => {
  test('in pages of JSON', async () => {
    const streamId = await filled()
    const content = linesOf(await service.api.readAll(streamId))

    const again = await duplicatesOf(service, streamId, { format: 'ndjson', content })
    expect(again).toMatchObject(wholly)
  })

  test.each(['csv', 'ndjson'] as const)('as an answer in %s', async (format) => {
    const streamId = await filled()
    const content = await queried(service.api, streamId, importTypes[format])

    const again = await duplicatesOf(service, streamId, { format, content })
    expect(again).toMatchObject(wholly)
  })

  test.each(['csv', 'ndjson', 'parquet'] as const)('in a file of %s', async (format) => {
    const { api } = service
    const streamId = await filled()
    const job = await exported(api, { streamIds: [streamId], format })
    const answer = await download(service, job, job.files[0])
    const content = new Uint8Array(await answer.arrayBuffer())
    const into = await api.createStream(schema)
    const fresh = await duplicatesOf(service, into, { format, content })
    const again = await duplicatesOf(service, streamId, { format, content })

    expect(fresh).toMatchObject({ state: 'completed', refused: 0, duplicates: 0 })
    expect(await api.readAll(into)).toEqual(answered)
    expect(again).toMatchObject(wholly)
  })

  test.each(['csv', 'ndjson', 'parquet'] as const)('by the command line in %s', async (format) => {
    using folder = new TemporaryFolder()
    const streamId = await filled()
    const file = folder.file(`readings.${format}`)
    const { code, stderr } = await streamvault(
      ['export', streamId, '--format', format, '--out', file],
      settingsOf(service.process.dataDir),
    )
    expect(code, stderr).toBe(0)
    const content = new Uint8Array(readFileSync(file))

    const again = await duplicatesOf(service, streamId, { format, content })
    expect(again).toMatchObject(wholly)
  })

  test.each(kinds)('to those who follow it: %s', async (kind) => {
    const streamId = await filled()
    const tail = await tails.open(kind, `/streams/${streamId}/tail?start=${formatUs(0)}`)
    await tail.received(count)
    const content = linesOf(tail.events.map(({ data }) => data))

    const again = await duplicatesOf(service, streamId, { format: 'ndjson', content })
    expect(again).toMatchObject(wholly)
  })

  test('to subscribers of MQTT', async () => {
    const { api } = service
    const streamId = await api.createStream(schema)
    const screen = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    await screen.subscribe(`streams/${streamId}/data`)
    for (let at = 0; at < count; at += 20) {
      await api.withToken('POST', `/streams/${streamId}/data`, readings.slice(at, at + 20))
    }
    await expect.poll(() => screen.messages.length, { timeout: 30_000 }).toBe(Math.ceil(count / 20))
    const heard = screen.messages.flatMap(({ payload }) => JSON.parse(payload) as Reading[])

    const content = linesOf(heard)
    const again = await duplicatesOf(service, streamId, { format: 'ndjson', content })
    expect(again).toMatchObject(wholly)
  })
})
