import type { Socket } from 'node:net'
import { type HttpResponse, HttpResponseReader } from './http-responses.ts'
import { type LoadConnection, openSocket } from './load-driver.ts'
import type { Measurement } from './load-measurement.ts'
import { READING_TEMPLATE, type ReadingSeries } from './reading-series.ts'

/** An encoded request to overwrite in place: where each of its readings begins. */
type RequestTemplate = { bytes: Buffer; readingsAt: number[] }

/** `batch` 1 posts a single object, more an array of that many. */
export function encodeRequest(
  target: { host: string; port: number; token: string },
  streamId: string,
  batch: number,
): RequestTemplate {
  const readings = Array.from({ length: batch }, () => READING_TEMPLATE).join(',')
  const body = batch === 1 ? readings : `[${readings}]`
  const head = [
    `POST /streams/${encodeURIComponent(streamId)}/data HTTP/1.1`,
    `Host: ${target.host}:${target.port}`,
    `Authorization: Bearer ${target.token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n')
  const bytes = Buffer.from(`${head}\r\n\r\n${body}`)
  const firstAt = bytes.length - body.length + (batch === 1 ? 0 : 1)
  const stride = READING_TEMPLATE.length + 1
  return { bytes, readingsAt: Array.from({ length: batch }, (_, i) => firstAt + i * stride) }
}

type HttpConnectionOptions = {
  address: { host: string; port: number }
  request: RequestTemplate
  readings: ReadingSeries
  /** Requests kept outstanding. */
  pipelining: number
  /** Receives the status of every answer to a measured request. */
  onStatus(status: number): void
}

/** One keep-alive connection in a closed loop. Times are `performance.now()` milliseconds. */
export class HttpConnection implements LoadConnection {
  readonly #options: HttpConnectionOptions
  readonly #measurement: Measurement
  readonly #batch: number
  readonly #connected = Promise.withResolvers<void>()
  /** When each unanswered request was sent; HTTP answers in the order of the requests. */
  readonly #sentAt: number[] = []
  #socket: Socket | undefined
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #readAtMs = 0

  constructor(options: HttpConnectionOptions, measurement: Measurement) {
    this.#options = options
    this.#measurement = measurement
    this.#batch = options.request.readingsAt.length
  }

  connect(): Promise<void> {
    const reader = new HttpResponseReader((response) => this.#onResponse(response))
    this.#socket = openSocket(this.#options.address, {
      onOpen: () => {
        this.#state = 'open'
        this.#connected.resolve()
      },
      onBytes: (bytes) => this.#onBytes(reader, bytes),
      onClose: (reason) => this.#fail(reason),
    })
    return this.#connected.promise
  }

  isOpen(): boolean {
    return this.#state === 'open'
  }

  isIdle(): boolean {
    return !this.isOpen() || this.#sentAt.length === 0
  }

  pump(nowMs: number): void {
    const { beginMs, endMs } = this.#measurement
    if (!this.isOpen() || nowMs < beginMs || nowMs >= endMs) return
    const count = this.#options.pipelining - this.#sentAt.length
    if (count > 0) this.#post(count, nowMs)
  }

  countUnanswered(nowMs: number): void {
    for (const sentMs of this.#sentAt) this.#measurement.recordUnanswered(sentMs, nowMs)
  }

  close(): void {
    this.#state = 'closed'
    this.#socket?.destroy()
  }

  #post(count: number, nowMs: number): void {
    const { bytes: template, readingsAt } = this.#options.request
    // A fresh buffer, because the kernel may take a part now and the rest later.
    const bytes = Buffer.allocUnsafe(count * template.length).fill(template)
    const readingUs = this.#measurement.readingUs(nowMs)
    for (let at = 0; at < bytes.length; at += template.length) {
      for (const readingAt of readingsAt) {
        this.#options.readings.write(bytes, at + readingAt, readingUs)
      }
      this.#sentAt.push(nowMs)
      this.#measurement.recordSent(nowMs, this.#batch)
    }
    this.#socket?.write(bytes)
  }

  #onBytes(reader: HttpResponseReader, bytes: Buffer): void {
    this.#readAtMs = performance.now()
    try {
      reader.push(bytes)
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
      this.#socket?.destroy()
      return
    }
    this.pump(this.#readAtMs)
  }

  #onResponse({ status, snippet }: HttpResponse): void {
    const sentMs = this.#sentAt.shift()
    if (sentMs === undefined) throw new Error(`response ${status} without a request`)
    if (this.#measurement.isMeasured(sentMs)) this.#options.onStatus(status)
    if (status < 300) this.#measurement.recordAcknowledged(sentMs, this.#readAtMs, this.#batch)
    else this.#measurement.recordError(`status ${status}: ${snippet}`)
  }

  #fail(reason: string): void {
    if (this.#state === 'connecting') this.#connected.reject(new Error(reason))
    else if (this.#state === 'open') this.#measurement.recordError(reason)
    this.#state = 'closed'
  }
}
