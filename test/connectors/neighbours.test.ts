import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InboundWebhook } from '../support/inbound-webhook.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { type BatchFormat, batchFormats, type Element, elementsOf } from '../support/neighbours.ts'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { metric, payloadOf } from '../support/sparkplug-payloads.ts'
import { senders } from '../support/webhook-senders.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const schema = { level: { type: 'number' }, note: { type: 'string' } }

type Json = Readonly<Record<string, unknown>>

interface Held {
  readonly id: number
  readonly reason: string
  readonly message: string
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
}

/** Batches of which every one has good elements and bad ones. */
function batchesOf(format: BatchFormat, count: number): readonly (readonly Element[])[] {
  const mixed = elementsOf(format).filter(
    (elements) => elements.some(({ isGood }) => isGood) && !elements.every(({ isGood }) => isGood),
  )
  return fc.sample(mixed, { numRuns: count, seed: 7 })
}

async function push(path: string, format: BatchFormat, body: Uint8Array) {
  const answer = await sendRaw(service.process.http, {
    method: 'POST',
    path,
    headers: [
      'authorization',
      `Bearer ${await service.api.token()}`,
      'content-type',
      format.mediaType,
    ],
    body,
  })
  return { status: answer.status, body: answer.body as unknown as Json }
}

/** What the quarantine of a stream holds, oldest first. */
async function held(streamId: string): Promise<readonly Held[]> {
  type Page = { readonly entries: readonly Held[]; readonly nextCursor: string | null }
  const path = `/streams/${streamId}/quarantine?limit=1000`
  return (await service.api.withToken<Page>('GET', path)).body.entries
}

function hexOf({ payload, encoding }: Held): string {
  return Buffer.from(payload, encoding).toString('hex')
}

/** All of it adds up, and the quarantine has what was refused as it stood in its batch. */
async function expectKept(streamId: string, elements: readonly Element[]): Promise<void> {
  const counters = await service.api.settled(streamId, elements.length)
  const good = elements.filter(({ isGood }) => isGood).length
  expect(counters).toMatchObject({
    received: elements.length,
    stored: good,
    duplicates: 0,
    quarantined: elements.length - good,
    discarded: 0,
    pending: 0,
  })
  expect((await held(streamId)).map(hexOf)).toEqual(
    elements.flatMap(({ isGood, bytes }) => (isGood ? [] : [Buffer.from(bytes).toString('hex')])),
  )
}

function placesOf(elements: readonly Element[]): readonly object[] {
  return elements.flatMap(({ isGood }, index) => (isGood ? [] : [{ index, error: 'malformed' }]))
}

describe.each(batchFormats.map((format) => [format.name, format] as const))('%s', (_, format) => {
  test('over HTTP the bad elements alone are refused, by their index', async () => {
    const streamId = await service.api.createStream(schema)
    const batches = batchesOf(format, 10)
    for (const elements of batches) {
      const body = format.join(elements.map(({ bytes }) => bytes))
      const path = `/streams/${streamId}`

      const tried = await push(`${path}/validate`, format, body)
      expect(tried).toMatchObject({ status: 200 })
      const statuses = (tried.body['readings'] as { status: string }[]).map(({ status }) => status)
      expect(statuses).toEqual(elements.map(({ isGood }) => (isGood ? 'accepted' : 'rejected')))

      const answer = await push(`${path}/data`, format, body)
      const accepted = elements.filter(({ isGood }) => isGood).length
      expect(answer).toMatchObject({ status: 202, body: { accepted } })
      expect(answer.body['rejected']).toMatchObject(placesOf(elements))
    }

    await expectKept(streamId, batches.flat())
  })

  test('a redrive gives what was refused the same verdict again', async () => {
    const streamId = await service.api.createStream(schema)
    const [elements = []] = batchesOf(format, 1)
    await push(`/streams/${streamId}/data`, format, format.join(elements.map(({ bytes }) => bytes)))
    await service.api.settled(streamId, elements.length)
    const before = await held(streamId)

    const path = `/streams/${streamId}/quarantine/redrive`
    const { body } = await service.api.withToken('POST', path, {})

    expect(body).toMatchObject({ redriven: 0, remaining: before.length })
    expect(await held(streamId)).toEqual(before)
    await expectKept(streamId, elements)
  })

  test('over MQTT the bad elements alone are kept in the quarantine', async () => {
    const source = { format: format.name }
    const streamId = await service.api.createStream(schema, { source })
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    const batches = batchesOf(format, 10)
    for (const [index, elements] of batches.entries()) {
      const payload = Buffer.from(format.join(elements.map(({ bytes }) => bytes)))
      const qos = index % 2 === 0 ? 1 : 2
      await mqtt.publishAsync(`streams/${streamId}/data`, payload, { qos })
    }

    await expectKept(streamId, batches.flat())
  })
})

/** Senders of webhooks sign texts. */
function isText({ bytes }: Element): boolean {
  return !Buffer.from(bytes).toString().includes('\uFFFD')
}

test('a webhook keeps the good readings of an array', async () => {
  const hook = await InboundWebhook.open(service.api, senders['standard-webhooks'], { schema })
  const format = batchFormats[0] as BatchFormat
  const batches = batchesOf(format, 10).map((elements) => elements.filter(isText))
  for (const elements of batches) {
    const refused = elements.filter(({ isGood }) => !isGood).length
    const body = Buffer.from(format.join(elements.map(({ bytes }) => bytes))).toString()

    const readings = elements.length - refused
    expect(await hook.send({ body })).toMatchObject({ status: 202, body: { readings, refused } })
  }

  await expectKept(hook.streamId, batches.flat())
})

const bytesOf = (...parts: readonly (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)))

const sparkplugTime = payloadOf([], { timestamp: 1_767_225_600_000 })
const badMetric = payloadOf([metric('String', 'x\0', { name: 'note' })])

/** Two good elements with a bad one between them, and what is kept of that. */
const unevenBatches = [
  {
    name: 'csv',
    source: { format: 'csv', columns: ['level', 'note'] },
    payload: bytesOf('1,"é"\n2,', Uint8Array.of(0xff), '\n3,ü\n'),
    kept: bytesOf('2,', Uint8Array.of(0xff)),
  },
  {
    name: 'senml-json',
    source: { format: 'senml-json' },
    payload: bytesOf(
      '[{"bn":"urn:d:","bt":1767225600,"n":"level","v":1},{"n":"level","t":1,"v":"x"},',
      '{"n":"level","t":2,"v":3}]',
    ),
    kept: bytesOf('[{"bn":"urn:d:","bt":1767225600},{"n":"level","t":1,"v":"x"}]'),
  },
  {
    name: 'sparkplug',
    source: { format: 'sparkplug', topic: 'spBv1.0/neighbours/NDATA/node' },
    payload: bytesOf(
      payloadOf([metric('Double', 1, { name: 'level' })]),
      badMetric,
      payloadOf([metric('Double', 3, { name: 'level' })]),
      sparkplugTime,
    ),
    kept: bytesOf(sparkplugTime, badMetric),
  },
]

test.each(unevenBatches)(
  '$name over MQTT: what is bad is kept as it came, and a redrive refuses it again',
  async ({ source, payload, kept }) => {
    const streamId = await service.api.createStream(schema, { source })
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    const { topic = `streams/${streamId}/data` } = source as { readonly topic?: string }
    await mqtt.publishAsync(topic, payload, { qos: 1 })

    const counts = { received: 3, stored: 2, quarantined: 1, pending: 0 }
    expect(await service.api.settled(streamId, 3)).toMatchObject(counts)
    const levels = (await service.api.readAll(streamId)).map(({ level }) => level)
    expect(levels.toSorted((a, b) => Number(a) - Number(b))).toEqual([1, 3])
    const before = await held(streamId)
    expect(before.map(hexOf)).toEqual([kept.toString('hex')])
    const path = `/streams/${streamId}/quarantine/redrive`
    const { body } = await service.api.withToken('POST', path, {})
    expect(body).toMatchObject({ redriven: 0, remaining: 1 })
    expect(await held(streamId)).toEqual(before)
  },
)

describe('readings of several streams', () => {
  test.each([
    ['application/json', (lines: readonly string[]) => `[${lines.join(',')}]`],
    ['application/x-ndjson', (lines: readonly string[]) => lines.join('\n')],
  ])('%s: what may not be stored is kept by the stream that it names', async (mediaType, join) => {
    const [one, two] = [
      await service.api.createStream(schema),
      await service.api.createStream(schema),
    ]
    const format = { ...(batchFormats[0] as BatchFormat), mediaType }
    const lines = [
      `{"streamId":"${one}","level":1}`,
      `{"level":1,"streamId":"${two}","level":2}`,
      `{"streamId":"${two}","level":3}`,
      `{"streamId":"${one}","note":"\\ud800"}`,
      `{"streamId":"${one}","streamId":"${two}","level":4}`,
      `{"streamId":"${newUuid}","level":1,"level":2}`,
      `{"level":1,"level":2}`,
    ]

    const answer = await push('/data', format, Buffer.from(join(lines)))

    expect(answer).toMatchObject({ status: 202, body: { accepted: 2 } })
    expect(answer.body['rejected']).toMatchObject([
      { index: 1, error: 'malformed' },
      { index: 3, error: 'malformed' },
      { index: 4, error: 'malformed' },
      { index: 5, error: 'not_found' },
      { index: 6, error: 'malformed' },
    ])
    const counts = { received: 2, stored: 1, quarantined: 1, pending: 0 }
    expect(await service.api.settled(one, 2)).toMatchObject(counts)
    expect(await service.api.settled(two, 2)).toMatchObject(counts)
    expect((await held(two)).map(({ payload }) => payload)).toEqual([lines[1]])
    expect((await held(one)).map(({ payload }) => payload)).toEqual([lines[3]])
  })
})

const newUuid = '00000000-0000-4000-8000-000000000000'
