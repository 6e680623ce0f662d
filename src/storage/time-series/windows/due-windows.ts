import type { StreamWindows } from './stream-windows.ts'
import { ceilTo, floorTo, segmentEndUs, type WindowRange } from './window-starts.ts'
import type { MarkedWindows, WindowDefinition, WindowMark, WindowPiece } from './window-store.ts'

/** A stream whose windows are asked for. */
export interface WindowedStream {
  readonly streamId: string
  readonly windows: StreamWindows
  /** The time from which on everything is kept: see {@link firstWholeUs}. */
  readonly keptFromUs: number
  /** Marks before it are left as they are. */
  readonly dueFromUs: number
}

/** A part of a mark that lies in one segment, and what its windows are. */
interface Part {
  readonly mark: WindowMark
  /** Where the mark begins and ends. */
  readonly markFromUs: number
  readonly markToUs: number
  /** The first window, and the end of the last one; nothing where no windows can be computed. */
  readonly windows:
    | { readonly definition: WindowDefinition; readonly fromUs: number; readonly toUs: number }
    | undefined
}

/**
 * Marked windows that ended by `closedBeforeUs`, in ascending time for each stream: about `windowsMax`,
 * or one piece alone, however long it is. Each piece has a mark of its own then. Marks for which there is
 * nothing to compute are taken away.
 */
export function dueWindows(
  streams: Iterable<WindowedStream>,
  closedBeforeUs: number,
  windowsMax: number,
): readonly WindowPiece[] {
  const pieces: WindowPiece[] = []
  let left = windowsMax
  for (const stream of streams) {
    const { streamId, windows } = stream
    for (const part of partsOf(stream)) {
      if (!part.windows) clearPart(windows, part)
      const closed = closedPart(part, closedBeforeUs)
      if (!closed) continue
      const { definition } = closed
      const count = (closed.toUs - closed.fromUs) / definition.widthUs
      if (count > left && pieces.length > 0) return pieces
      left -= count
      const mark = splitPart(windows, part, closed.markToUs)
      const { fromUs, toUs } = closed
      pieces.push({ streamId, definition, fromUs, toUs, mark, touched: mark.touched })
      if (left <= 0) return pieces
    }
  }
  return pieces
}

/** Marked windows of a stream that begin in [startUs, endUs). */
export function* markedWindows(
  stream: WindowedStream,
  { startUs, endUs }: { readonly startUs: number; readonly endUs: number },
): Generator<MarkedWindows> {
  const { streamId } = stream
  for (const { windows: found } of partsOf(stream)) {
    if (!found) continue
    const { definition } = found
    const fromUs = Math.max(found.fromUs, ceilTo(startUs, definition.widthUs))
    const toUs = Math.min(found.toUs, ceilTo(endUs, definition.widthUs))
    if (fromUs < toUs) yield { streamId, definition, fromUs, toUs }
  }
}

function* partsOf({ windows, keptFromUs, dueFromUs }: WindowedStream): Generator<Part> {
  const { segments, marks } = windows
  // Marks are split while their parts are gone through.
  for (const mark of marks.all.slice()) {
    for (const [index, { fromUs, definition }] of segments.entries()) {
      const markFromUs = Math.max(mark.fromUs, fromUs, dueFromUs)
      const markToUs = Math.min(mark.toUs, segmentEndUs(segments, index))
      if (markFromUs >= markToUs) continue
      const range = { fromUs: markFromUs, toUs: markToUs }
      yield { mark, markFromUs, markToUs, windows: windowsOf(definition, range, keptFromUs) }
    }
  }
}

function windowsOf(
  definition: WindowDefinition | undefined,
  range: WindowRange,
  keptFromUs: number,
): Part['windows'] {
  if (!definition) return undefined
  const { widthUs } = definition
  const wholeFromUs = firstWholeUs(definition, keptFromUs)
  const fromUs = Math.max(ceilTo(range.fromUs, widthUs), wholeFromUs)
  const toUs = ceilTo(range.toUs, widthUs)
  return fromUs < toUs ? { definition, fromUs, toUs } : undefined
}

/**
 * The first window whose readings are all kept still. Results of those before it stay as they are: what is
 * left of their readings does not tell any more.
 */
export function firstWholeUs(
  { widthUs, holdUs = 0 }: WindowDefinition,
  keptFromUs: number,
): number {
  return keptFromUs === 0 ? 0 : ceilTo(keptFromUs + holdUs, widthUs)
}

/** The windows that have ended, and where the mark of their own ends. */
function closedPart({ windows, markToUs }: Part, closedBeforeUs: number) {
  if (!windows) return undefined
  const { definition, fromUs, toUs } = windows
  const closedToUs = Math.min(toUs, floorTo(closedBeforeUs, definition.widthUs))
  if (closedToUs <= fromUs) return undefined
  return { definition, fromUs, toUs: closedToUs, markToUs: Math.min(closedToUs, markToUs) }
}

function splitPart({ marks }: StreamWindows, part: Part, markToUs: number): WindowMark {
  const mark = markWith(marks.all, part)
  return marks.split(mark, part.markFromUs, markToUs)
}

function clearPart(windows: StreamWindows, part: Part): void {
  const mark = splitPart(windows, part, part.markToUs)
  windows.marks.clear(mark, mark.toUs)
}

/** A mark may have been split since the parts were listed: the one that holds the part now. */
function markWith(marks: readonly WindowMark[], { mark, markFromUs }: Part): WindowMark {
  return marks.find(({ fromUs, toUs }) => fromUs <= markFromUs && markFromUs < toUs) ?? mark
}
