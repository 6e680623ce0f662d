import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, messageOf } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import type { SourceStatus } from '../data-streams/stream-sources.ts'
import {
  type Dial,
  type FetchedMessage,
  type FetchedSource,
  SourceRefused,
} from '../pipeline/fetch-connector.ts'
import { backOffMs } from './back-off.ts'
import { OrderedIntake, type OrderedIntakeNeeds } from './ordered-intake.ts'

/** A source that ran for so long has not failed in a row. */
const stableUs = 10_000_000

/** After so long a failure is one that somebody should look at. */
const lastingUs = 60_000_000

export interface SourceRunnerNeeds extends OrderedIntakeNeeds {
  readonly dial: Dial
  readonly nowUs: () => number
  /** Told once in a row of failures, without secrets. */
  readonly onFailing: (id: StreamId, reason: string) => void
}

/** Runs one source again and again, until it is stopped. */
export class SourceRunner {
  readonly #needs: SourceRunnerNeeds
  readonly #streamId: StreamId
  readonly #source: FetchedSource
  /** What no message may show. */
  readonly #secrets: readonly string[]
  #stop = new AbortController()
  #ended: Promise<void> = Promise.resolve()
  #state: SourceStatus['state'] = 'paused'
  #sinceUs: number
  #lastError: string | undefined
  #isRefused = false
  #retries = 0
  #messages = 0
  #lastMessageAtUs: number | undefined
  #unacknowledged = 0
  #connections = 0

  constructor(
    needs: SourceRunnerNeeds,
    streamId: StreamId,
    { source, secrets }: { readonly source: FetchedSource; readonly secrets: readonly string[] },
  ) {
    this.#needs = needs
    this.#streamId = streamId
    this.#source = source
    this.#secrets = secrets
    this.#sinceUs = needs.nowUs()
  }

  get isRunning(): boolean {
    return this.#state !== 'paused'
  }

  /** How often the source was reached. */
  get connections(): number {
    return this.#connections
  }

  get status(): SourceStatus {
    const isFailing = this.#state === 'failing'
    const isLong = this.#needs.nowUs() - this.#sinceUs >= lastingUs
    return {
      state: this.#state,
      sinceUs: this.#sinceUs,
      lastError: this.#lastError,
      retries: this.#retries,
      messages: this.#messages,
      lastMessageAtUs: this.#lastMessageAtUs,
      unacknowledged: this.#unacknowledged,
      isLasting: isFailing && (this.#isRefused || isLong),
    }
  }

  /** @param delayMs how long to wait before the first try */
  start(delayMs = 0): void {
    if (this.isRunning) return
    this.#stop = new AbortController()
    this.#retries = 0
    this.#enter('connecting')
    this.#ended = this.#run(this.#stop.signal, delayMs)
  }

  /** Resolves when nothing of it goes on any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
    this.#enter('paused')
  }

  /** A message that may be shown. */
  withoutSecrets(text: string): string {
    let shown = text
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, '********')
    return shown.slice(0, 500)
  }

  async #run(signal: AbortSignal, delayMs: number): Promise<void> {
    let waitMs = delayMs
    while (await waited(waitMs, signal)) {
      try {
        await this.#runOnce(signal)
        if (signal.aborted) return
        this.#fail(new Error('the source has ended by itself'))
      } catch (error) {
        if (signal.aborted) return
        this.#fail(error)
      }
      waitMs = backOffMs(this.#retries, this.#isRefused)
    }
  }

  async #runOnce(signal: AbortSignal): Promise<void> {
    const { dial } = this.#needs
    const intake = new OrderedIntake(this.#needs, this.#streamId, signal)
    const accept = async (messages: readonly FetchedMessage[]) => {
      this.#unacknowledged += messages.length
      try {
        const outcomes = await intake.accept(messages)
        this.#messages += messages.length
        this.#lastMessageAtUs = outcomes.at(-1)?.receivedAtUs ?? this.#lastMessageAtUs
        return outcomes
      } finally {
        this.#unacknowledged -= messages.length
      }
    }
    const onRunning = () => {
      this.#connections++
      this.#enter('running')
    }
    await this.#source.run({ accept, onRunning, dial, signal })
  }

  #fail(error: unknown): void {
    const wasRunning = this.#state === 'running'
    if (wasRunning && this.#needs.nowUs() - this.#sinceUs >= stableUs) this.#retries = 0
    this.#retries++
    this.#isRefused = isLastingRefusal(error)
    this.#lastError = this.withoutSecrets(messageOf(error))
    if (this.#state !== 'failing') this.#enter('failing')
    if (this.#retries === 1) this.#needs.onFailing(this.#streamId, this.#lastError)
  }

  #enter(state: SourceStatus['state']): void {
    this.#state = state
    this.#sinceUs = this.#needs.nowUs()
  }
}

function isLastingRefusal(error: unknown): boolean {
  if (error instanceof SourceRefused) return true
  return error instanceof DomainError && error.code === 'destination_not_allowed'
}

/** False when it was aborted meanwhile. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return !signal.aborted
  } catch {
    return false
  }
}
