import {
  duration,
  integer,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { formatRules } from '../payload-format.ts'
import { certificates } from './broker.ts'
import { authentication, headers, timeout } from './http-rules.ts'
import { address, type SourceRules, schedule, timezone } from './source-rules.ts'

/** Pages that one pull may follow. */
const pagesMax = 10_000

/** Characters of a body, as JSON. */
const bodyLengthMax = 64 * 1024

/** Lines of CSV before the first reading. */
const headerLinesMax = 10

/** Where in an answer something is: names with dots between them. */
export const path: Rule = (value, key, problems) => {
  const isPath = typeof value === 'string' && value.length <= 500 && pathPattern.test(value)
  if (!isPath) problems.add(key, 'must be names with dots between them, such as data.items')
}

const pathPattern = /^[^\s.[\]]+(\.[^\s.[\]]+)*$/

const pagination = part(
  {
    type: oneOf('page', 'offset', 'cursor', 'link'),
    parameter: text,
    in: oneOf('query', 'body'),
    sizeParameter: text,
    pageSize: integer(1, 100_000),
    cursorPath: path,
    firstPage: integer(0, 1),
    pagesMax: integer(1, pagesMax),
  },
  ['type'],
)

const body: Rule = (value, key, problems) => {
  if ((JSON.stringify(value) ?? '').length <= bodyLengthMax) return
  problems.add(key, `must have at most ${bodyLengthMax} characters`)
}

export const apiSource: SourceRules = {
  rules: {
    endpoint: address('https', 'http'),
    method: oneOf('GET', 'POST', 'PUT'),
    headers,
    // What the other side takes: a text, or JSON.
    body,
    schedule,
    timezone,
    jitter: duration,
    timeout,
    tls: part({ ca: certificates, servername: text }),
    authentication,
    itemsPath: path,
    pagination,
    headerLines: integer(0, headerLinesMax),
    ...formatRules,
  },
  required: ['endpoint', 'schedule'],
  secretPlaces: ['endpoint', 'headers', 'body'],
  checkAll: checkApiSource,
}

/** Checks the keys that only make sense together. */
function checkApiSource(source: Json, problems: Problems): void {
  const {
    endpoint,
    tls,
    method = 'GET',
    body: sent,
    format,
    pagination: pages,
    headerLines,
  } = source
  const isGet = method === 'GET'
  if (isGet && sent !== undefined) problems.add('body', 'needs method POST or PUT')
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
  if (tls !== undefined && typeof endpoint === 'string' && !/^https:/i.test(endpoint)) {
    problems.add('tls', 'needs an endpoint of https')
  }
  if (headerLines !== undefined && format !== 'csv') {
    problems.add('headerLines', 'needs the format csv')
  }
  const hasPaths = format === undefined || format === 'json' || format === 'csv'
  if (source['itemsPath'] !== undefined && !hasPaths) {
    problems.add('itemsPath', 'needs the format json, or csv for XML')
  }
  if (isObject(pages) && pages['cursorPath'] !== undefined && !hasPaths) {
    problems.within('pagination').add('cursorPath', 'needs the format json, or csv for XML')
  }
  if (isObject(pages)) checkPagination(pages, { isGet, sent }, problems.within('pagination'))
}

function checkPagination(
  pages: Json,
  { isGet, sent }: { readonly isGet: boolean; readonly sent: unknown },
  problems: Problems,
): void {
  const { type, cursorPath, sizeParameter, pageSize } = pages
  const isCursor = type === 'cursor'
  if (isCursor) {
    for (const key of ['cursorPath', 'parameter']) {
      if (pages[key] === undefined) problems.add(key, 'is required with cursor')
    }
  } else if (cursorPath !== undefined) problems.add('cursorPath', 'needs the type cursor')
  if (type === 'link') {
    if (!isGet) problems.add('type', 'link needs method GET')
    if (pages['parameter'] !== undefined) problems.add('parameter', 'is of no use with link')
  }
  if (type !== 'page' && pages['firstPage'] !== undefined) {
    problems.add('firstPage', 'needs the type page')
  }
  if (sizeParameter !== undefined && pageSize === undefined) {
    problems.add('pageSize', 'is required with sizeParameter')
  }
  if (pages['in'] !== 'body') return
  if (isGet || !(sent === undefined || isObject(sent))) {
    problems.add('in', 'body needs method POST or PUT, and a body that is an object')
  }
}
