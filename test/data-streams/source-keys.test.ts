import { afterAll, describe, expect, test } from 'vitest'
import { fetchConnectors, pollConnectors } from '../../connectors/index.ts'
import { InboundHook } from '../../connectors/webhook/inbound-hook.ts'
import type { Json } from '../../src/contracts/definitions/problems.ts'
import type { DomainError } from '../../src/core/errors.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { formatOf, parseDefinition, schemaOf } from '../../src/streams/data-streams/definition.ts'
import { formatOptionsOf } from '../../src/streams/data-streams/payload-format.ts'
import { sourceKeys } from '../../src/streams/data-streams/source.ts'
import { ownTopicOf } from '../../src/streams/data-streams/source-kinds.ts'
import { type StreamType, streamTypes } from '../../src/streams/data-streams/stream-type.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import { makeApplicationCertificate } from '../support/application-certificate.ts'
import { plantFile } from '../support/plant-protobuf.ts'
import { base64, descriptorOf } from '../support/protobuf-messages.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
afterAll(() => folder[Symbol.dispose]())
const pair = makeApplicationCertificate(folder.path)
const { certificate: ca } = pair

const tls = { ca, servername: 'plant' }
const login = { username: 'ada', password: 'hush' }
const at = { timestampField: 'at', timestampFormat: 'epoch_s' }
const sent = {
  ...at,
  timestampOptional: true,
  timestampMin: '2020-01-01T00:00:00Z',
  timestampOffset: { path: 'temperature', unit: 'ms' },
}
const fields = { temperature: { type: 'number' }, at: { type: 'integer' } }
const round = { schedule: '* * * * *', timezone: 'Europe/Berlin', jitter: '1s' }
const asked = { ...round, timeout: '5s' }
const protobuf = { descriptor: base64(descriptorOf(plantFile)), message: 'plant.Reading' }
const events = { eventTypes: { made: fields }, eventTypeField: 'kind' }
const http = {
  headers: { 'x-a': 'b' },
  authentication: { type: 'bearer', token: 'hush' },
  tls,
  timeout: '5s',
}

/** Formats with all that they have to be told; a source of any of these may be in each. */
const formats: readonly Json[] = [
  { format: 'json', ...sent },
  { format: 'ndjson', ...at },
  { format: 'cbor', ...at },
  { format: 'msgpack', ...at },
  { format: 'plain', field: 'temperature' },
  { format: 'csv', columns: ['temperature', 'at'], delimiter: ';', headerLines: 1, ...at },
  { format: 'form', ...at },
  { format: 'cloudevents', ...at },
  { format: 'senml-json', names: { 'urn:a': 'temperature' }, ...at },
  { format: 'senml-cbor', names: { 'urn:a': 'temperature' }, ...at },
  { format: 'protobuf', protobuf },
  { format: 'otlp', ...at },
  { format: 'line-protocol', precision: 'ms', ...at },
]
/** A table whose columns the device names. */
const named = { format: 'csv', headerLines: 4, columnsLine: 2, contentCoding: 'gzip', ...at }
const sparkplug = { format: 'sparkplug', names: { 'Temperature/Inlet': 'temperature' }, ...at }

const broker = {
  protocol: 'mqtt',
  endpoint: 'mqtts://plant:8883',
  topic: 'plants/7',
  credentials: { ...login, ...pair },
  qos: 1,
  clientId: 'us',
  sharedGroup: 'us',
  retained: 'keep',
  version: 5,
  tls,
}
const polled = {
  protocol: 'postgres',
  endpoint: 'db:5432/plant',
  query: 'SELECT * FROM readings',
  credentials: login,
  tls: true,
  incrementalColumn: 'id',
  keyColumn: 'id',
  lookBehind: 5,
  nulls: 'refuse',
  pageSize: 7,
  statementTimeout: '7s',
  ...round,
}
const followed = {
  protocol: 'postgres',
  follow: 'log',
  endpoint: 'db:5432/plant',
  credentials: login,
  tls: true,
  table: 'readings',
  publication: 'pub',
  slot: 'slot_a',
  changes: 'insert_update',
  timezone: 'Europe/Berlin',
}
const api = {
  endpoint: 'https://plant/v1',
  method: 'POST',
  body: { a: 1 },
  itemsPath: 'items',
  pagination: { type: 'cursor', parameter: 'after', cursorPath: 'next', pagesMax: 3 },
  ...http,
  ...round,
}
const { itemsPath: _, pagination: __, ...plainApi } = api
const table = { ...plainApi, format: 'csv', columns: ['temperature', 'at'], headerLines: 1, ...at }
const exchange = {
  protocol: 'amqp',
  endpoint: 'amqps://plant',
  exchange: 'ex',
  routingKey: 'a.#',
  group: 'us',
  queueType: 'quorum',
  prefetch: 7,
  credentials: { ...login },
  tls,
}
const { routingKey: ___, ...bound } = exchange
const kafka = {
  protocol: 'kafka',
  endpoint: 'kafka://plant:9092',
  topic: 'a',
  group: 'us',
  startFrom: 'latest',
  tls,
  credentials: { ...login, type: 'plain' },
}
const nats = {
  protocol: 'nats',
  endpoint: 'tls://plant',
  topic: 'a.b',
  stream: 'A',
  domain: 'hub',
  group: 'us',
  startFrom: 'latest',
  tls,
  credentials: login,
}
const redis = {
  protocol: 'redis',
  endpoint: 'rediss://plant',
  topic: 'a',
  group: 'us',
  startFrom: 'latest',
  payloadField: 'p',
  credentials: login,
  tls,
}
const sse = { protocol: 'sse', endpoint: 'https://plant/events', ...http }
const { timeout: ____, ...webHttp } = http
const socket = {
  protocol: 'websocket',
  endpoint: 'wss://plant/feed',
  ...webHttp,
  subprotocol: 'v1',
  subscribe: '{"from": "{cursor}", "token": "{token}"}',
  credentials: { token: 'hush' },
  cursorField: 'seq',
  cursorStart: 5,
  heartbeat: '7s',
}
const hook = {
  protocol: 'webhook',
  signature: {
    scheme: 'hmac',
    header: 'x-sig',
    algorithm: 'sha512',
    encoding: 'base64',
    prefix: 'v1=',
    timestampHeader: 'x-time',
    signedContent: '{timestamp}.{id}.{body}',
    tolerance: '5m',
  },
  credentials: { secret: 'hush-hush-very-secret-0123456789' },
  idHeader: 'x-id',
  eventTypeHeader: 'x-type',
}
const opcua = {
  protocol: 'opcua',
  endpoint: 'opc.tcp://plant:4840',
  items: [
    { nodeId: 'ns=1;s=a', field: 'temperature', samplingInterval: 5, queueSize: 7, deadband: 1 },
    { nodeId: 'ns=1;s=b', field: 'at' },
  ],
  samplingInterval: 50,
  publishingInterval: 100,
  queueSize: 9,
  discardOldest: false,
  sessionTimeout: 90_000,
  securityMode: 'sign',
  securityPolicy: 'Basic256Sha256',
  credentials: { ...login, ...pair },
  serverCertificate: ca,
  timestampField: 'read_at',
}
const modbus = {
  protocol: 'modbus',
  endpoint: 'modbus+tls://plant',
  unitId: 3,
  byteOrder: 'little',
  wordOrder: 'little',
  registers: [
    { field: 'temperature', address: 7, type: 'int32', scale: 0.1, offset: 1, unitId: 4 },
    { field: 'at', address: 9, type: 'uint32', kind: 'input' },
  ],
  maxGap: 5,
  tls,
  credentials: pair,
  ...asked,
  ...at,
}
const bacnet = {
  protocol: 'bacnet',
  endpoint: 'bacnet://plant',
  objects: [
    { field: 'temperature', object: 'analog-input:1', property: 'present-value', scale: 0.1 },
    { field: 'at', object: 'analog-value:2' },
  ],
  ...asked,
  ...at,
}
const coap = { protocol: 'coap', endpoint: 'coap://plant/a', deviceId: 'seven', accept: 50 }

function inFormats(source: Json): readonly Json[] {
  return formats.map((format) => ({ ...source, ...format }))
}

const listened: readonly Json[] = [
  ...inFormats(exchange),
  { ...bound, bindings: [{ routingKey: 'a.b' }], ...events },
  { protocol: 'amqp', endpoint: 'amqp://plant', topic: 'queue' },
  ...inFormats(kafka),
  { ...kafka, ...events },
  ...inFormats(nats),
  { ...nats, ...events },
  ...inFormats(redis),
  { ...redis, ...events },
  ...inFormats(sse),
  { ...sse, ...events },
  ...inFormats(socket),
  { ...socket, ...events },
  ...inFormats(hook),
  { ...hook, ...events },
]
const values = { missing: [null, 'nan', -999], texts: 'typed', decimal: ',' }
const pushed: readonly Json[] = [
  { protocol: 'mqtt', topic: 'plants/7', ...values, extra: 'drop' },
  ...inFormats({ protocol: 'mqtt', topic: 'plants/7', deviceId: 'seven' }),
  { protocol: 'mqtt', topic: 'plants/7', ...named },
  ...inFormats({ protocol: 'http', deviceId: 'seven' }),
  { ...sparkplug, topic: 'spBv1.0/g/DDATA/e/d' },
  ...inFormats(broker),
  { ...broker, ...sparkplug, topic: 'spBv1.0/g/+/e/#' },
  ...inFormats(coap),
]
const databases: readonly Json[] = [
  { ...polled, ...at },
  { ...polled, follow: 'poll' },
  { ...followed, ...at },
]
const ofDomains = [...pushed, ...listened, ...databases, opcua, modbus, bacnet]

/** Whole sources of each type, with every key that they may have beside each other. */
const samples: Readonly<Record<StreamType, readonly Json[]>> = {
  iot_sensor: pushed,
  api_pull: [...inFormats(plainApi), { ...api, ...at }, table],
  event_stream: listened,
  database: databases,
  manufacturing: ofDomains,
  building_systems: ofDomains,
  occupancy: ofDomains,
  service: [{}],
}

/** A label for people, from which nothing follows, and what chooses the rules of all other keys, which is a check. */
const labels: readonly string[] = ['deviceId', 'follow']

/** What each key could be where no sample has it beside the others: each is good by itself somewhere. */
const probes: Json = Object.fromEntries(
  [...ofDomains, api, table, sparkplug].flatMap((source) => Object.entries(source)),
)

const connectors = [
  ...fetchConnectors,
  ...pollConnectors({ sqliteFolders: [folder.path] }).map((one) => scheduled(one)),
]

function parsed(type: StreamType, source: Json) {
  const schema = source['eventTypes'] === undefined && type !== 'service' ? { schema: fields } : {}
  const vaultId = newId()
  return parseDefinition({ name: 'a', vaultId, type, source, ...schema })
}

function problemsOf(type: StreamType, source: Json): unknown {
  try {
    parsed(type, source)
    return undefined
  } catch (error) {
    return { source, details: (error as DomainError).details }
  }
}

function isTaken(type: StreamType, source: Json): boolean {
  return problemsOf(type, source) === undefined
}

/** Keys of a source that are read by what runs it; whoever copies all of it reads nothing by that. */
function keysRead(type: StreamType, source: Json): ReadonlySet<string> {
  const read = new Set<string>()
  const watched = new Proxy(source, {
    get(target, key) {
      if (typeof key === 'string') read.add(key)
      return Reflect.get(target, key) as unknown
    },
  })
  const definition = { ...parsed(type, source), source: watched }
  schemaOf(definition)
  formatOf(definition)
  formatOptionsOf(watched)
  ownTopicOf(watched)
  const streamId = newId<StreamId>()
  if (source['protocol'] === 'webhook') {
    const opened = new InboundHook({ streamId, source: watched, previous: undefined })
    expect(opened.streamId).toBe(streamId)
  }
  const connector = connectors.find((one) => one.takes(source))
  connector?.takes(watched)
  connector?.destinationOf(watched)
  connector?.open({ streamId, source: watched })
  return read
}

function withoutKey(source: Json, key: string): Json {
  return Object.fromEntries(Object.entries(source).filter(([name]) => name !== key))
}

describe.each(streamTypes.map((type) => [type] as const))('a source of the type %s', (type) => {
  test('can be each of its samples', () => {
    expect(samples[type].flatMap((source) => problemsOf(type, source) ?? [])).toEqual([])
  })

  test('has no key that is neither read nor refused', () => {
    const idle = samples[type].flatMap((source) => {
      const read = keysRead(type, source)
      const unread = Object.keys(source).filter((key) => !read.has(key) && !labels.includes(key))
      const missing = sourceKeys(type, source).filter((key) => source[key] === undefined)
      const ignored = missing.filter((key) => {
        const more = { ...source, [key]: probes[key] }
        if (probes[key] === undefined || !isTaken(type, more)) return probes[key] === undefined
        return !keysRead(type, more).has(key) && !labels.includes(key)
      })
      return [...unread, ...ignored].map((key) => `${key} of ${JSON.stringify(source)}`)
    })
    expect(idle.map((text) => text.slice(0, 300))).toEqual([])
  })

  test('has no key of a format that is taken beside another format', () => {
    const ofFormats = { plain: 'field', csv: 'columns', protobuf: 'protobuf' }
    for (const source of samples[type].filter((one) => one['format'] !== undefined)) {
      for (const [format, key] of Object.entries(ofFormats)) {
        if (source['format'] === format) continue
        expect(isTaken(type, { ...withoutKey(source, key), [key]: probes[key] })).toBe(false)
      }
    }
  })
})
