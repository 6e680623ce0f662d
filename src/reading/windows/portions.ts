import { monotonicMs } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { ComputedPiece, WindowPiece } from '../../storage/time-series/windows/window-store.ts'
import { computeGroup, type Group, type WindowedStore } from './compute-windows.ts'

/** Streams whose portions are remembered; of one that is forgotten the size is found again. */
const streamsMax = 10_000

/** A window that takes too long is tried again after this time: the store may be less busy, or have less. */
const retryMs = 3_600_000

/** One window, of which not even that can be computed in the time that a query may take. */
export interface TooSlowWindow {
  readonly streamId: string
  /** Where it begins. */
  readonly timestampUs: number
}

interface LeftAlone {
  readonly windowEndUs: number
  readonly untilMs: number
}

export interface PortionsNeeds {
  readonly store: WindowedStore
  /** Windows that are in memory at once. */
  readonly windowsMax: number
  readonly onTooSlow: (window: TooSlowWindow) => void
}

/**
 * Computes windows in portions that a query is quick enough for. It is tried with all at once; what takes too
 * long is halved, first by streams and then by time. How much of a stream goes at once is remembered, and grows
 * again with each success.
 */
export class Portions {
  readonly #needs: PortionsNeeds
  /** By stream, how many of its windows are computed together: all where nothing is said. */
  readonly #windowsOf = new LruMap<string, PortionSize>(streamsMax)
  /** By stream, the last window that takes too long, and until when it is left alone. */
  readonly #leftAlone = new LruMap<string, LeftAlone>(streamsMax)
  readonly #nowMs: () => number
  /** How many streams are computed together. */
  #streams: PortionSize | undefined

  /** @param nowMs the monotonic clock */
  constructor(needs: PortionsNeeds, nowMs = monotonicMs) {
    this.#needs = needs
    this.#nowMs = nowMs
  }

  /** Windows of a stream that begin before it are not to be computed now. */
  dueFromUs(streamId: string): number {
    const leftAlone = this.#leftAlone.get(streamId)
    if (leftAlone === undefined) return 0
    if (this.#nowMs() < leftAlone.untilMs) return leftAlone.windowEndUs
    this.#leftAlone.delete(streamId)
    return 0
  }

  /** Computes a group, or as much of it as is possible now. */
  async compute(group: Group<WindowPiece>): Promise<readonly ComputedPiece[]> {
    const [piece] = group.pieces
    if (!piece) return []
    if (group.pieces.length === 1) return await this.#computeOne(group, piece.streamId)
    const isCut = group.pieces.some(({ streamId }) => this.#windowsOf.get(streamId) !== undefined)
    const size = isCut ? 1 : Math.min(this.#streams?.size ?? Infinity, group.pieces.length)
    if (size < group.pieces.length) return await this.#computeInParts(group, size)
    try {
      const computed = await this.#computeGroup(group)
      this.#streams?.succeeded(size)
      return computed
    } catch (error) {
      if (!isTooSlow(error)) throw error
      this.#streams = new PortionSize(size / 2)
      return await this.compute(group)
    }
  }

  async #computeInParts(
    group: Group<WindowPiece>,
    size: number,
  ): Promise<readonly ComputedPiece[]> {
    const computed: ComputedPiece[] = []
    for (let from = 0; from < group.pieces.length; from += size) {
      const pieces = group.pieces.slice(from, from + size)
      computed.push(...(await this.compute({ ...group, pieces })))
    }
    return computed
  }

  async #computeOne(
    group: Group<WindowPiece>,
    streamId: string,
  ): Promise<readonly ComputedPiece[]> {
    const part = this.#firstOf(group, streamId)
    try {
      const computed = await this.#computeGroup(part)
      this.#succeeded(part, streamId)
      return computed
    } catch (error) {
      if (!isTooSlow(error)) throw error
      this.#failed(part, streamId)
      return []
    }
  }

  async #computeGroup(group: Group<WindowPiece>): Promise<readonly ComputedPiece[]> {
    return await computeGroup(this.#needs.store, group, this.#needs.windowsMax)
  }

  #firstOf(group: Group<WindowPiece>, streamId: string): Group<WindowPiece> {
    const windows = this.#windowsOf.get(streamId)
    if (!windows) return group
    const { fromUs, toUs, definition } = group
    return { ...group, toUs: Math.min(toUs, fromUs + windows.size * definition.widthUs) }
  }

  /** The next step does half of it. */
  #failed(part: Group<WindowPiece>, streamId: string): void {
    const windows = countOf(part)
    this.#windowsOf.set(streamId, new PortionSize(windows / 2))
    if (windows > 1) return
    const { toUs: windowEndUs } = part
    this.#leftAlone.set(streamId, { windowEndUs, untilMs: this.#nowMs() + retryMs })
    this.#needs.onTooSlow({ streamId, timestampUs: part.fromUs })
  }

  #succeeded(part: Group<WindowPiece>, streamId: string): void {
    const size = this.#windowsOf.get(streamId)
    const windows = countOf(part)
    size?.succeeded(windows)
    // All that there was: what comes next is new.
    if (size && windows < size.size) this.#windowsOf.delete(streamId)
  }
}

/** After so many successes twice as much is tried: each failure costs the time that a query may take. */
const successesMin = 8

/** How much is computed at once, since more took too long. */
class PortionSize {
  size: number
  #successes = 0

  constructor(size: number) {
    this.size = Math.max(1, Math.floor(size))
  }

  succeeded(done: number): void {
    if (done < this.size || ++this.#successes < successesMin) return
    this.size *= 2
    this.#successes = 0
  }
}

function countOf({ fromUs, toUs, definition }: Group<WindowPiece>): number {
  return (toUs - fromUs) / definition.widthUs
}

function isTooSlow(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'query_too_slow'
}
