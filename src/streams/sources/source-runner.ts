import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Dial,
  type FetchedMessage,
  type FetchedSource,
  type FetchRun,
  RetryLater,
  SourceRefused,
} from '../../contracts/fetch-connector.ts'
import type { SourcePosition } from '../../contracts/source-position.ts'
import { DomainError, messageOf } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import type { SourceStatus } from '../data-streams/stream-sources.ts'
import { backOffMs } from './back-off.ts'
import { failureRemedy } from './failure-remedy.ts'
import type { LeftMessages } from './left-messages.ts'
import { OrderedIntake, type OrderedIntakeNeeds } from './ordered-intake.ts'
import type { SourcePositions } from './source-positions.ts'
import { SourceState } from './source-state.ts'
import { Wish } from './wish.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export interface SourceRunnerNeeds extends OrderedIntakeNeeds {
  readonly dial: Dial
  readonly positions: Pick<SourcePositions, 'find' | 'textOf' | 'note' | 'forget'>
  readonly left: Pick<LeftMessages, 'handOver'>
  readonly nowUs: () => number
  /** Called once in a row of failures, without secrets. */
  readonly onFailing: (id: StreamId, reason: string) => void
}

/** A source that was opened, and what it was opened with. */
export interface OpenedSource {
  readonly source: FetchedSource
  readonly definition: Readonly<Record<string, unknown>>
  /** What no message may show. */
  readonly secrets: readonly string[]
}

/** Runs one source again and again, until it is stopped. */
export class SourceRunner {
  readonly #needs: SourceRunnerNeeds
  readonly #streamId: StreamId
  readonly #opened: OpenedSource
  readonly #state: SourceState
  readonly #wish = new Wish()
  #stop = new AbortController()
  #ended: Promise<void> = Promise.resolve()

  constructor(needs: SourceRunnerNeeds, streamId: StreamId, opened: OpenedSource) {
    this.#needs = needs
    this.#streamId = streamId
    this.#opened = opened
    this.#state = new SourceState(needs.nowUs)
  }

  get isRunning(): boolean {
    return this.#state.isRunning
  }

  /** How often the source was reached. */
  get connections(): number {
    return this.#state.connections
  }

  get status(): SourceStatus {
    return this.#state.status
  }

  /** @param delayMs how long to wait before the first try */
  start(delayMs = 0): void {
    if (this.isRunning) return
    this.#stop = new AbortController()
    this.#state.started()
    this.#ended = this.#run(this.#stop.signal, delayMs)
  }

  /** Has it do what it would do later: the next round, or the next try after a failure. */
  hurry(): void {
    this.#wish.make()
  }

  /** Resolves when nothing of it goes on any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
    this.#state.stopped()
  }

  /** A message that may be shown. */
  withoutSecrets(text: string): string {
    return withoutSecretsOf(this.#opened.secrets, text)
  }

  async #run(signal: AbortSignal, delayMs: number): Promise<void> {
    let isReady = await waited(delayMs, signal)
    while (isReady) {
      let failure: unknown = new Error('the source has ended by itself')
      try {
        await this.#runOnce(signal)
      } catch (error) {
        failure = error
      }
      if (signal.aborted) return
      this.#fail(failure)
      isReady = await this.#waitAfter(failure, signal)
    }
  }

  /** What somebody wants at once is tried at once, and once. */
  async #waitAfter(failure: unknown, signal: AbortSignal): Promise<boolean> {
    const ownMs = backOffMs(this.#state.retries, isLastingRefusal(failure))
    const askedMs = failure instanceof RetryLater ? failure.retryAfterMs : 0
    const rest = new AbortController()
    const waiting = AbortSignal.any([signal, rest.signal])
    const unlisten = this.#wish.listen(() => rest.abort())
    await waited(Math.max(ownMs, askedMs), waiting)
    unlisten()
    this.#wish.grant()
    return !signal.aborted
  }

  async #runOnce(signal: AbortSignal): Promise<void> {
    const { dial, positions, left, nowUs } = this.#needs
    const { source, definition } = this.#opened
    const { identity } = source
    const intake = new OrderedIntake(this.#needs, this.#streamId, signal)
    await intake.begin()
    await left.handOver(this.#streamId, { identity, source: definition }, signal)
    const position = await positions.find(this.#streamId, identity, signal)
    const state = this.#state
    const run: FetchRun = {
      accept: this.#acceptor(identity, intake),
      position,
      onRunning: () => state.reached(),
      onHeldUp: (reason) => state.heldUp(this.withoutSecrets(reason)),
      onSkipped: (messages) => state.skipped(messages),
      onWaiting: (dueAtUs) => state.waiting(dueAtUs),
      onRound: (round) => state.roundEnded(round),
      wish: this.#wish,
      dial,
      nowUs,
      signal,
    }
    try {
      await source.run(run)
    } finally {
      // Who comes next begins where this run has ended.
      await intake.finish()
    }
  }

  #acceptor(identity: string, intake: OrderedIntake): FetchRun['accept'] {
    const { positions } = this.#needs
    return async (messages: readonly FetchedMessage[], position?: SourcePosition) => {
      const text = position && positions.textOf(identity, position)
      const accepted = intake.accept(messages, text)
      return await this.#state.accepting(messages.length, accepted)
    }
  }

  #fail(error: unknown): void {
    const reason = this.withoutSecrets(messageOf(error))
    this.#state.failed(reason, { isRefused: isLastingRefusal(error), remedy: failureRemedy(error) })
    if (this.#state.retries === 1) this.#needs.onFailing(this.#streamId, reason)
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
