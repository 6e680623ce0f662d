import type { Dial } from '../../src/contracts/fetch-connector.ts'
import { acceptedCodings } from '../http-client/content-coding.ts'
import type { Credentials } from '../http-client/credentials.ts'
import { type ApiAnswer, Exchanges } from '../http-client/exchange.ts'
import type { PageRoom } from '../http-client/page-room.ts'
import { SourceRequests, tlsAt } from '../http-client/source-requests.ts'
import type { ApiOptions } from './options.ts'

/** What is asked for by the format that the stream reads. */
const accepted: Readonly<Record<string, string>> = {
  json: 'application/json, application/x-ndjson;q=0.9, */*;q=0.5',
  ndjson: 'application/x-ndjson, */*;q=0.5',
  csv: 'text/csv, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5',
}

export interface PageCall {
  readonly url: URL
  readonly body: string | undefined
  /** Headers of a conditional request. */
  readonly conditions: Readonly<Record<string, string>>
}

interface ApiClientNeeds {
  readonly options: ApiOptions
  readonly credentials: Credentials
  readonly dial: Dial
  readonly signal: AbortSignal
  readonly nowUs: () => number
}

/** Asks the API of one source. */
export class ApiClient implements Disposable {
  readonly #needs: ApiClientNeeds
  readonly #exchanges: Exchanges
  readonly #requests: SourceRequests

  constructor(needs: ApiClientNeeds) {
    this.#needs = needs
    this.#exchanges = new Exchanges({
      ...needs,
      timeoutMs: needs.options.timeoutMs,
      tlsOf: tlsAt(needs.options),
    })
    this.#requests = new SourceRequests({ ...needs, exchanges: this.#exchanges })
  }

  [Symbol.dispose](): void {
    this.#exchanges[Symbol.dispose]()
  }

  /** The answer behind all redirects, whatever its status. */
  async send({ url, body, conditions }: PageCall, room: PageRoom): Promise<ApiAnswer> {
    const { options } = this.#needs
    const type = typeof options.body === 'string' ? 'text/plain' : 'application/json'
    const call = {
      url,
      method: options.method,
      usual: {
        accept: accepted[options.format] ?? '*/*',
        ...(body !== undefined && { 'content-type': type }),
      },
      fixed: { ...conditions, 'accept-encoding': acceptedCodings },
    }
    return await this.#requests.send(call, (asked) =>
      this.#exchanges.send({ ...asked, body, room }),
    )
  }

  /** What an answer means that is no page. */
  failureOf(answer: ApiAnswer): Error {
    return this.#requests.failureOf(answer)
  }
}
