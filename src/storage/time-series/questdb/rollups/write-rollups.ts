import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { Shape } from '../../shape.ts'
import { ceilTo, floorTo, type WindowRange } from '../../windows/window-starts.ts'
import type { Ledger } from '../ledger.ts'
import type { ComputedRollups } from './compute-rollups.ts'
import { DayLayout, dayUs, type HalfHour } from './day-of-rollups.ts'
import type { RollupPiece } from './due-rollups.ts'
import type { RollupTables } from './rollup-tables.ts'

/**
 * Rows and marks in one transaction; memory follows once it is committed. Pieces whose readings have changed since
 * they were computed stay marked.
 */
export function writeRollups(
  ledger: Ledger,
  pieces: readonly RollupPiece[],
  { coveredToUs, shapes }: ComputedRollups,
): void {
  const { rollups } = ledger
  const current = pieces.flatMap((piece, index) =>
    piece.fromUs < coveredToUs && isCurrent(ledger, piece) ? [{ piece, index }] : [],
  )
  if (current.length === 0) return
  const written = new Map(current.map(({ piece, index }) => [index, piece]))
  let computed = 0
  ledger.writeRollups((tables) => {
    for (const { piece } of current) {
      clearPiece(tables, ledger, { piece, coveredToUs })
      tables.replaceMarks(piece.id, marksLeft(piece, coveredToUs))
    }
    for (const { shape, points } of shapes) {
      const days = new Days(tables, shape)
      for (const { bucketUs, series, count, columns } of points) {
        const piece = written.get(series)
        if (!piece || bucketUs < piece.fromUs || bucketUs >= piece.toUs) continue
        // What may have expired in part is never asked for.
        if (bucketUs < firstKeptUs(ledger, piece.id)) continue
        days.set(piece.id, bucketUs, { count, columns })
        computed++
      }
      days.write()
    }
  })
  for (const { piece } of current) {
    const { id, rollup, mark, toUs } = piece
    rollup.marks.clear(mark, Math.min(toUs, coveredToUs))
    rollups.written(id)
  }
  rollups.computed += computed
}

/** The first half hour whose readings are all kept still. */
export function firstKeptUs(ledger: Ledger, id: string): number {
  return ceilTo(ledger.keptFromUs(id), rollupWidthUs)
}

function isCurrent({ rollups }: Ledger, { id, rollup, mark, touched }: RollupPiece): boolean {
  return rollups.streams.get(id) === rollup && rollup.marks.isUntouched(mark, touched)
}

interface CoveredPiece {
  readonly piece: RollupPiece
  readonly coveredToUs: number
}

function clearPiece(
  tables: RollupTables,
  { shapes }: Ledger,
  { piece: { id, fromUs, toUs }, coveredToUs }: CoveredPiece,
): void {
  const range = { fromUs, toUs: Math.min(toUs, coveredToUs) }
  for (const day of tables.days(id, range)) {
    const shape = shapes.get(day.shape)
    if (!shape) throw new Error(`the shape ${day.shape} of a rollup is not known`)
    const layout = new DayLayout(shape.columns)
    layout.clear(day.totals, day.dayUs, range)
    if (layout.isEmpty(day.totals)) tables.remove(id, day)
    else tables.write(id, day)
  }
}

function marksLeft({ rollup, mark, toUs }: RollupPiece, coveredToUs: number): WindowRange[] {
  return rollup.marks.all
    .map((one) => (one === mark ? { ...one, fromUs: Math.min(toUs, coveredToUs) } : one))
    .filter((one) => one.fromUs < one.toUs)
}

/** Days of one shape that are being filled. */
class Days {
  readonly #tables: RollupTables
  readonly #shape: Shape
  readonly #layout: DayLayout
  readonly #days = new Map<string, { id: string; startUs: number; totals: Float64Array }>()

  constructor(tables: RollupTables, shape: Shape) {
    this.#tables = tables
    this.#shape = shape
    this.#layout = new DayLayout(shape.columns)
  }

  set(id: string, atUs: number, halfHour: HalfHour): void {
    const startUs = floorTo(atUs, dayUs)
    const key = `${id} ${startUs}`
    let day = this.#days.get(key)
    if (!day) {
      const range = { fromUs: startUs, toUs: startUs + 1 }
      const [kept] = this.#tables.daysOfShape(id, this.#shape.id, range)
      day = { id, startUs, totals: kept?.totals ?? this.#layout.emptyDay() }
      this.#days.set(key, day)
    }
    this.#layout.set(day.totals, atUs, halfHour)
  }

  write(): void {
    for (const { id, startUs, totals } of this.#days.values()) {
      this.#tables.write(id, { shape: this.#shape.id, dayUs: startUs, totals })
    }
  }
}
