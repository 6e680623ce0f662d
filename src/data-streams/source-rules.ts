import { brokerRules, checkBrokerSource } from './broker-source.ts'
import {
  check,
  duration,
  integer,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  type Rules,
  text,
  texts,
} from './definition-problems.ts'
import { isObject, parseFieldMap } from './field-map.ts'
import { formatRules } from './payload-format.ts'
import { scheduleProblem } from './schedule.ts'

/** The keys of one kind of source (D59), and those that it cannot do without. */
export interface SourceRules {
  readonly rules: Rules
  readonly required: readonly string[]
  /** What concerns several keys. */
  readonly checkAll?: (source: Json, problems: Problems) => void
}

export const deviceProtocols = ['mqtt', 'http', 'coap'] as const
export const databaseProtocols = ['postgres', 'mysql', 'mariadb', 'sqlite', 'mssql'] as const
export const eventProtocols = [
  'kafka',
  'nats',
  'amqp',
  'redis',
  'websocket',
  'sse',
  'webhook',
] as const

/** Header fields of one request. */
const headersMax = 50

/** Event types of one source: each has a schema of up to 256 fields. */
const eventTypesMax = 50

/** Pages that one pull may follow. */
const pagesMax = 10_000

const credentials: Rule = (value, key, problems) => {
  part({ username: text, password: text, certificate: text })(value, key, problems)
  if (!isObject(value)) return
  const isPair = value['username'] !== undefined && value['password'] !== undefined
  if (isPair !== (value['certificate'] !== undefined)) return
  problems.add(key, 'must have username and password, or a certificate')
}

/** Text of a URL with one of these schemes, without credentials: they have a place of their own. */
function address(...schemes: readonly string[]): Rule {
  return (value, key, problems) => {
    const url = typeof value === 'string' ? URL.parse(value) : null
    const fits = url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1))
    if (!fits) problems.add(key, `must be an address such as ${schemes[0]}://host:port`)
    else if (url.username !== '' || url.password !== '') {
      problems.add(key, 'must not hold credentials: they have a key of their own')
    }
  }
}

const schedule: Rule = (value, key, problems) => {
  const problem = typeof value === 'string' ? scheduleProblem(value) : 'must be a cron expression'
  if (problem !== undefined) problems.add(key, problem)
}

const timezone: Rule = (value, key, problems) => {
  if (typeof value === 'string' && isTimeZone(value)) return
  problems.add(key, 'must be the name of a time zone such as Europe/Berlin')
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Where in an answer the list of readings is: names with dots between them. */
const path: Rule = (value, key, problems) => {
  const isPath = typeof value === 'string' && value.length <= 500 && pathPattern.test(value)
  if (!isPath) problems.add(key, 'must be names with dots between them, such as data.items')
}

const pathPattern = /^[^\s.[\]]+(\.[^\s.[\]]+)*$/

/** A filter of MQTT topics: `+` stands for a whole level, `#` for all from the last one on. */
const topicFilter: Rule = (value, key, problems) => {
  const levels = typeof value === 'string' && value.length <= 1_000 ? value.split('/') : []
  const fits =
    levels.join('') !== '' &&
    levels.every((level, index) => {
      if (level === '+' || (level === '#' && index === levels.length - 1)) return true
      return !/[+#\0]/.test(level)
    })
  if (!fits) problems.add(key, 'must be a topic; + and # stand for whole levels')
}

/** Of a device that pushes, or of a broker that it pushes to. */
export function deviceSource(protocols: readonly string[]): SourceRules {
  return {
    rules: {
      deviceId: text,
      protocol: oneOf(...protocols),
      topic: topicFilter,
      ...formatRules,
      ...brokerRules,
    },
    required: [],
    checkAll: checkBrokerSource,
  }
}

const authenticationKeys: Readonly<Record<string, readonly string[]>> = {
  none: [],
  basic: ['username', 'password'],
  bearer: ['token'],
  apiKey: ['name', 'value'],
  oauth2: ['tokenUrl', 'clientId', 'clientSecret'],
}

const authentication: Rule = (value, key, problems) => {
  const type = isObject(value) ? value['type'] : undefined
  const kind = oneOf(...Object.keys(authenticationKeys))
  const needed = typeof type === 'string' ? authenticationKeys[type] : undefined
  if (!isObject(value) || needed === undefined) {
    part({ type: kind }, ['type'])(isObject(value) ? { type } : value, key, problems)
    return
  }
  const rules: Record<string, Rule> = { type: kind }
  for (const name of needed) rules[name] = name === 'tokenUrl' ? address('https', 'http') : text
  if (type === 'apiKey') rules['in'] = oneOf('header', 'query')
  if (type === 'oauth2') rules['scope'] = text
  check(value, { rules, required: needed }, problems.within(key))
}

const pagination = part(
  {
    type: oneOf('page', 'offset', 'cursor', 'link'),
    parameter: text,
    cursorPath: path,
    pageSize: integer(1, 100_000),
    pagesMax: integer(1, pagesMax),
  },
  ['type'],
)

export const apiSource: SourceRules = {
  rules: {
    endpoint: address('https', 'http'),
    method: oneOf('GET', 'POST', 'PUT'),
    headers: texts(headersMax),
    // Whatever the other side takes: a text, or JSON.
    body: () => undefined,
    schedule,
    timezone,
    timeout: duration,
    authentication,
    itemsPath: path,
    pagination,
  },
  required: ['endpoint', 'schedule'],
}

/** `host:port/database`, or the path of a file. */
const databaseAddress: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && value.length <= 500
  if (fits && /^((\[[\da-fA-F:.]+\]|[^\s/:@[\]]+)(:\d{1,5})?)?\/[^\s]+$/.test(value)) return
  problems.add(key, 'must be host:port/database, or the path of a file')
}

const columnName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[A-Za-z_][\w$]{0,127}$/.test(value)) return
  problems.add(key, 'must be the name of a column')
}

export function databaseSource(protocols: readonly string[]): SourceRules {
  return {
    rules: {
      protocol: oneOf(...protocols),
      endpoint: databaseAddress,
      credentials,
      query: statement,
      incrementalColumn: columnName,
      keyColumn: columnName,
      schedule,
    },
    required: ['protocol', 'endpoint', 'query', 'schedule'],
  }
}

const statementLengthMax = 20_000

function statement(value: unknown, key: string, problems: Problems): void {
  const fits =
    typeof value === 'string' && value.trim() !== '' && value.length <= statementLengthMax
  if (!fits) problems.add(key, `must be a statement of at most ${statementLengthMax} characters`)
}

const eventTypes: Rule = (value, key, problems) => {
  if (!isObject(value) || Object.keys(value).length === 0) {
    problems.add(key, 'must be an object of at least one type of event')
    return
  }
  const entries = Object.entries(value)
  if (entries.length > eventTypesMax) problems.add(key, `has more than ${eventTypesMax} entries`)
  const inner = problems.within(key)
  for (const [name, fields] of entries.slice(0, eventTypesMax)) {
    parseFieldMap(fields, inner.pathOf(name), inner.found)
  }
}

/** A webhook is called by others: all the rest are asked at an address. */
export function eventSource(protocols: readonly string[], protocol: unknown): SourceRules {
  return {
    rules: {
      protocol: oneOf(...protocols),
      endpoint: address(
        'kafka',
        'nats',
        'tls',
        'amqp',
        'amqps',
        'redis',
        'rediss',
        'ws',
        'wss',
        'http',
        'https',
      ),
      topic: text,
      group: text,
      credentials,
      eventTypes,
    },
    required: protocol === 'webhook' ? ['protocol'] : ['protocol', 'endpoint'],
  }
}
