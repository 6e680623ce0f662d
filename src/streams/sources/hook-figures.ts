import type { StreamId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { HookStatus } from '../data-streams/stream-sources.ts'

/** Webhooks whose figures are remembered. */
const hooksMax = 10_000

type Figures = { -readonly [Figure in keyof HookStatus]: HookStatus[Figure] }

const nothingCame: HookStatus = {
  messages: 0,
  repeated: 0,
  lastMessageAtUs: undefined,
  refused: 0,
  lastRefusedAtUs: undefined,
  lastRefusal: undefined,
}

/** What has come to webhooks since the start of the service. */
export class HookFigures {
  readonly #figures = new LruMap<StreamId, Figures>(hooksMax)
  readonly totals = { messages: 0, repeated: 0, refused: 0 }

  statusOf(id: StreamId): HookStatus {
    return this.#figures.get(id) ?? nothingCame
  }

  kept(id: StreamId, nowUs: number): void {
    const figures = this.#of(id)
    figures.messages++
    figures.lastMessageAtUs = nowUs
    this.totals.messages++
  }

  repeated(id: StreamId): void {
    this.#of(id).repeated++
    this.totals.repeated++
  }

  refused(id: StreamId, reason: string, nowUs: number): void {
    const figures = this.#of(id)
    figures.refused++
    figures.lastRefusedAtUs = nowUs
    figures.lastRefusal = reason
    this.totals.refused++
  }

  /** To be called when a stream is gone. */
  forget(id: StreamId): void {
    this.#figures.delete(id)
  }

  #of(id: StreamId): Figures {
    const known = this.#figures.get(id)
    if (known) return known
    const figures = { ...nothingCame }
    this.#figures.set(id, figures)
    return figures
  }
}
