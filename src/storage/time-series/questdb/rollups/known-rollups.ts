import type { RolledUpStream } from '../../rollups/covered.ts'
import { rollupSegments } from '../../rollups/rollup-width.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import type { WindowRange } from '../../windows/window-starts.ts'

/**
 * What rows say of a stream at one moment. They say so for as long as they are not written anew: what is marked
 * later does not change what they say of readings that were stored by then.
 */
export interface RollupAsOf extends RolledUpStream {
  readonly rollup: StreamWindows
  /** How often rows had been written. */
  readonly writes: number
}

/** The streams that are rolled up, in memory; the file has the same. */
export class KnownRollups {
  readonly #streams = new Map<string, StreamWindows>()
  readonly #writes = new WeakMap<StreamWindows, number>()
  /** Half hours that were computed since the start. */
  computed = 0

  /** What is marked is to be computed; everything else is as its rows say. */
  get streams(): ReadonlyMap<string, StreamWindows> {
    return this.#streams
  }

  add(id: string, marked: readonly WindowRange[]): void {
    this.#streams.set(id, new StreamWindows(rollupSegments, marked))
  }

  remove(id: string): void {
    this.#streams.delete(id)
  }

  /** Undefined for a stream that is not rolled up. */
  asOfNow(id: string, keptFromUs: number): RollupAsOf | undefined {
    const rollup = this.#streams.get(id)
    if (!rollup) return undefined
    const marked = rollup.marks.all.map(({ fromUs, toUs }) => ({ fromUs, toUs }))
    return { rollup, marked, keptFromUs, writes: this.#writesOf(rollup) }
  }

  /** Whether the rows of a stream are still those that there were. */
  isAsOf(id: string, { rollup, writes }: RollupAsOf): boolean {
    return this.#streams.get(id) === rollup && this.#writesOf(rollup) === writes
  }

  /** Notes that rows are others now. */
  written(id: string): void {
    const rollup = this.#streams.get(id)
    if (rollup) this.#writes.set(rollup, this.#writesOf(rollup) + 1)
  }

  get marks(): number {
    let count = 0
    for (const { marks } of this.#streams.values()) count += marks.count
    return count
  }

  #writesOf(rollup: StreamWindows): number {
    return this.#writes.get(rollup) ?? 0
  }
}
