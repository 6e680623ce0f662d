import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../../core/clock.ts'
import type { Expiry } from '../../expiry.ts'
import { clearMarks, isCurrent, marksLeft, upTo } from '../../windows/computed-pieces.ts'
import { knownResult } from '../../windows/kept-rows.ts'
import { type KnownResult, type Revisions, revisionsOf } from '../../windows/revisions.ts'
import type {
  ComputedPiece,
  StoredWindows,
  StoredWindowsQuery,
  WindowPiece,
  WindowStore,
  WindowsWritten,
  WindowTotals,
} from '../../windows/window-store.ts'
import type { Ledger } from '../ledger.ts'
import { readResults } from './read-results.ts'

/** Results of a piece that may be replaced at once; one that has more is done in parts. */
const replacedMax = 10_000

/** Results that go at once: nothing else is done meanwhile. */
const resultsPerPortion = 10_000

/**
 * Windows of readings that are in QuestDB: kept in the file that has position and counts. What changes them
 * and what is known of readings changes in one turn of the thread, so nobody has to wait for anybody.
 */
export class QuestDbWindows implements WindowStore {
  readonly #ledger: Ledger
  readonly #clock: Clock

  constructor(ledger: Ledger, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  due(...asked: Parameters<WindowStore['due']>): readonly WindowPiece[] {
    const { windows, keptFromUs } = this.#ledger
    return windows.due(keptFromUs, ...asked)
  }

  async write(computed: readonly ComputedPiece[]): Promise<WindowsWritten> {
    const { windows, keptFromUs } = this.#ledger
    const current = computed.filter((one) => isCurrent(windows, one, keptFromUs))
    if (current.length === 0) return { added: 0, revised: 0 }
    const plans = current.map((one) => this.#planOf(one))
    const covered = plans.map((plan) => plan.covered)
    const added = plans.flatMap(({ revisions }) => revisions.added)
    const revised = plans.flatMap(({ revisions }) => revisions.revised)
    this.#ledger.writeWindows((tables) => {
      tables.writeResults([...added, ...revised], this.#clock.nowUs())
      tables.replaceMarks(marksLeft(windows, covered))
    })
    clearMarks(windows, covered)
    windows.added += added.length
    windows.revised += revised.length
    return { added: added.length, revised: revised.length }
  }

  async stored(query: StoredWindowsQuery): Promise<StoredWindows> {
    // Who asks again and again would else let nobody have a turn.
    await nextTurn()
    const { windows, keptFromUs, windowTables } = this.#ledger
    return { marked: windows.marked(keptFromUs, query), windows: readResults(windowTables, query) }
  }

  async expire(expiries: readonly Expiry[]): Promise<boolean> {
    let left = resultsPerPortion
    this.#ledger.writeWindows((tables) => {
      for (const { streamId, beforeUs } of expiries) {
        if (left > 0) left -= tables.removeBefore(streamId, beforeUs, left)
      }
    })
    return left === 0
  }

  /** Forgets the windows of a stream, in portions. */
  async removeStream(streamId: string): Promise<void> {
    this.#ledger.windows.remove(streamId)
    const everything = { streamId, beforeUs: Number.MAX_SAFE_INTEGER }
    while (await this.expire([everything])) await nextTurn()
    this.#ledger.writeWindows((tables) => tables.forget(streamId))
  }

  totals(): WindowTotals {
    return this.#ledger.windows.totals()
  }

  /** How much of a piece is done, and what that changes. */
  #planOf(one: ComputedPiece): { readonly covered: ComputedPiece; readonly revisions: Revisions } {
    const known = this.#knownResults(one)
    const covered = known.length > replacedMax ? upTo(one, known) : one
    return { covered, revisions: revisionsOf(covered, known) }
  }

  /** The results that there are for the windows of a piece, in ascending time. */
  #knownResults({ piece, coveredToUs }: ComputedPiece): readonly KnownResult[] {
    const { streamId, fromUs } = piece
    const range = { startUs: fromUs, endUs: coveredToUs, limit: replacedMax + 1 }
    const rows = this.#ledger.windowTables.resultsIn(streamId, range)
    return rows.map((row) => knownResult(streamId, row))
  }
}
