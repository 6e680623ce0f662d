import { cutText } from '../../../core/cut-text.ts'
import { durationUs } from '../../../core/duration.ts'
import { check, duration, oneOf, part, type Rule, text, texts } from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { address } from './source-rules.ts'

/** Header fields of one request. */
const headersMax = 50

/** Longest time for one request. */
const timeoutSecondsMax = 3_600

/**
 * Headers that the connection, the length and what is understood depend on: they are set as they
 * have to be.
 */
const ownHeaders = [
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** RFC 9110, section 5.6.2. */
const tokenPattern = /^[\w!#$%&'*+\-.^`|~]{1,200}$/

/**
 * Characters that a header can be made of (RFC 9110, section 5.5): none that would begin another
 * line.
 */
const headerValuePattern = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** Headers that the source adds to those of the service. */
export const headers: Rule = (value, key, problems) => {
  const before = problems.found.length
  texts(headersMax)(value, key, problems)
  if (problems.found.length > before) return
  const inner = problems.within(key)
  const seen = new Set<string>()
  for (const [name, item] of Object.entries(value as Readonly<Record<string, string>>)) {
    const problem = headerProblem(name) ?? headerValueProblem(item)
    const isSecond = seen.has(name.toLowerCase())
    if (problem !== undefined) inner.add(cutText(name, 100), problem)
    else if (isSecond) inner.add(name, 'comes twice')
    seen.add(name.toLowerCase())
  }
}

function headerProblem(name: string): string | undefined {
  if (!tokenPattern.test(name)) return 'is no name of a header'
  const lower = name.toLowerCase()
  const isOurs = ownHeaders.includes(lower) || /^(proxy|sec-websocket)-/.test(lower)
  return isOurs ? 'is set by the service' : undefined
}

export function headerValueProblem(value: string): string | undefined {
  return headerValuePattern.test(value) ? undefined : 'must be on one line, in Latin-1'
}

const authenticationKeys: Readonly<Record<string, readonly string[]>> = {
  none: [],
  basic: ['username', 'password'],
  bearer: ['token'],
  apiKey: ['name', 'value'],
  oauth2: ['tokenUrl', 'clientId', 'clientSecret'],
}

/** Who is asking. */
export const authentication: Rule = (value, key, problems) => {
  const type = isObject(value) ? value['type'] : undefined
  const kind = oneOf(...Object.keys(authenticationKeys))
  const needed = typeof type === 'string' ? authenticationKeys[type] : undefined
  if (!isObject(value) || needed === undefined) {
    part({ type: kind }, ['type'])(isObject(value) ? { type } : value, key, problems)
    return
  }
  const rules: Record<string, Rule> = { type: kind }
  for (const name of needed) rules[name] = name === 'tokenUrl' ? address('https', 'http') : text
  if (type === 'bearer') rules['token'] = headerText
  if (type === 'apiKey') {
    rules['in'] = oneOf('header', 'query')
    if (value['in'] !== 'query') Object.assign(rules, { name: headerName, value: headerText })
  }
  if (type === 'oauth2') {
    rules['scope'] = text
    rules['secretIn'] = oneOf('header', 'body')
  }
  check(value, { rules, required: needed }, problems.within(key))
}

const headerName: Rule = (value, key, problems) => {
  const problem = typeof value === 'string' ? headerProblem(value) : 'is no name of a header'
  if (problem !== undefined) problems.add(key, problem)
}

const headerText: Rule = (value, key, problems) => {
  text(value, key, problems)
  const problem = typeof value === 'string' ? headerValueProblem(value) : undefined
  if (problem !== undefined) problems.add(key, problem)
}

/** How long one request may take. */
export const timeout: Rule = (value, key, problems) => {
  duration(value, key, problems)
  const isLong = (durationUs(value) ?? 0) > timeoutSecondsMax * 1_000_000
  if (isLong) problems.add(key, 'must be an hour at most')
}
