import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Dial,
  type FetchedMessage,
  type FetchedSource,
  type FetchRun,
  RetryLater,
  SourceRefused,
} from '../../contracts/fetch-connector.ts'
import type { SourcePosition } from '../../contracts/poll-connector.ts'
import { DomainError, messageOf } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import type { SourceStatus } from '../data-streams/stream-sources.ts'
import { backOffMs } from './back-off.ts'
import { OrderedIntake, type OrderedIntakeNeeds } from './ordered-intake.ts'
import type { SourcePositions } from './source-positions.ts'
import { SourceState } from './source-state.ts'
import { Wish } from './wish.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export interface SourceRunnerNeeds extends OrderedIntakeNeeds {
  readonly dial: Dial
  readonly positions: Pick<SourcePositions, 'find' | 'textOf' | 'note' | 'forget'>
  readonly nowUs: () => number
  /** Called once in a row of failures, without secrets. */
  readonly onFailing: (id: StreamId, reason: string) => void
}

/** Runs one source again and again, until it is stopped. */
export class SourceRunner {
  readonly #needs: SourceRunnerNeeds
  readonly #streamId: StreamId
  readonly #source: FetchedSource
  /** What no message may show. */
  readonly #secrets: readonly string[]
  readonly #state: SourceState
  readonly #wish = new Wish()
  #stop = new AbortController()
  #ended: Promise<void> = Promise.resolve()

  constructor(
    needs: SourceRunnerNeeds,
    streamId: StreamId,
    { source, secrets }: { readonly source: FetchedSource; readonly secrets: readonly string[] },
  ) {
    this.#needs = needs
    this.#streamId = streamId
    this.#source = source
    this.#secrets = secrets
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
    return withoutSecretsOf(this.#secrets, text)
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
    const { dial, positions, nowUs } = this.#needs
    const { identity } = this.#source
    const position = await positions.find(this.#streamId, identity, signal)
    const state = this.#state
    const run: FetchRun = {
      accept: this.#acceptor(identity, signal),
      position,
      onRunning: () => state.reached(),
      onWaiting: (dueAtUs) => state.waiting(dueAtUs),
      onRound: (round) => state.roundEnded(round),
      wish: this.#wish,
      dial,
      nowUs,
      signal,
    }
    await this.#source.run(run)
  }

  #acceptor(identity: string, signal: AbortSignal): FetchRun['accept'] {
    const { positions } = this.#needs
    const intake = new OrderedIntake(this.#needs, this.#streamId, signal)
    return async (messages: readonly FetchedMessage[], position?: SourcePosition) => {
      const text = position && positions.textOf(identity, position)
      const accepted = intake.accept(messages, text)
      const outcomes = await this.#state.accepting(messages.length, accepted)
      if (text !== undefined) positions.note(this.#streamId, text)
      return outcomes
    }
  }

  #fail(error: unknown): void {
    const reason = this.withoutSecrets(messageOf(error))
    this.#state.failed(reason, isLastingRefusal(error))
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
