import { encode } from 'cborg'
import { describe, expect, test } from 'vitest'
import { decoderOf } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import type { MessageContext } from '../../../src/contracts/mapping.ts'
import { formatUs } from '../../../src/core/time.ts'
import { judgeMessage, keptBy } from '../../../src/ingest/pipeline/intake.ts'
import {
  formatOf,
  parseDefinition,
  schemaOf,
} from '../../../src/streams/data-streams/definition.ts'

const event = {
  specversion: '1.0',
  id: 'a1',
  source: '/plants/7',
  type: 'boiler.measured',
  time: '2026-01-31T09:59:58.123456Z',
  subject: 'boiler 3',
  site: 'north',
  data: { temperature: 66.5 },
}
const schema = { temperature: { type: 'number' } }

/** A stream of CloudEvents, as a definition makes it. */
function streamOf(given: { readonly source?: object; readonly schema?: object } = {}) {
  const definition = parseDefinition({
    name: 'example',
    vaultId: '01234567-89ab-4def-8123-456789abcdef',
    type: 'event_stream',
    ...(given.schema !== undefined || !('eventTypes' in (given.source ?? {}))
      ? { schema: given.schema ?? schema }
      : {}),
    source: { protocol: 'webhook', ...hook, format: 'cloudevents', ...given.source },
  })
  const shape = schemaOf(definition)
  const decode = decoderOf(formatOf(definition), { schema: shape })
  return { schema: shape, decode, map: mapperOf(shape), judge: judgeOf(shape, []) }
}

const hook = {
  signature: { scheme: 'token', header: 'x-key' },
  credentials: { secret: 'long-enough' },
}

/** What is stored of a message, or why a reading is not. */
function readingsOf(
  payload: unknown,
  stream = streamOf(),
  context: MessageContext = {},
): readonly unknown[] {
  const { verdicts } = judged(payload, stream, context)
  return verdicts.map((verdict) => {
    if (!verdict.accepted) return `${verdict.reason}: ${verdict.message}`
    if (verdict.isFiltered) return 'filtered'
    const { timestampUs, values, extra } = verdict
    return {
      timestamp: formatUs(timestampUs),
      ...(JSON.parse(values) as object),
      ...(extra !== '' && { extra: JSON.parse(extra) as unknown }),
    }
  })
}

function judged(
  payload: unknown,
  stream: ReturnType<typeof streamOf>,
  context: MessageContext = {},
) {
  const bytes = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  const decoded = stream.decode(bytes)
  if (!decoded.ok) throw new Error(decoded.problem)
  const found = stream.map?.(decoded, context) ?? decoded
  const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000
  const verdicts = judgeMessage(stream as never, found, receivedAtUs)
  return { verdicts, kept: keptBy(found, bytes), isBatch: found.isBatch }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function without(name: keyof typeof event) {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== name))
}

describe('a CloudEvent in structured mode', () => {
  test('is a reading of its data, at its time', () => {
    expect(readingsOf(event)).toEqual([{ timestamp: event.time, temperature: 66.5 }])
    expect(judged(event, streamOf()).isBatch).toBe(false)
  })

  test('has the time of the data where these have one', () => {
    const data = { temperature: 1, timestamp: '2026-01-31T09:00:00Z' }
    expect(readingsOf({ ...event, data })).toEqual([
      { timestamp: '2026-01-31T09:00:00.000000Z', temperature: 1 },
    ])
  })

  test('has its time in the form that the stream has times in', () => {
    const stream = streamOf({ source: { timestampField: 'at', timestampFormat: 'epoch_ms' } })
    expect(readingsOf(event, stream)).toEqual([{ timestamp: event.time, temperature: 66.5 }])
    const named = streamOf({ source: { timestampField: 'at' } })
    expect(readingsOf(without('time'), named)).toEqual([expect.stringMatching('timestamp_missing')])
  })

  test('has that of its receipt where nothing says it', () => {
    expect(readingsOf(without('time'))).toEqual([
      { timestamp: '2026-01-31T10:00:00.000000Z', temperature: 66.5 },
    ])
  })

  test('shows its attributes to those paths that read them', () => {
    const fields = {
      ...schema,
      boiler: { type: 'string', from: 'cloudevent.subject' },
      site: { type: 'string', from: 'cloudevent.site' },
      eventId: { type: 'string', from: 'cloudevent.id' },
    }
    expect(readingsOf(event, streamOf({ schema: fields }))).toEqual([
      {
        timestamp: event.time,
        temperature: 66.5,
        boiler: 'boiler 3',
        site: 'north',
        eventId: 'a1',
      },
    ])
  })

  test('shows none of them to a strict stream that reads none', () => {
    const definition = streamOf()
    const strict = { ...definition.schema, validation: 'strict' } as const
    const stream = { ...definition, judge: judgeOf(strict, []), map: mapperOf(strict) }
    expect(readingsOf(event, stream)).toEqual([{ timestamp: event.time, temperature: 66.5 }])
  })

  test('is an event of its type', () => {
    const eventTypes = {
      'boiler.measured': schema,
      'boiler.stopped': { reason: { type: 'string' } },
    }
    const stream = streamOf({ source: { eventTypes } })
    const stopped = { ...event, type: 'boiler.stopped', data: { reason: 'cold', type: 'x' } }
    expect(readingsOf([event, stopped, { ...event, type: 'other' }], stream)).toEqual([
      { timestamp: event.time, type: 'boiler.measured', temperature: 66.5 },
      { timestamp: event.time, type: 'boiler.stopped', reason: 'cold' },
      expect.stringMatching('other'),
    ])
  })

  test('is a reading without fields where it has no data', () => {
    const { data: _, ...empty } = event
    expect(readingsOf(empty)).toEqual([{ timestamp: event.time }])
    expect(readingsOf({ ...event, data: null })).toEqual([{ timestamp: event.time }])
  })

  test('has as many readings as its data', () => {
    const data = [{ temperature: 1 }, { temperature: 'hot' }, { temperature: 3 }]
    const { verdicts, kept, isBatch } = judged({ ...event, data }, streamOf())

    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false, true])
    expect(isBatch).toBe(true)
    const { payload, ...how } = kept(1)
    expect(how).toEqual({ format: 'json', isElement: false })
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
      ...event,
      datacontenttype: 'application/json',
      data: { temperature: 'hot' },
    })
  })

  test('has its data in any format that says all by itself', () => {
    const { data: _, ...rest } = event
    const cbor = { datacontenttype: 'application/cbor', data_base64: base64(encode(event.data)) }
    const json = { data_base64: base64(Buffer.from('{"temperature": 66.5}')) }
    const lines = { datacontenttype: 'application/x-ndjson', data: '{"temperature": 66.5}\n' }
    const other = { datacontenttype: 'application/vnd.boiler+json', data: event.data }
    for (const data of [cbor, json, lines, other]) {
      expect(readingsOf({ ...rest, ...data })).toEqual([
        { timestamp: event.time, temperature: 66.5 },
      ])
    }
  })

  test('keeps the digits of a time in its data', () => {
    const source = { timestampField: 'at', timestampFormat: 'epoch_ns' }
    const text = JSON.stringify({ ...event, data: { at: 0 } }).replace(
      '"at":0',
      '"at":1769853598123456789',
    )
    expect(readingsOf(text, streamOf({ source }))).toEqual([{ timestamp: event.time }])
  })

  test('may have its readings deeper in the data', () => {
    const source = { items: 'samples', extra: 'drop' }
    const fields = {
      temperature: { type: 'number', from: 'v' },
      boiler: { type: 'string', from: '$message.cloudevent.subject' },
    }
    const stream = streamOf({ source, schema: fields })
    const data = { samples: [{ v: 1 }, { v: 'hot' }] }
    const { verdicts, kept } = judged({ ...event, data }, stream)

    expect(readingsOf({ ...event, data: { samples: [{ v: 1 }] } }, stream)).toMatchObject([
      { temperature: 1, boiler: 'boiler 3' },
    ])
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false])
    const again = JSON.parse(Buffer.from(kept(1).payload).toString()) as { data: object }
    expect(again).toMatchObject({ id: 'a1', data: { samples: [{ v: 'hot' }] } })
    expect(readingsOf(JSON.stringify(again).replace('"hot"', '2'), stream)).toMatchObject([
      { temperature: 2, boiler: 'boiler 3' },
    ])
  })

  test.each([
    [without('id'), 'the CloudEvent has no id: each must be a text'],
    [without('source'), 'the CloudEvent has no source: each must be a text'],
    [without('specversion'), 'the CloudEvent has no specversion: each must be a text'],
    [{ ...without('id'), type: '' }, 'the CloudEvent has no id, type: each must be a text'],
    [{ ...event, id: 7 }, 'the CloudEvent has no id: each must be a text'],
    [
      { temperature: 1 },
      'the CloudEvent has no specversion, id, source, type: each must be a text',
    ],
    [{ ...event, specversion: '0.3' }, 'the CloudEvent has specversion 0.3: only 1.0 is supported'],
    [{ ...event, data: 7 }, 'the data of a CloudEvent must be an object, or a list of objects'],
    [{ ...event, data: [7] }, 'the data of a CloudEvent must be an object, or a list of objects'],
    [{ ...event, time: 'yesterday' }, 'the time of a CloudEvent must be in RFC 3339 format'],
    [{ ...event, data_base64: 'e30=' }, 'the CloudEvent has data and data_base64'],
    [{ ...event, data: undefined, data_base64: '{}' }, 'data_base64 is not base64'],
    [
      { ...event, data: undefined, data_base64: 'ew==' },
      expect.stringMatching('the data of the CloudEvent: not valid JSON'),
    ],
    [
      { ...event, datacontenttype: 'image/png', data: 'x' },
      'the datacontenttype image/png is not a format of readings',
    ],
  ])('is refused: %j', (payload, message) => {
    const { verdicts, kept } = judged(payload, streamOf())
    expect(verdicts).toMatchObject([{ reason: 'malformed', message }])
    expect(Buffer.from(kept(0).payload).toString()).toBe(JSON.stringify(payload))
  })
})

describe('a batch of CloudEvents', () => {
  test('has each for itself, and keeps those that are refused as they came', () => {
    const bad = { ...event, id: '' }
    const { verdicts, kept } = judged(
      [event, bad, { ...event, data: { temperature: 1 } }],
      streamOf(),
    )

    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false, true])
    expect(kept(1)).toEqual({
      payload: Buffer.from(JSON.stringify(bad)),
      format: 'json',
      isElement: true,
    })
  })

  test('has as many readings as a message may have', () => {
    const data = Array.from({ length: 5_001 }, () => ({ temperature: 1 }))
    expect(
      readingsOf([
        { ...event, data: data.slice(1) },
        { ...event, data: data.slice(1) },
      ]).length,
    ).toBe(10_000)
    expect(
      readingsOf([
        { ...event, data },
        { ...event, data },
      ]),
    ).toEqual(['malformed: more than 10000 readings in one message'])
  })
})

const plain = { specversion: '1.0', id: 'a1', source: '/plants/7', type: 't', time: event.time }

function headersOf(subject: string): Readonly<Record<string, string>> {
  const names = Object.entries(plain).map(([name, value]) => [`ce-${name}`, value])
  return { ...(Object.fromEntries(names) as Record<string, string>), 'ce-subject': subject }
}

/** The subject of an event in binary mode, as a field reads it. */
function subjectIn(text: string): unknown {
  const fields = { boiler: { type: 'string', from: 'cloudevent.subject' } }
  const context = { headers: headersOf(text) }
  return (readingsOf({}, streamOf({ schema: fields }), context)[0] as { boiler: unknown }).boiler
}

describe('a CloudEvent in binary mode', () => {
  const fields = { ...schema, boiler: { type: 'string', from: 'cloudevent.subject' } }
  const stream = streamOf({ schema: fields })

  test.each([
    ['HTTP', 'ce-'],
    ['Kafka', 'ce_'],
    ['AMQP', 'cloudevents:'],
    ['AMQP, where a colon may not be', 'cloudevents_'],
    ['MQTT', ''],
  ])('has its attributes in the headers of %s', (_, prefix) => {
    const headers = Object.fromEntries(
      Object.entries({ ...plain, subject: 'boiler 3' }).map(([name, value]) => [
        prefix + name,
        value,
      ]),
    )
    expect(readingsOf(event.data, stream, { headers })).toEqual([
      { timestamp: event.time, temperature: 66.5, boiler: 'boiler 3' },
    ])
  })

  test('has what HTTP cannot have in a header in percent escapes', () => {
    expect(subjectIn('Euro%20%E2%82%AC%20%F0%9F%98%80')).toBe('Euro € 😀')
    expect(subjectIn('"a \\"b\\""')).toBe('a "b"')
    expect(subjectIn('100%')).toBe('100%')
  })

  test('is refused without what each must have, and keeps its data', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'a1', 'content-type': 'application/json' }
    const { verdicts, kept } = judged(event.data, stream, { headers })
    expect(verdicts).toMatchObject([
      { reason: 'malformed', message: 'the CloudEvent has no source, type: each must be a text' },
    ])
    expect(JSON.parse(Buffer.from(kept(0).payload).toString())).toEqual(event.data)
  })

  test('is one in structured mode where the content type says so', () => {
    const headers = { 'ce-specversion': '1.0', 'content-type': 'application/cloudevents+json' }
    expect(readingsOf(event, stream, { headers })).toMatchObject([{ temperature: 66.5 }])
  })
})
