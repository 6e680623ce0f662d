import type { WindowDefinition } from './window-store.ts'

/**
 * From `fromUs` on, windows begin as a definition says, until the next one takes over. What a stream had
 * before its first definition is cut into no windows.
 */
export interface WindowSegment {
  readonly version: number
  readonly fromUs: number
  readonly definition: WindowDefinition | undefined
}

/** The windows that begin in [fromUs, toUs). */
export interface WindowRange {
  readonly fromUs: number
  readonly toUs: number
}

/**
 * How many are brought together on the way: readings in no order may touch the same windows again
 * and again.
 */
const rangesUnited = 1_024

/** Where the windows of a definition take over, when readings up to `newestUs` were there before. */
export function takesOverUs({ widthUs }: WindowDefinition, newestUs: number): number {
  return newestUs < 0 ? 0 : floorTo(newestUs, widthUs) + widthUs
}

/** Where the windows of a segment end to begin: where the next one takes over. */
export function segmentEndUs(segments: readonly WindowSegment[], index: number): number {
  return segments[index + 1]?.fromUs ?? Number.POSITIVE_INFINITY
}

/**
 * Collects the windows that readings belong to, or count for. Each segment has whole windows, so the
 * last one before a change may overlap those behind it.
 */
export class TouchedWindows {
  readonly #segments: readonly WindowSegment[]
  #ranges: WindowRange[] = []
  #uniteAt = rangesUnited
  /** Readings in [from, to) touch what the one before has touched. */
  #sameFromUs = 0
  #sameToUs = 0

  constructor(segments: readonly WindowSegment[]) {
    this.#segments = segments
  }

  add(timestampUs: number): void {
    if (timestampUs >= this.#sameFromUs && timestampUs < this.#sameToUs) return
    this.#sameFromUs = 0
    this.#sameToUs = Number.POSITIVE_INFINITY
    for (const { definition } of this.#segments) {
      if (!definition) continue
      const startUs = floorTo(timestampUs, definition.widthUs)
      this.#sameFromUs = Math.max(this.#sameFromUs, startUs)
      this.#sameToUs = Math.min(this.#sameToUs, startUs + definition.widthUs)
    }
    this.addBetween(timestampUs, timestampUs + 1)
  }

  /** Adds what readings in [fromUs, toUs) may count for. */
  addBetween(fromUs: number, toUs: number): void {
    for (const [index, { fromUs: segmentUs, definition }] of this.#segments.entries()) {
      if (!definition || toUs <= fromUs) continue
      const { widthUs, holdUs = 0 } = definition
      const firstUs = floorTo(fromUs, widthUs)
      const lastUs = floorTo(toUs - 1, widthUs)
      // What holds on counts for windows that begin later, too.
      const endUs = lastUs + widthUs + Math.ceil(holdUs / widthUs) * widthUs
      const range = {
        fromUs: Math.max(firstUs, segmentUs),
        toUs: Math.min(endUs, segmentEndUs(this.#segments, index)),
      }
      if (range.fromUs < range.toUs) this.#ranges.push(range)
    }
    if (this.#ranges.length < this.#uniteAt) return
    this.#ranges = [...united(this.#ranges)]
    this.#uniteAt = Math.max(rangesUnited, this.#ranges.length * 2)
  }

  /** In order, and disjoint. */
  ranges(): readonly WindowRange[] {
    return united(this.#ranges)
  }
}

/** Puts windows in order, with those that touch each other in one. */
export function united(ranges: readonly WindowRange[]): readonly WindowRange[] {
  if (ranges.length < 2) return ranges
  const result: WindowRange[] = []
  for (const range of ranges.toSorted((left, right) => left.fromUs - right.fromUs)) {
    const last = result.at(-1)
    if (last === undefined || range.fromUs > last.toUs) result.push(range)
    else if (range.toUs > last.toUs) result[result.length - 1] = { ...last, toUs: range.toUs }
  }
  return result
}

/** The parts of a range that none of the others covers. They are disjoint, and in order. */
export function gapsOf(
  { fromUs, toUs }: WindowRange,
  covering: Iterable<WindowRange>,
): readonly WindowRange[] {
  const gaps: WindowRange[] = []
  let atUs = fromUs
  for (const range of covering) {
    if (range.toUs <= atUs) continue
    if (range.fromUs >= toUs) break
    if (range.fromUs > atUs) gaps.push({ fromUs: atUs, toUs: range.fromUs })
    atUs = range.toUs
  }
  if (atUs < toUs) gaps.push({ fromUs: atUs, toUs })
  return gaps
}

export function floorTo(instantUs: number, widthUs: number): number {
  return Math.floor(instantUs / widthUs) * widthUs
}

export function ceilTo(instantUs: number, widthUs: number): number {
  return Math.ceil(instantUs / widthUs) * widthUs
}
