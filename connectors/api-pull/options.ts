import type { SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import {
  durationMs,
  type HttpKeys,
  type HttpOptions,
  httpOptions,
} from '../http-client/http-options.ts'

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

const standardTimeout = '30s'

/** Longest time for one request. */
const timeoutMsMax = 3_600_000

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface ApiSourceKeys extends HttpKeys {
  readonly method?: ApiMethod
  readonly body?: unknown
  readonly timeout?: string
  readonly itemsPath?: string
  readonly pagination?: {
    readonly type: ApiPagination['type']
    readonly parameter?: string
    readonly in?: 'query' | 'body'
    readonly sizeParameter?: string
    readonly pageSize?: number
    readonly cursorPath?: string
    readonly firstPage?: number
    readonly pagesMax?: number
  }
  readonly format?: string
  readonly columns?: readonly (string | null)[]
  readonly delimiter?: string
  readonly headerLines?: number
}

/** Whether a source is an address that is asked on a schedule. */
export function takesSource({ endpoint, schedule }: Readonly<Record<string, unknown>>): boolean {
  return typeof endpoint === 'string' && /^https?:/i.test(endpoint) && typeof schedule === 'string'
}

export function apiOptions({ source }: SourceDefinition): ApiOptions {
  const keys = source as unknown as ApiSourceKeys
  return {
    ...httpOptions(keys),
    method: keys.method ?? 'GET',
    body: keys.body,
    timeoutMs: Math.min(timeoutMsMax, durationMs(keys.timeout ?? standardTimeout)),
    itemsPath: keys.itemsPath?.split('.'),
    pagination: keys.pagination && paginationOf(keys.pagination),
    pagesMax: keys.pagination?.pagesMax ?? standardPagesMax,
    format: keys.format ?? 'json',
    columns: keys.columns ?? [],
    delimiter: keys.delimiter ?? ',',
    headerLines: keys.headerLines ?? 1,
  }
}

function paginationOf(given: NonNullable<ApiSourceKeys['pagination']>): ApiPagination {
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
