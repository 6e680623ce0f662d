import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import { ceilTo, floorTo } from '../../windows/window-starts.ts'
import type { WindowMark } from '../../windows/window-store.ts'
import type { Catalog, ReadingsTable, StreamRecord } from '../catalog.ts'
import { startOfMonthUs } from '../months.ts'

/** Streams that are rolled up together: each is a row of a statement. */
const piecesMax = 1_000

/** Rows of one stream that are to be computed. */
export interface RollupPiece {
  readonly id: string
  readonly record: StreamRecord
  readonly rollup: StreamWindows
  readonly mark: WindowMark
  /** What `mark.touched` was when this was handed out: whatever changed later makes it obsolete. */
  readonly touched: number
  readonly fromUs: number
  readonly toUs: number
}

/** Pieces that are computed together. */
export interface RollupChunk {
  readonly pieces: readonly RollupPiece[]
  /** Tables that have readings of them, all of one month; none where there are no readings. */
  readonly tables: readonly ReadingsTable[]
}

/** What may be computed now. */
export interface Due {
  /** Rows that end later are still being filled. */
  readonly endedByUs: number
  /** Marks that were touched later may be touched again soon. */
  readonly touchedBy: number
  /** How much time one chunk may cover. */
  readonly spanUs: number
}

/** The oldest of what is due, of all streams that have it. Each piece has a mark of its own then. */
export function dueRollups(catalog: Catalog, due: Due): RollupChunk | undefined {
  const parts = [...dueParts(catalog, due)]
  if (parts.length === 0) return undefined
  const firstUs = parts.reduce((least, { fromUs }) => Math.min(least, fromUs), Infinity)
  const lastUs = parts.reduce((greatest, { toUs }) => Math.max(greatest, toUs), 0)
  const shapes = new Set(parts.flatMap(({ record }) => [...record.shapes]))
  const tables = [...shapes]
    .flatMap((shape) => catalog.tablesOf(shape, firstUs, lastUs))
    .sort((left, right) => left.month - right.month)
  const month = tables[0]?.month
  const endUs = month === undefined ? lastUs : chunkEndUs(month, firstUs, due.spanUs)
  const pieces = parts
    .filter(({ fromUs }) => fromUs < endUs)
    .slice(0, piecesMax)
    .map((part) => pieceOf(part, endUs))
  return { pieces, tables: tables.filter((table) => table.month === month) }
}

/** Within the month that has the first readings: what comes before it is empty. */
function chunkEndUs(month: number, firstUs: number, spanUs: number): number {
  return Math.min(Math.max(firstUs, startOfMonthUs(month)) + spanUs, startOfMonthUs(month + 1))
}

type Part = Omit<RollupPiece, 'touched'>

function* dueParts({ streams, rollups }: Catalog, { endedByUs, touchedBy }: Due): Generator<Part> {
  for (const [id, rollup] of rollups.streams) {
    const record = streams.get(id)
    if (!record) continue
    for (const mark of rollup.marks.all) {
      const toUs = Math.min(mark.toUs, floorTo(endedByUs, rollupWidthUs))
      if (mark.touched > touchedBy || mark.fromUs >= toUs) continue
      yield { id, record, rollup, mark, fromUs: mark.fromUs, toUs }
    }
  }
}

function pieceOf({ mark, ...part }: Part, endUs: number): RollupPiece {
  const { fromUs } = part
  const toUs = Math.min(part.toUs, endUs)
  const own = part.rollup.marks.split(mark, fromUs, toUs)
  return { ...part, mark: own, touched: own.touched, toUs }
}

/** The first row whose readings are all kept still. */
export function firstKeptUs({ counts: { keptFromUs } }: StreamRecord): number {
  return ceilTo(keptFromUs, rollupWidthUs)
}
