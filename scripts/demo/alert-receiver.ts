import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifySignature } from 'streamvault/verify-signature'

/** Longer bodies are refused: an alert is far shorter. */
const bodyBytesMax = 1024 * 1024

/** Alerts that are printed; those that come then are counted only. */
const printedMax = 10

interface AlertEvent {
  readonly eventType: string
  readonly timestamp: string
  readonly data: {
    readonly streamName: string
    readonly field: string
    readonly value: number
    readonly threshold: number
    readonly severity: string
  }
}

/** A receiver of webhooks that prints each alert which is signed with the secret. */
export class AlertReceiver implements AsyncDisposable {
  /** Deliveries with a good signature. */
  arrived = 0
  /** Deliveries that were refused: not signed with the secret. */
  refused = 0
  /** What signs deliveries, once the webhook is registered. */
  secret = ''
  readonly #print: (line: string) => void
  readonly #server = createServer((request, response) => {
    void this.#answerTo(request)
      // The connection has broken, or the body is not JSON.
      .catch(() => 400)
      .then((status) => response.writeHead(status).end())
  })

  /** @throws Error when it cannot listen */
  static async start(print: (line: string) => void): Promise<AlertReceiver> {
    const receiver = new AlertReceiver(print)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  private constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** Host and port, as STREAMVAULT_EGRESS_ALLOW lists them. */
  get destination(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** The status of the answer. */
  async #answerTo(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bodyBytesMax) return 413
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    if (!verifySignature({ body, headers: request.headers }, this.secret)) {
      this.refused++
      return 401
    }
    this.#show(JSON.parse(body.toString()) as AlertEvent)
    return 204
  }

  #show({ eventType, timestamp, data }: AlertEvent): void {
    this.arrived++
    if (this.arrived > printedMax) return
    const { streamName, field, value, threshold, severity } = data
    const what = `${streamName}: ${field} ${value} is above ${threshold} (${severity})`
    this.#print(`${timestamp} ${eventType} ${what}; the signature is valid`)
    if (this.arrived === printedMax) this.#print('More alerts are counted, and not printed.')
  }
}
