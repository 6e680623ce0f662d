import { type Json, type Problems, part, type Rule, text } from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { path } from './api.ts'
import { certificates } from './broker.ts'
import { authentication, headers, timeout } from './http-rules.ts'
import { address, type SourceRules } from './source-rules.ts'

/** Messages that may be said when a connection is there. */
const sayingsMax = 20

/** Characters of all that is said, as JSON. */
const sayingsLengthMax = 64 * 1024

/** RFC 6455, section 4.1: a token of HTTP. */
const subprotocol: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[\w!#$%&'*+\-.^`|~]{1,200}$/.test(value)) return
  problems.add(key, 'must be the name of a subprotocol')
}

const subscribe: Rule = (value, key, problems) => {
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
}

const cursorStart: Rule = (value, key, problems) => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return
  if (typeof value === 'string') text(value, key, problems)
  else problems.add(key, 'must be a text or an integer')
}

/** Keys of a server that sends messages over a WebSocket. */
export const webSocketSource: SourceRules = {
  rules: {
    endpoint: address('wss', 'ws'),
    headers,
    authentication,
    tls: part({ ca: certificates, servername: text }),
    subprotocol,
    subscribe,
    credentials: part({ token: text }, ['token']),
    cursorField: path,
    cursorStart,
    heartbeat: timeout,
  },
  required: ['endpoint'],
  secretPlaces: ['endpoint', 'headers', 'subscribe'],
  checkAll: checkWebSocketSource,
}

/** Checks the keys that only make sense together. */
function checkWebSocketSource(source: Json, problems: Problems): void {
  const { endpoint, tls, subscribe: said, credentials, cursorField, cursorStart: start } = source
  if (source['format'] === 'sparkplug') {
    problems.add('format', 'sparkplug comes from brokers only')
  }
  if (tls !== undefined && typeof endpoint === 'string' && !/^wss:/i.test(endpoint)) {
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
