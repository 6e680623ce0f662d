import type { StreamState } from '../stream-state.ts'

/** Streams that are looked at together. */
const candidatesMax = 1_000

/** A stream that may have enough readings to be rolled up. */
export interface Candidate<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
}

/** From when on rows are worth their space. */
export interface RollupThresholds {
  /** Readings of a stream: fewer are read in no time. */
  readonly readingsMin: number
  /** Readings that one row stands for, on the average. */
  readonly perRowMin: number
}

export interface RollupOptions extends RollupThresholds {
  /**
   * How long windows are left alone that have been touched: where late readings come all the time,
   * rows would be computed again and again, in vain.
   */
  readonly quietMs: number
}

/** Which streams there are, and which of them are rolled up. */
interface KnownStreams<Record extends StreamState> {
  readonly streams: Iterable<readonly [id: string, Record]>
  readonly rolledUp: { has(id: string): boolean }
}

/** Remembers how many readings streams had when they were looked at: with twice as many they are again. */
export class Candidates<Record extends StreamState = StreamState> {
  readonly #lookedAt = new WeakMap<Record, number>()
  readonly #needs: RollupThresholds

  constructor(needs: RollupThresholds) {
    this.#needs = needs
  }

  in({ streams, rolledUp }: KnownStreams<Record>): readonly Candidate<Record>[] {
    const found: Candidate<Record>[] = []
    for (const [id, record] of streams) {
      const { stored, deleted, expired } = record.counts
      const isMany = stored - deleted - expired >= this.#needs.readingsMin
      if (!isMany || record.shapes.size === 0 || record.timestampMaxUs < 0) continue
      if (rolledUp.has(id) || stored < (this.#lookedAt.get(record) ?? 0) * 2) continue
      found.push({ id, record })
      if (found.length === candidatesMax) break
    }
    return found
  }

  lookedAt(candidates: readonly Candidate<Record>[]): void {
    for (const { record } of candidates) this.#lookedAt.set(record, record.counts.stored)
  }
}
