import { createHash } from 'node:crypto'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { ApiAnswer } from '../http-client/exchange.ts'
import { targetOf } from '../http-client/source-requests.ts'
import { nextLink } from './link-header.ts'
import type { ApiOptions, ApiPagination } from './options.ts'
import type { ReadPage } from './read-page.ts'

/** What leads to a page: its number, an offset, a cursor, or an address. Undefined for the first one. */
export type Next = string | number | undefined

/** Longest cursor or address that is remembered. */
const nextLengthMax = 8 * 1024

/** The request of a page. */
export function callOf(
  { endpoint, body, pagination, hidden }: ApiOptions,
  next: Next,
): { readonly url: URL; readonly body: string | undefined } {
  if (pagination?.type === 'link' && next !== undefined) {
    return { url: new URL(hidden.whole(String(next))), body: undefined }
  }
  const parameters = pagination === undefined ? {} : parametersOf(pagination, next)
  if (pagination?.isInBody) {
    return { url: endpoint, body: JSON.stringify({ ...(body as object), ...parameters }) }
  }
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value))
  if (body === undefined || typeof body === 'string') return { url, body }
  return { url, body: JSON.stringify(body) }
}

function parametersOf(
  { type, parameter, sizeParameter, pageSize, firstPage }: ApiPagination,
  next: Next,
): Readonly<Record<string, string | number>> {
  const first = { page: firstPage, offset: 0, cursor: undefined, link: undefined }[type]
  const value = next ?? first
  return {
    ...(value !== undefined && { [parameter]: value }),
    ...(sizeParameter !== undefined && pageSize !== undefined && { [sizeParameter]: pageSize }),
  }
}

/** The way of one round from page to page: it does not go in circles. */
export class PageWalk {
  readonly #options: ApiOptions
  /** A parameter of links that is a secret: links are remembered without it. */
  readonly #secretParameter: string | undefined
  /** Digests of what led to the pages of this round. */
  readonly #seen = new Set<string>()
  #bodyBefore: string | undefined

  constructor(options: ApiOptions, secretParameter: string | undefined) {
    this.#options = options
    this.#secretParameter = secretParameter
  }

  /**
   * What leads on from a page; undefined at the end of the list.
   *
   * @throws Error when it was seen in this round before
   */
  after(asked: Next, answer: ApiAnswer, page: ReadPage): Next {
    const { pagination } = this.#options
    if (pagination === undefined) return undefined
    const { type } = pagination
    switch (type) {
      case 'page':
        this.#assertNew(answer, page)
        if (isLast(page, pagination)) return undefined
        return Number(asked ?? pagination.firstPage) + 1
      case 'offset':
        this.#assertNew(answer, page)
        if (isLast(page, pagination)) return undefined
        return Number(asked ?? 0) + (page.count ?? 1)
      case 'cursor':
        return this.#unlessSeen(asked, page.cursor, page)
      case 'link':
        return this.#unlessSeen(asked, this.#linkOf(answer), page)
      default:
        return type satisfies never
    }
  }

  #linkOf({ headers, url }: ApiAnswer): string | undefined {
    const link = nextLink(headers['link'])
    if (link === undefined) return undefined
    const { endpoint, hidden } = this.#options
    const target = targetOf(link, url, hidden)
    if (this.#secretParameter !== undefined) target.searchParams.delete(this.#secretParameter)
    const kept = hidden.kept(target)
    const isOwn = target.origin === endpoint.origin
    if (!isOwn && (kept !== target.href || hidden.whole(kept) !== kept)) {
      throw new SourceRefused('the link to the next page takes a secret to another server')
    }
    return kept
  }

  /** A page without items may lead to itself: there is nothing more for now. */
  #unlessSeen(asked: Next, next: string | undefined, page: ReadPage): Next {
    const { hidden, pagination } = this.#options
    const what = pagination?.type
    if (next === undefined) return undefined
    if (next.length > nextLengthMax) {
      throw new SourceRefused(`a ${what} is longer than ${nextLengthMax} characters`)
    }
    this.#seen.add(digestOf(String(asked ?? hidden.kept(callOf(this.#options, undefined).url))))
    if (page.count !== 0 && this.#seen.has(digestOf(next))) {
      throw new Error(`the ${what} to the next page leads back to a page of this round`)
    }
    return next
  }

  /** An API that does not know the parameter has the same page for ever. */
  #assertNew({ body }: ApiAnswer, { count }: ReadPage): void {
    const digest = digestOf(body)
    if (count !== 0 && digest === this.#bodyBefore) {
      const { parameter } = this.#options.pagination ?? {}
      throw new Error(`two pages are the same: the API may not know the parameter ${parameter}`)
    }
    this.#bodyBefore = digest
  }
}

function isLast({ count }: ReadPage, { pageSize }: ApiPagination): boolean {
  return count === 0 || (count !== undefined && pageSize !== undefined && count < pageSize)
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64')
}
