import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import type { Acceptor, MessageOutcome, Settled } from '../pipeline/connector.ts'
import type { FetchedMessage } from '../pipeline/fetch-connector.ts'
import type { CompiledStream } from '../pipeline/reading.ts'

/** After a failure that may pass, what failed is offered again this much later. */
const retryMs = 250

export interface OrderedIntakeNeeds {
  readonly intake: Acceptor
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** @throws DomainError when nothing can be accepted now, or too much waits for the disk */
  readonly assertReady: () => void
}

interface Waiting {
  readonly messages: readonly FetchedMessage[]
  readonly resolve: (outcomes: readonly MessageOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * What one run of a source hands over, in its order: the next portion goes to the journal when the
 * one before is durable, so that a failure in between changes nothing about the order. Whatever has
 * arrived meanwhile is one portion, as it is with a group commit.
 */
export class OrderedIntake {
  readonly #needs: OrderedIntakeNeeds
  readonly #streamId: StreamId
  readonly #signal: AbortSignal
  #waiting: Waiting[] = []
  #isRunning = false
  #failure: unknown

  constructor(needs: OrderedIntakeNeeds, streamId: StreamId, signal: AbortSignal) {
    this.#needs = needs
    this.#streamId = streamId
    this.#signal = signal
  }

  /** @throws DomainError when it could not be kept, or the run was told to end before it was */
  readonly accept = async (
    messages: readonly FetchedMessage[],
  ): Promise<readonly MessageOutcome[]> => {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ messages, resolve, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const portion = this.#waiting
      if (portion.length === 0) break
      this.#waiting = []
      await this.#handle(portion)
    }
    this.#isRunning = false
  }

  async #handle(portion: readonly Waiting[]): Promise<void> {
    try {
      // What could not be kept comes again, and what is behind it has to come after it.
      if (this.#failure !== undefined) throw this.#failure
      const outcomes = await this.#keep(portion.flatMap(({ messages }) => messages))
      let start = 0
      for (const { messages, resolve } of portion) {
        resolve(outcomes.slice(start, start + messages.length))
        start += messages.length
      }
    } catch (error) {
      this.#failure = error
      for (const { reject } of portion) reject(error)
    }
  }

  /** Offers messages until all of them are durable. */
  async #keep(messages: readonly FetchedMessage[]): Promise<readonly MessageOutcome[]> {
    const outcomes: MessageOutcome[] = []
    let pending = [...messages.keys()]
    for (;;) {
      const failed = await this.#offer(messages, { pending, outcomes })
      if (failed.length === 0) return outcomes
      pending = failed
      await sleep(retryMs, undefined, { signal: this.#signal })
    }
  }

  /** Resolves with the places of those that failed and may be offered again. */
  async #offer(
    messages: readonly FetchedMessage[],
    { pending, outcomes }: { readonly pending: number[]; readonly outcomes: MessageOutcome[] },
  ): Promise<number[]> {
    this.#signal.throwIfAborted()
    const stream = await this.#needs.findStream(this.#streamId)
    if (stream === undefined || stream.isPaused) {
      throw new DomainError('stream_paused', 'the stream takes no readings')
    }
    try {
      this.#needs.assertReady()
    } catch (error) {
      if (error instanceof DomainError && error.retryable) return pending
      throw error
    }
    const failed: number[] = []
    let lasting: DomainError | undefined
    await new Promise<void>((resolve) => {
      let left = pending.length
      for (const place of pending) {
        const message = messages[place] as FetchedMessage
        // What was offered before keeps its first time of receipt, and with it its identity.
        const receivedAtUs = outcomes[place]?.receivedAtUs ?? message.receivedAtUs
        const raw =
          receivedAtUs === undefined ? { ...message, stream } : { ...message, stream, receivedAtUs }
        const settled: Settled = (error) => {
          if (error !== undefined) failed.push(place)
          if (error !== undefined && !error.retryable) lasting = error
          if (--left === 0) resolve()
        }
        const { intake } = this.#needs
        outcomes[place] =
          message.problem === undefined
            ? intake.accept(raw, settled)
            : intake.refuse(raw, message.problem, settled)
      }
      if (left === 0) resolve()
    })
    if (lasting !== undefined) throw lasting
    return failed
  }
}
