import { createParser } from 'eventsource-parser'
import { noteCutOff, noteReached } from './connection.ts'
import { type Failure, failureOf, isAborted, isCutOff, isSignedOut } from './failure.ts'
import { serviceNowMs } from './service-clock.ts'
import { signedInAgain } from './session.ts'

/** One event, as it came. */
export interface StreamedEvent {
  /** `message` for one without a name. */
  readonly name: string
  readonly data: string
}

/** How a stream stands: a page says so, and a chart draws the gap. */
export type StreamState =
  | { readonly is: 'opening' }
  | { readonly is: 'open' }
  | { readonly is: 'hidden' }
  | { readonly is: 'waiting'; readonly failure: Failure | undefined; readonly nextTryMs: number }
  | { readonly is: 'failed'; readonly failure: Failure }

export interface StreamOptions {
  /**
   * Opens the stream after what was read last; at first, and when the place of that is not kept any more, this is
   * undefined.
   */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>
  readonly onEvents: (events: readonly StreamedEvent[]) => void
  readonly onState: (state: StreamState) => void
}

/** Nothing for so long, not even a sign of life (one comes each 15 s): the connection is gone. */
const silenceMs = 45_000
const waitsMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const

/**
 * Follows Server-Sent Events while the page is seen, and goes on by position when it is seen again, or
 * the service is back: nothing is missing then, and nothing comes twice. `EventSource` can send no header.
 */
export class FollowedStream {
  readonly #options: StreamOptions
  #abort = new AbortController()
  #lastId: string | undefined
  #tries = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(options: StreamOptions) {
    this.#options = options
    document.addEventListener('visibilitychange', this.#onVisibility)
    if (document.hidden) options.onState({ is: 'hidden' })
    else void this.#follow()
  }

  /** Ends it for good. */
  close(): void {
    this.#isClosed = true
    document.removeEventListener('visibilitychange', this.#onVisibility)
    this.#stop()
  }

  /** Tries now, and does not wait any longer. */
  retry(): void {
    this.#stop()
    void this.#follow()
  }

  readonly #onVisibility = (): void => {
    this.#stop()
    if (document.hidden) this.#options.onState({ is: 'hidden' })
    else void this.#follow()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#abort.abort()
  }

  async #follow(): Promise<void> {
    const abort = new AbortController()
    this.#abort = abort
    this.#options.onState({ is: 'opening' })
    try {
      const answer = await this.#options.open(this.#lastId, abort.signal)
      noteReached()
      this.#options.onState({ is: 'open' })
      await this.#read(answer, abort)
      this.#wait(undefined, abort)
    } catch (error) {
      if (!abort.signal.aborted || !isAborted(error)) await this.#failed(error, abort)
    }
  }

  async #read({ body }: Response, abort: AbortController): Promise<void> {
    if (body === null) return
    let events: StreamedEvent[] = []
    let end: string | undefined
    const parser = createParser({
      onEvent: ({ event = 'message', data, id }) => {
        if (id !== undefined) this.#lastId = id
        if (event === 'end') end = data
        else events.push({ name: event, data })
      },
    })
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { value, done } = await this.#nextOf(reader)
      if (done || abort.signal.aborted) break
      parser.feed(value)
      this.#notePosition(value)
      if (events.length > 0) this.#options.onEvents(events)
      events = []
      this.#tries = 0
    }
    if (end !== undefined && isOver(end)) await signedInAgain()
  }

  /** A position without data is no event for the parser; here it spares what was read while nothing came. */
  #notePosition(text: string): void {
    const alone = /(?:^|\n)id: (\S+)\n\n$/.exec(text)?.[1]
    if (alone !== undefined) this.#lastId = alone
  }

  /** The next part of what comes. A timer that were left behind would hold the page that has gone. */
  async #nextOf(reader: ReadableStreamDefaultReader<string>) {
    const watchdog = setTimeout(() => void reader.cancel().catch(() => undefined), silenceMs)
    try {
      return await reader.read()
    } finally {
      clearTimeout(watchdog)
    }
  }

  async #failed(error: unknown, abort: AbortController): Promise<void> {
    const failure = failureOf(error)
    if (isSignedOut(error)) {
      await signedInAgain()
      if (!abort.signal.aborted) void this.#follow()
    } else if (failure.code === 'position_expired' && this.#lastId !== undefined) {
      this.#lastId = undefined
      void this.#follow()
    } else if (
      isCutOff(error) ||
      failure.status >= 500 ||
      failure.status === 429 ||
      failure.status === 0
    ) {
      this.#wait(failure, abort)
    } else {
      this.#options.onState({ is: 'failed', failure })
    }
  }

  #wait(failure: Failure | undefined, abort: AbortController): void {
    if (this.#isClosed || abort.signal.aborted) return
    const usualMs = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    const waitMs = failure?.retryAfterS === undefined ? usualMs : failure.retryAfterS * 1000
    this.#tries += 1
    const nextTryMs = serviceNowMs() + waitMs
    if (failure === undefined || failure.code === 'unreachable') noteCutOff(nextTryMs)
    this.#options.onState({ is: 'waiting', failure, nextTryMs })
    this.#timer = setTimeout(() => void this.#follow(), waitMs)
  }
}

/** Whether a stream has ended because its credentials have. */
function isOver(data: string): boolean {
  try {
    const { error } = JSON.parse(data) as { readonly error?: string }
    return error === 'token_expired' || error === 'invalid_api_key' || error === 'session_expired'
  } catch {
    return false
  }
}
