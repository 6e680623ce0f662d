import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { integer, newField, oneOf, part, text } from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { address, hasScheme } from '../fields/addresses.ts'
import { memberPath, requestFields, timeout } from '../fields/http-requests.ts'

/** Pages that one pull may follow. */
const pagesMax = 10_000

/** Characters of a body, as JSON. */
const bodyLengthMax = 64 * 1024

/** Lines of CSV before the first reading. */
const headerLinesMax = 10

/** A text, or JSON: whatever the other side takes. */
const body = newField<unknown>((value, key, problems) => {
  if ((JSON.stringify(value) ?? '').length <= bodyLengthMax) return
  problems.add(key, `must have at most ${bodyLengthMax} characters`)
})

const pagination = part({
  type: {
    ...oneOf('page', 'offset', 'cursor', 'link'),
    isRequired: true,
    doc: 'how the next page is asked for',
  },
  parameter: { ...text, doc: 'of the next page; what its `type` is called, without it' },
  in: { ...oneOf('query', 'body'), default: 'query', doc: 'where the parameter stands' },
  sizeParameter: { ...text, doc: 'of the size of a page' },
  pageSize: { ...integer(1, 100_000), unit: 'items', doc: 'of one page' },
  cursorPath: { ...memberPath, doc: 'of `cursor`: where the answer has the next one' },
  firstPage: { ...integer(0, 1), default: 1, doc: 'of `page`: the number of the first one' },
  pagesMax: { ...integer(1, pagesMax), default: 1_000, doc: 'pages of one round' },
})

/** APIs that are asked over HTTP by a schedule. */
export const apiSource = sourceKind({
  name: 'ApiSource',
  family: 'api',
  protocols: [],
  isUsual: true,
  isScheduled: true,
  secretPlaces: ['endpoint', 'headers', 'body'],
  takes: ({ endpoint, schedule }) =>
    (hasScheme(endpoint, 'https') || hasScheme(endpoint, 'http')) && typeof schedule === 'string',
  fields: {
    endpoint: {
      ...address('https', 'http'),
      isRequired: true,
      doc: '`http://` or `https://`, with a query where it needs one; no credentials in it',
    },
    method: { ...oneOf('GET', 'POST', 'PUT'), default: 'GET', doc: 'of the request' },
    ...requestFields,
    body: {
      ...body,
      doc: 'with POST and PUT: a text, which is sent as it is, or anything else, which is sent as JSON; at most 64 KiB',
    },
    timeout: {
      ...timeout,
      default: '30s',
      doc: 'for all of one request, from the look-up of the name to the last byte of the answer; an hour at most',
    },
    itemsPath: {
      ...memberPath,
      doc: 'of XML with `format: csv`: where in the answer the records are, as names with dots between them. Of JSON as well, where it is cut out of the answer: `items` says more',
    },
    pagination: { ...pagination, doc: '[below](#pages); without it there is one page' },
    headerLines: {
      ...integer(0, headerLinesMax),
      default: 1,
      doc: 'of CSV: lines before the first reading, which are left out',
    },
  },
  checkAll: checkApiSource,
})

export type ApiSource = SourceOf<typeof apiSource>

/** Says what is wrong with keys beside each other. */
function checkApiSource(source: Json, problems: Problems): void {
  const { endpoint, tls, method = 'GET', format } = source
  const { body: sent, pagination: pages, headerLines } = source
  const isGet = method === 'GET'
  if (isGet && sent !== undefined) problems.add('body', 'needs method POST or PUT')
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
  if (tls !== undefined && typeof endpoint === 'string' && !hasScheme(endpoint, 'https')) {
    problems.add('tls', 'needs an endpoint of https')
  }
  if (headerLines !== undefined && format !== 'csv') {
    problems.add('headerLines', 'needs the format csv')
  }
  if (source['items'] !== undefined && source['itemsPath'] !== undefined) {
    problems.add('itemsPath', 'must be left out beside items')
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
