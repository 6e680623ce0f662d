import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type { SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import type {
  FetchedPage,
  Poll,
  PollConnector,
  PolledSource,
} from '../../src/contracts/poll-connector.ts'
import { Credentials } from '../http-client/credentials.ts'
import type { ApiAnswer } from '../http-client/exchange.ts'
import { destinationOf, tokenDestinationsOf } from '../http-client/http-options.ts'
import { PageRoom } from '../http-client/page-room.ts'
import { ApiClient } from './api-client.ts'
import { type ApiOptions, apiOptions } from './options.ts'
import { callOf, type Next, PageWalk } from './pagination.ts'
import { readPage } from './read-page.ts'
import { apiSource } from './source.ts'

/** Answers that hold what was asked for; 204 holds that there is nothing. */
const pageStatuses = [200, 201, 203, 204]

/** What an API says of a cursor that it has forgotten. */
const goneStatuses = [400, 404, 410, 422]

/** Longest validator that is kept. */
const validatorLengthMax = 500

/** Readings from an API over HTTP: it is asked, page by page, for what it has. */
export const apiPull: PollConnector = {
  takes: (source) => isOfKind(apiSource, source),
  destinationOf: ({ endpoint }) => destinationOf(new URL(endpoint as string)),
  furtherDestinationsOf: tokenDestinationsOf,
  open: (definition) => new ApiSource(definition),
}

/** How far a list was read, or of what it was when it was read whole. */
interface ApiPosition {
  readonly next?: string | number
  readonly etag?: string
  readonly lastModified?: string
}

class ApiSource implements PolledSource {
  readonly identity: string
  readonly #options: ApiOptions
  readonly #credentials: Credentials

  constructor(definition: SourceDefinition) {
    const options = apiOptions(definition)
    const { endpoint, method, body, itemsPath, pagination } = options
    const asked = JSON.stringify([endpoint, method, body, itemsPath, pagination])
    this.identity = createHash('sha256').update(asked).digest('base64url')
    this.#options = options
    this.#credentials = new Credentials(options.authentication)
  }

  async *poll({ position, dial, signal, nowUs }: Poll): AsyncGenerator<FetchedPage> {
    const options = this.#options
    const credentials = this.#credentials
    using client = new ApiClient({ options, credentials, dial, signal, nowUs })
    const walk = new PageWalk(options, credentials.secretParameter)
    const saved: ApiPosition = position ?? {}
    let kept = saved
    let next: Next = saved.next
    for (let pages = 0; pages < options.pagesMax; pages++) {
      using room = new PageRoom()
      const conditions = next === undefined ? conditionsOf(saved) : {}
      const answer = await client.send({ ...callOf(options, next), conditions }, room)
      if (answer.status === 304 && Object.keys(conditions).length > 0) return
      if (pages === 0 && next !== undefined && goneStatuses.includes(answer.status)) {
        next = undefined
        continue
      }
      if (!pageStatuses.includes(answer.status)) throw client.failureOf(answer)
      const page = await readPage(answer, options)
      const following = walk.after(next, answer, page)
      const reached = this.#positionAt(following, next, answer)
      const isMoved = JSON.stringify(reached) !== JSON.stringify(kept)
      if (page.messages.length > 0 || isMoved) {
        yield { messages: page.messages, position: isMoved ? { ...reached } : undefined }
      }
      kept = reached
      if (following === undefined || page.count === 0) return
      next = following
    }
  }

  /**
   * A list that was read to its end is read anew in the next round. Validators are those of its only page: that the
   * first of several is as it was says nothing of the others. A page whose link leads to others may stay as it was when
   * there are others.
   */
  #positionAt(following: Next, asked: Next, { headers }: ApiAnswer): ApiPosition {
    const { method, pagination } = this.#options
    if (following !== undefined) return { next: following }
    const isWhole = asked === undefined && method === 'GET' && pagination?.type !== 'link'
    return isWhole ? validatorsOf(headers) : {}
  }
}

function validatorsOf({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): ApiPosition {
  return {
    ...(isKept(etag) && { etag }),
    ...(isKept(lastModified) && { lastModified }),
  }
}

function isKept(validator: string | undefined): validator is string {
  return validator !== undefined && validator !== '' && validator.length <= validatorLengthMax
}

/** RFC 9110, section 13.1. */
function conditionsOf({ etag, lastModified }: ApiPosition): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  }
}
