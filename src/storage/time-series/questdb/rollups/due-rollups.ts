import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { StreamWindows } from '../../windows/stream-windows.ts'
import { floorTo } from '../../windows/window-starts.ts'
import type { WindowMark } from '../../windows/window-store.ts'
import { streamsPerStatement } from '../read/statement.ts'
import type { KnownRollups } from './known-rollups.ts'

/** Half hours of one stream that are to be computed. */
export interface RollupPiece {
  readonly id: string
  readonly rollup: StreamWindows
  readonly mark: WindowMark
  /** What `mark.touched` was when this was handed out: whatever changed later makes it obsolete. */
  readonly touched: number
  readonly fromUs: number
  readonly toUs: number
}

/** What may be computed now. */
export interface Due {
  /** Half hours that end later are still being filled. */
  readonly endedByUs: number
  /** Marks that were touched later may be touched again soon. */
  readonly touchedBy: number
}

/** The oldest that is due of each stream, of those that have the oldest. Each piece has a mark of its own then. */
export function dueRollups({ streams }: KnownRollups, due: Due): readonly RollupPiece[] {
  const endedUs = floorTo(due.endedByUs, rollupWidthUs)
  const found = [...streams].flatMap(([id, rollup]) => {
    const mark = rollup.marks.all.find(
      ({ touched, fromUs }) => touched <= due.touchedBy && fromUs < endedUs,
    )
    return mark ? [{ id, rollup, mark, fromUs: mark.fromUs }] : []
  })
  return found
    .sort((left, right) => left.fromUs - right.fromUs)
    .slice(0, streamsPerStatement)
    .map(({ mark, ...one }) => {
      const toUs = Math.min(mark.toUs, endedUs)
      const own = one.rollup.marks.split(mark, one.fromUs, toUs)
      return { ...one, mark: own, touched: own.touched, toUs }
    })
}
