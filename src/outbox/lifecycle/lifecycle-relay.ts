import { setTimeout as sleep } from 'node:timers/promises'
import type { Acceptor } from '../../contracts/connector.ts'
import type { CompiledStream } from '../../contracts/reading.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import type { LifecycleEvents } from './lifecycle-events.ts'

/** Events that are handed to the journal together. */
const eventsPerRound = 200

/** How often the outbox is looked into: nearly always it is empty, which costs next to nothing. */
const lookMs = 100

/** After a failure the next round begins this much later. */
const retryMs = 1_000

export interface LifecycleRelayNeeds {
  readonly events: LifecycleEvents
  readonly intake: Pick<Acceptor, 'accept'>
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** @throws DomainError when nothing can be accepted now */
  readonly assertReady: () => void
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Brings lifecycle events from the outbox into the journal. An event leaves the outbox once it is
 * durable. After a crash in between it is handed in again, with the same time and content: a
 * duplicate, which is not stored again.
 */
export class LifecycleRelay {
  readonly #needs: LifecycleRelayNeeds
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(needs: LifecycleRelayNeeds) {
    this.#needs = needs
    this.#running = this.#run()
  }

  /** Resolves when nothing of it is under way. What is left waits for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const pauseMs = await this.#round().catch((error: unknown) => {
        // A journal that takes nothing at the moment says so in readiness.
        if (!(error instanceof DomainError)) this.#needs.onFailure(error)
        return retryMs
      })
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal, ref: false }).catch(aborted)
    }
  }

  /** Resolves with how long to wait until the next round. */
  async #round(): Promise<number> {
    const { events, intake, findStream, assertReady } = this.#needs
    const pending = await events.next(eventsPerRound)
    if (pending.length === 0) return lookMs
    assertReady()
    const outcomes: Promise<DomainError | undefined>[] = []
    for (const { streamId, atUs, reading } of pending) {
      // Looked up for each: nothing may come into a stream that was deleted meanwhile.
      const stream = await findStream(streamId)
      if (stream === undefined) continue
      const message = { stream, payload: Buffer.from(reading), source: 'service' }
      const { promise, resolve } = Promise.withResolvers<DomainError | undefined>()
      intake.accept({ ...message, receivedAtUs: atUs }, resolve)
      outcomes.push(promise)
    }
    const failure = (await Promise.all(outcomes)).find((outcome) => outcome !== undefined)
    if (failure) throw failure
    await events.remove(pending)
    return pending.length < eventsPerRound ? lookMs : 0
  }
}

function aborted(): void {}
