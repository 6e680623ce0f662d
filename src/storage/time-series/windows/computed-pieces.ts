import { firstWholeUs } from './due-windows.ts'
import type { KeptFromUs, KnownWindows } from './known-windows.ts'
import type { KnownResult } from './revisions.ts'
import type { WindowRange } from './window-starts.ts'
import type { ComputedPiece } from './window-store.ts'

/** Whether nothing has changed about the readings of a piece since, and none was too old to be kept. */
export function isCurrent(
  { streams }: KnownWindows,
  { piece }: ComputedPiece,
  keptFromUs: KeptFromUs,
): boolean {
  const { streamId, definition, fromUs, mark, touched } = piece
  const isUntouched = streams.get(streamId)?.marks.isUntouched(mark, touched)
  return isUntouched === true && fromUs >= firstWholeUs(definition, keptFromUs(streamId))
}

/** What was computed, as far as its results are known: at least one is. */
export function upTo(one: ComputedPiece, known: readonly KnownResult[]): ComputedPiece {
  const coveredToUs = Math.min(one.coveredToUs, (known.at(-1) as KnownResult).timestampUs)
  const windows = one.windows.filter(({ timestampUs }) => timestampUs < coveredToUs)
  return { ...one, coveredToUs, windows }
}

/** The marks that will be left of each stream when these pieces are done. */
export function marksLeft(
  { streams }: KnownWindows,
  computed: readonly ComputedPiece[],
): ReadonlyMap<string, readonly WindowRange[]> {
  const left = new Map<string, readonly WindowRange[]>()
  for (const [streamId, own] of Map.groupBy(computed, ({ piece }) => piece.streamId)) {
    const until = new Map(own.map((one) => [one.piece.mark, markedFromUs(one)]))
    const marks = streams.get(streamId)?.marks.all ?? []
    const ranges = marks.map((mark) => ({ ...mark, fromUs: until.get(mark) ?? mark.fromUs }))
    left.set(
      streamId,
      ranges.filter(({ fromUs, toUs }) => fromUs < toUs),
    )
  }
  return left
}

/** Takes away the marks of pieces that are done: to be called when their results are committed. */
export function clearMarks({ streams }: KnownWindows, computed: readonly ComputedPiece[]): void {
  for (const one of computed) {
    streams.get(one.piece.streamId)?.marks.clear(one.piece.mark, markedFromUs(one))
  }
}

/** Where the mark of a piece begins once the piece is done. */
function markedFromUs({ piece, coveredToUs }: ComputedPiece): number {
  return coveredToUs >= piece.toUs ? piece.mark.toUs : coveredToUs
}
