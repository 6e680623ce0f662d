import { canonicalJson } from '../../../core/canonical-json.ts'
import type { ComputedPiece, MarkedWindows, StoredWindow, WindowContent } from './window-store.ts'

/** What is to be written for a window. */
export interface WindowResult {
  readonly streamId: string
  readonly timestampUs: number
  readonly count: number
  readonly values: string
  readonly revision: number
}

/** A result that is stored, with its values as canonical JSON. */
export interface KnownResult extends WindowResult {}

export interface Revisions {
  /** Windows that had no result. */
  readonly added: readonly WindowResult[]
  /** Windows whose result is another one now. */
  readonly revised: readonly WindowResult[]
}

/**
 * What computed windows change about the results that there are. A window that has lost its readings
 * keeps a result with the count 0, so that it is told from one that never was, and what comes into it
 * later has a higher revision.
 */
export function revisionsOf(
  { piece, coveredToUs, windows }: ComputedPiece,
  known: readonly KnownResult[],
): Revisions {
  const { streamId } = piece
  const before = new Map(
    known
      .filter(({ timestampUs }) => isWindowOf({ ...piece, toUs: coveredToUs }, timestampUs))
      .map((result) => [result.timestampUs, result]),
  )
  const added: WindowResult[] = []
  const revised: WindowResult[] = []
  for (const { timestampUs, count, values: computed } of windows) {
    const values = canonicalJson(computed)
    const old = before.get(timestampUs)
    before.delete(timestampUs)
    if (!old) added.push({ streamId, timestampUs, count, values, revision: 1 })
    else if (old.count !== count || old.values !== values) {
      revised.push({ streamId, timestampUs, count, values, revision: old.revision + 1 })
    }
  }
  for (const { timestampUs, count, revision } of before.values()) {
    if (count === 0) continue
    revised.push({ streamId, timestampUs, count: 0, values: '{}', revision: revision + 1 })
  }
  return { added, revised }
}

/**
 * Whether a window of the piece begins there. The last one may reach over the first ones of the next
 * definition, which are none of it.
 */
export function isWindowOf(
  { fromUs, toUs, definition: { widthUs } }: MarkedWindows,
  timestampUs: number,
): boolean {
  return fromUs <= timestampUs && timestampUs < toUs && (timestampUs - fromUs) % widthUs === 0
}

/** Whether a result says what the window amounts to now. */
export function saysTheSame(stored: StoredWindow, content: WindowContent): boolean {
  return (
    stored.count === content.count && canonicalJson(stored.values) === canonicalJson(content.values)
  )
}
