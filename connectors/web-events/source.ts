import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { newField, part, text } from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { address, hasScheme } from '../fields/addresses.ts'
import { memberPath, requestFields, timeout } from '../fields/http-requests.ts'

/** Servers that send their events as they happen: Server-Sent Events. */
export const sseSource = sourceKind({
  name: 'SseSource',
  family: 'events',
  protocols: ['sse'],
  tells: ['event'],
  secretPlaces: ['endpoint', 'headers'],
  fields: {
    endpoint: {
      ...address('https', 'http'),
      isRequired: true,
      doc: '`http://` or `https://`, with a query where it needs one; no credentials in it',
    },
    ...requestFields,
    headers: {
      ...requestFields.headers,
      doc: 'up to 50. `Last-Event-ID` among them is where to begin for the first time',
    },
    timeout: {
      ...timeout,
      default: '10m',
      doc: 'for so long the server may send nothing, from the request on; an hour at most',
    },
  },
  checkAll: ({ endpoint, tls, format }, problems) => {
    if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
    if (tls !== undefined && typeof endpoint === 'string' && !hasScheme(endpoint, 'https')) {
      problems.add('tls', 'needs an endpoint of https')
    }
  },
})

/** Messages that may be sent when a connection is there. */
const sayingsMax = 20

/** Characters of all of them, as JSON. */
const sayingsLengthMax = 64 * 1024

/** A text as it is sent, or an object that is sent as JSON. */
export type Saying = string | object

/** RFC 6455, section 4.1: a token of HTTP. */
const subprotocolPattern = /^[\w!#$%&'*+\-.^`|~]{1,200}$/

const subprotocol = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && subprotocolPattern.test(value)) return
    problems.add(key, 'must be the name of a subprotocol')
  },
  { type: 'string', maxLength: 200 },
)

const saying = { type: ['string', 'object'] } as const

const subscribe = newField<Saying | readonly Saying[]>(
  (value, key, problems) => {
    const sayings: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (sayings.length === 0 || sayings.length > sayingsMax) {
      problems.add(key, `must be a message, or a list of 1 to ${sayingsMax}`)
      return
    }
    const areMessages = sayings.every(
      (one) => isObject(one) || (typeof one === 'string' && one !== ''),
    )
    if (!areMessages) problems.add(key, 'must be texts and objects')
    if (JSON.stringify(sayings).length > sayingsLengthMax) {
      problems.add(key, `must have at most ${sayingsLengthMax} characters`)
    }
  },
  { anyOf: [saying, { type: 'array', minItems: 1, maxItems: sayingsMax, items: saying }] },
)

const cursorStart = newField<string | number>(
  (value, key, problems) => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return
    if (typeof value === 'string') text.rule(value, key, problems)
    else problems.add(key, 'must be a text or an integer')
  },
  { type: ['string', 'integer'] },
)

/** Servers that send messages over a WebSocket. */
export const webSocketSource = sourceKind({
  name: 'WebSocketSource',
  family: 'events',
  protocols: ['websocket'],
  secretPlaces: ['endpoint', 'headers', 'subscribe'],
  marks: ['token', 'cursor'],
  fields: {
    endpoint: {
      ...address('wss', 'ws'),
      isRequired: true,
      doc: '`ws://` or `wss://`, with a path and a query; no credentials in it',
    },
    ...requestFields,
    subprotocol: { ...subprotocol, doc: 'one that the server has to agree to' },
    subscribe: {
      ...subscribe,
      doc: 'what is said when the connection is there: a text, which is sent as it is, or an object, which is sent as JSON; or a list of up to 20 of them',
    },
    credentials: {
      ...part({ token: { ...text, isRequired: true, isSecret: true, doc: 'The token.' } }),
      doc: '`token`: a secret that stands where `subscribe` has `{token}`',
    },
    cursorField: {
      ...memberPath,
      doc: 'the field of a message that says where it stands: a name, or names with dots between them',
    },
    cursorStart: {
      ...cursorStart,
      doc: 'what stands for `{cursor}` for the first time: a text or an integer',
    },
    heartbeat: {
      ...timeout,
      default: '30s',
      doc: 'how often the server is asked whether it is there (ping); an hour at most',
    },
  },
  checkAll: checkWebSocketSource,
})

export type WebSocketSourceKeys = SourceOf<typeof webSocketSource>

/** Says what is wrong with keys beside each other. */
function checkWebSocketSource(source: Json, problems: Problems): void {
  const { endpoint, tls, subscribe: said, credentials, cursorField, cursorStart: start } = source
  if (source['format'] === 'sparkplug') {
    problems.add('format', 'sparkplug comes from brokers only')
  }
  if (tls !== undefined && typeof endpoint === 'string' && !hasScheme(endpoint, 'wss')) {
    problems.add('tls', 'needs an endpoint of wss')
  }
  // A secret may have one of these names.
  const names = Object.keys(isObject(source['secrets']) ? source['secrets'] : {})
  const template = names.reduce(
    (left, name) => left.replaceAll(`\${${name}}`, ''),
    JSON.stringify(said ?? ''),
  )
  const [asksForCursor, asksForToken] = ['{cursor}', '{token}'].map((mark) =>
    template.includes(mark),
  )
  if (cursorField !== undefined && !asksForCursor) {
    problems.add('cursorField', 'needs {cursor} in subscribe')
  }
  if (asksForCursor && cursorField === undefined) {
    problems.add('cursorField', 'is required with {cursor} in subscribe')
  }
  if (start !== undefined && cursorField === undefined) {
    problems.add('cursorStart', 'needs cursorField')
  }
  if (asksForToken && credentials === undefined) {
    problems.add('credentials', 'is required with {token} in subscribe')
  }
  if (credentials !== undefined && !asksForToken) {
    problems.add('credentials', 'needs {token} in subscribe: for headers there is authentication')
  }
}
