import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { isOfKind, sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import {
  type FetchConnector,
  type FetchedSource,
  type FetchRun,
  RetryLater,
  type SourceDefinition,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { Credentials } from '../http-client/credentials.ts'
import { Exchanges, type OpenedAnswer } from '../http-client/exchange.ts'
import {
  destinationOf,
  durationMs,
  type HttpOptions,
  httpOptions,
  tokenDestinationsOf,
} from '../http-client/http-options.ts'
import { shownAddress } from '../http-client/shown-text.ts'
import { SourceRequests, tlsAt } from '../http-client/source-requests.ts'
import { Arrivals } from './arrivals.ts'
import { EventText } from './event-text.ts'
import { Silence } from './silence.ts'
import { sseSource } from './source.ts'

/** A connection that nothing comes over is tried by the system: a machine that is gone is found out. */
const keepAliveMs = 30_000

/** Longest time that a server can have us wait. */
const retryMsMax = 3_600_000

/** Events that a server sends as one answer that does not end: WHATWG HTML, section 9.2. */
export const sse: FetchConnector = {
  takes: (source) => isOfKind(sseSource, source),
  destinationOf: ({ endpoint }) => destinationOf(new URL(endpoint as string)),
  furtherDestinationsOf: tokenDestinationsOf,
  open: (definition) => new SseSource(definition),
}

class SseSource implements FetchedSource {
  readonly identity: string
  readonly #options: HttpOptions
  readonly #credentials: Credentials
  readonly #timeoutMs: number
  /** How long to wait after a stream has ended; undefined where no server has said so. */
  #retryMs: number | undefined

  constructor({ source }: SourceDefinition) {
    const keys = sourceOf(sseSource, source)
    this.#options = httpOptions(keys)
    this.#credentials = new Credentials(this.#options.authentication)
    this.#timeoutMs = durationMs(keys.timeout)
    // An address may hold what nobody should see.
    const { href } = this.#options.endpoint
    this.identity = createHash('sha256').update(`sse ${href}`).digest('base64url')
  }

  async run(run: FetchRun): Promise<void> {
    const timeoutMs = this.#timeoutMs
    const options = this.#options
    using exchanges = new Exchanges({ ...run, timeoutMs, tlsOf: tlsAt(options) })
    try {
      const credentials = this.#credentials
      const requests = new SourceRequests({ ...run, options, credentials, exchanges })
      const { incoming, url } = await this.#open(run, { exchanges, requests })
      await this.#follow(incoming, url, run)
    } catch (error) {
      if (!run.signal.aborted) throw error
    }
  }

  async #open(
    { position }: FetchRun,
    needs: { readonly exchanges: Exchanges; readonly requests: SourceRequests },
  ): Promise<{ readonly incoming: IncomingMessage; readonly url: URL }> {
    const { exchanges, requests } = needs
    const kept = position?.['lastEventId']
    const lastEventId = typeof kept === 'string' ? kept : ''
    const call = {
      url: this.#options.endpoint,
      method: 'GET',
      usual: { accept: 'text/event-stream', 'cache-control': 'no-store' },
      fixed: {
        'accept-encoding': 'identity',
        // The id is sent as UTF-8, and the library writes a header byte by byte.
        ...(lastEventId !== '' && {
          'last-event-id': Buffer.from(lastEventId).toString('latin1'),
        }),
      },
    }
    const answer = await requests.send(call, (dressed) =>
      exchanges.open({ ...dressed, body: undefined }),
    )
    const { incoming, url } = answer
    if (incoming === undefined) throw refusalOf(answer) ?? requests.failureOf(answer)
    assertEventStream(answer)
    return { incoming, url }
  }

  async #follow(incoming: IncomingMessage, url: URL, run: FetchRun): Promise<void> {
    const text = await EventText.begin({
      source: `events of ${shownAddress(url, this.#options.hidden)}`,
      onRetry: (ms) => {
        this.#retryMs = Math.min(ms, retryMsMax)
      },
    })
    const arrivals = new Arrivals({
      run,
      flow: (isOpen) => void (isOpen ? incoming.resume() : incoming.pause()),
      fail: (error) => incoming.destroy(error),
    })
    incoming.socket.setKeepAlive(true, keepAliveMs)
    const silence = new Silence(this.#timeoutMs, () => {
      // Who is not read cannot be heard.
      if (incoming.isPaused()) silence.heard()
      else incoming.destroy(new Error(`nothing was sent for ${this.#timeoutMs / 1_000} s`))
    })
    incoming.on('data', (bytes: Buffer) => {
      silence.heard()
      try {
        for (const arrival of text.read(bytes)) arrivals.add(arrival)
        arrivals.handOver()
      } catch (error) {
        incoming.destroy(error as Error)
      }
    })
    run.onRunning()
    try {
      await finished(incoming)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!lostCodes.includes(code)) throw error
      throw this.#laterOf('the connection was lost')
    } finally {
      silence.end()
      await arrivals.finish()
    }
    throw this.#laterOf('the server has ended the stream')
  }

  /** A server that has said how long to wait before it is asked again is left alone for so long. */
  #laterOf(reason: string): Error {
    return this.#retryMs === undefined ? new Error(reason) : new RetryLater(reason, this.#retryMs)
  }
}

const lostCodes = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']

/** Section 9.2.3: 204 has clients stay away. */
function refusalOf({ status }: OpenedAnswer): Error | undefined {
  if (status < 200 || status >= 300) return undefined
  const reason = status === 204 ? ': the server has nothing for us, and wants us to stay away' : ''
  return new SourceRefused(`the answer was ${status}${reason}`)
}

/** @throws SourceRefused for what is no stream of events, as it was asked for */
function assertEventStream({ headers }: OpenedAnswer): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'text/event-stream') {
    throw new SourceRefused(
      `the answer is not a stream of events (text/event-stream): ${type.slice(0, 100)}`,
    )
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity' || coding === '') return
  throw new SourceRefused(`the stream is compressed (${coding.slice(0, 50)}), against our wish`)
}
