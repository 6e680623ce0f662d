import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfKind, sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import {
  type FetchConnector,
  type FetchedSource,
  type FetchRun,
  type SourceDefinition,
} from '../../src/contracts/fetch-connector.ts'
import { Credentials } from '../http-client/credentials.ts'
import {
  destinationOf,
  durationMs,
  type HttpOptions,
  httpOptions,
  tokenDestinationsOf,
} from '../http-client/http-options.ts'
import { shownAddress } from '../http-client/shown-text.ts'
import { Arrivals } from './arrivals.ts'
import { brokenOf, closingOf } from './closing.ts'
import { untilRead } from './silence.ts'
import { webSocketSource } from './source.ts'
import { Subscription } from './subscription.ts'
import { openLink, type WebSocketLink } from './web-socket-link.ts'

/** Time for a connection to end in good order. */
const endMs = 1_000

/** Messages over a WebSocket that we open: RFC 6455. */
export const webSocket: FetchConnector = {
  takes: (source) => isOfKind(webSocketSource, source),
  destinationOf: ({ endpoint }) => destinationOf(new URL(endpoint as string)),
  furtherDestinationsOf: tokenDestinationsOf,
  open: (definition) => new WebSocketSource(definition),
}

class WebSocketSource implements FetchedSource {
  readonly identity: string
  readonly #options: HttpOptions & { readonly subprotocol: string | undefined }
  readonly #credentials: Credentials
  readonly #subscription: Subscription
  readonly #heartbeatMs: number

  constructor({ source }: SourceDefinition) {
    const keys = sourceOf(webSocketSource, source)
    const { subprotocol, subscribe, cursorField, heartbeat } = keys
    this.#options = { ...httpOptions(keys), subprotocol }
    this.#credentials = new Credentials(this.#options.authentication)
    this.#subscription = new Subscription(keys)
    this.#heartbeatMs = durationMs(heartbeat)
    // An address may hold what nobody should see.
    const name = ['websocket', this.#options.endpoint.href, subscribe, cursorField]
    this.identity = createHash('sha256').update(JSON.stringify(name)).digest('base64url')
  }

  async run(run: FetchRun): Promise<void> {
    try {
      const needs = { options: this.#options, credentials: this.#credentials, run }
      await this.#follow(await openLink(needs), run)
    } catch (error) {
      if (!run.signal.aborted) throw error
    }
  }

  async #follow(link: WebSocketLink, run: FetchRun): Promise<void> {
    const { webSocket: peer } = link
    let failure: Error | undefined
    const ended = Promise.withResolvers<void>()
    const fail = (error: Error) => {
      failure ??= error
      peer.terminate()
    }
    const arrivals = new Arrivals({
      run,
      flow: (isOpen) => (isOpen ? peer.resume() : peer.pause()),
      fail,
    })
    peer.on('error', (error) => (failure ??= brokenOf(error)))
    peer.on('close', (code, reason) => {
      failure ??= closingOf(code, reason.toString(), this.#secrets)
      ended.resolve()
    })
    this.#collect(link, arrivals)
    const stopHeartbeat = this.#beat(link, fail)
    const stop = () => void end(link)
    run.signal.addEventListener('abort', stop)
    try {
      run.signal.throwIfAborted()
      for (const text of this.#subscription.sayings(cursorIn(run))) peer.send(text)
      run.onRunning()
      peer.resume()
      await ended.promise
    } finally {
      stopHeartbeat()
      run.signal.removeEventListener('abort', stop)
      peer.terminate()
      // What has come and is not durable yet is nowhere else: it is waited for.
      await arrivals.finish()
    }
    throw failure ?? new Error('the connection was lost')
  }

  /** What comes in one piece over the network is handed over together. */
  #collect({ webSocket: peer }: WebSocketLink, arrivals: Arrivals): void {
    const { endpoint, hidden } = this.#options
    const source = `messages of ${shownAddress(endpoint, hidden)}`
    let isScheduled = false
    peer.on('message', (data: Buffer) => {
      // There are servers that say in this way that they are there.
      if (data.length === 0) return
      const cursor = this.#subscription.cursorOf(data)
      const position = cursor === undefined ? undefined : { cursor }
      arrivals.add({ message: { payload: data, source }, position })
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => {
        isScheduled = false
        arrivals.handOver()
      })
    })
  }

  /**
   * Asks a server that says nothing whether it is there (RFC 6455, section 5.5.2). Whatever it sends is an answer.
   *
   * @returns ends it
   */
  #beat({ webSocket: peer, socket }: WebSocketLink, fail: (error: Error) => void): () => void {
    let heard: number | undefined
    let isOver = false
    const beat = async () => {
      if (heard === socket.bytesRead) await untilRead()
      if (isOver) return
      if (heard === socket.bytesRead) {
        fail(new Error(`the server has not answered a ping within ${this.#heartbeatMs / 1_000} s`))
        return
      }
      // Who is not read cannot be heard.
      heard = peer.isPaused ? undefined : socket.bytesRead
      peer.ping()
    }
    const timer = setInterval(() => void beat(), this.#heartbeatMs)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }

  get #secrets(): readonly string[] {
    const { headers, hidden } = this.#options
    const { secrets } = this.#credentials
    const own = [...this.#subscription.secrets, ...hidden.secrets]
    return [...secrets, ...own, ...Object.values(headers)]
  }
}

function cursorIn({ position }: FetchRun): string | undefined {
  const cursor = position?.['cursor']
  return typeof cursor === 'string' ? cursor : undefined
}

/** Says good-bye, and breaks the connection when nobody answers. */
async function end({ webSocket: peer }: WebSocketLink): Promise<void> {
  peer.close(1000)
  peer.resume()
  await sleep(endMs, undefined, { ref: false })
  peer.terminate()
}
