import { WindowMarks } from './window-marks.ts'
import {
  TouchedWindows,
  takesOverUs,
  type WindowRange,
  type WindowSegment,
} from './window-starts.ts'
import type { WindowDefinition, WindowVersion } from './window-store.ts'

/** What is known of the windows of one stream, in memory; a store keeps the same. */
export class StreamWindows {
  #segments: readonly WindowSegment[]
  readonly marks: WindowMarks

  constructor(segments: readonly WindowSegment[] = [], marked: readonly WindowRange[] = []) {
    this.#segments = segments
    this.marks = new WindowMarks(marked)
  }

  get segments(): readonly WindowSegment[] {
    return this.#segments
  }

  /** The segments after a version has said something new; the same ones when it has not. */
  segmentsWith({ version, definition }: WindowVersion, newestUs: number): readonly WindowSegment[] {
    return withVersion(this.#segments, { version, definition }, newestUs)
  }

  /** Adopts what was stored. */
  adopt(segments: readonly WindowSegment[]): void {
    this.#segments = segments
  }

  /** Where the readings begin that marked windows are made of; nothing where none is marked. */
  neededFromUs(): number | undefined {
    const [first] = this.marks.all
    if (!first) return undefined
    const holds = this.#segments.map(({ definition }) => definition?.holdUs ?? 0)
    return first.fromUs - Math.max(0, ...holds)
  }

  /** What a removal of the readings in [startUs, endUs) changes. */
  touchedBy(startUs: number, endUs: number): readonly WindowRange[] {
    const touched = new TouchedWindows(this.#segments)
    touched.addBetween(startUs, endUs)
    return touched.ranges()
  }
}

/**
 * The segments of a stream after a version: what it says holds from the first of its windows on
 * that begins behind everything that was there before (decisions.md#windows), and what the first
 * one says for all of time. What an older version says is history.
 */
function withVersion(
  segments: readonly WindowSegment[],
  { version, definition }: WindowVersion,
  newestUs: number,
): readonly WindowSegment[] {
  const last = segments.at(-1)
  if (last === undefined && definition === undefined) return segments
  if (last !== undefined && version <= last.version) return segments
  if (last !== undefined && isSame(last.definition, definition)) return segments
  if (last === undefined) return [{ version, fromUs: 0, definition }]
  const behindUs = definition ? takesOverUs(definition, newestUs) : newestUs + 1
  const fromUs = Math.max(behindUs, last.fromUs)
  // A segment that would have no window is left out.
  const before = last.fromUs === fromUs ? segments.slice(0, -1) : segments
  return [...before, { version, fromUs, definition }]
}

function isSame(left: WindowDefinition | undefined, right: WindowDefinition | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
