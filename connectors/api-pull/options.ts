import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { durationMs, type HttpOptions, httpOptions } from '../http-client/http-options.ts'
import { type ApiItems, apiItems } from './items.ts'
import { type ApiSource, apiSource } from './source.ts'

export type ApiMethod = 'GET' | 'POST' | 'PUT'

export interface ApiPagination {
  readonly type: 'page' | 'offset' | 'cursor' | 'link'
  readonly parameter: string
  readonly isInBody: boolean
  readonly sizeParameter: string | undefined
  readonly pageSize: number | undefined
  readonly cursorPath: readonly string[] | undefined
  readonly firstPage: number
}

export interface ApiOptions extends HttpOptions {
  readonly method: ApiMethod
  /** A text, or anything that can be JSON; undefined for none. */
  readonly body: unknown
  readonly timeoutMs: number
  readonly itemsPath: readonly string[] | undefined
  /** The first step from an answer to its readings, where the stream takes the others by itself. */
  readonly items: ApiItems | undefined
  readonly pagination: ApiPagination | undefined
  readonly pagesMax: number
  readonly format: string
  readonly columns: readonly (string | null)[]
  readonly delimiter: string
  /** Lines of CSV before the first reading. */
  readonly headerLines: number
}

/** Requests of one round where the source says nothing. */
const standardPagesMax = 1_000

/** Longest time for one request. */
const timeoutMsMax = 3_600_000

export function apiOptions({ source: given }: SourceDefinition): ApiOptions {
  const source = sourceOf(apiSource, given)
  const { method, body, timeout, itemsPath, pagination, headerLines } = source
  return {
    ...httpOptions(source),
    method,
    body,
    timeoutMs: Math.min(timeoutMsMax, durationMs(timeout)),
    itemsPath: itemsPath?.split('.'),
    items: source.items === undefined ? undefined : apiItems(source.items),
    pagination: pagination && paginationOf(pagination),
    pagesMax: pagination?.pagesMax ?? standardPagesMax,
    format: source.format ?? 'json',
    columns: source.columns ?? [],
    delimiter: source.delimiter ?? ',',
    headerLines,
  }
}

function paginationOf(given: NonNullable<ApiSource['pagination']>): ApiPagination {
  const { type, parameter, sizeParameter, pageSize, cursorPath, firstPage } = given
  return {
    type,
    parameter: parameter ?? type,
    isInBody: given.in === 'body',
    sizeParameter,
    pageSize,
    cursorPath: cursorPath?.split('.'),
    firstPage: firstPage ?? 1,
  }
}
