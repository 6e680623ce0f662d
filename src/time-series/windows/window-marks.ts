import { united, type WindowRange } from './window-starts.ts'
import type { WindowMark } from './window-store.ts'

/**
 * Marks of one stream. Of more than these, those that are next to each other become one: it then stands
 * for windows between them, too, which are computed in vain, and nothing else.
 */
const marksMax = 32

/** The newest marks are left as they are: theirs are the windows that live readings fall into. */
const newestKept = 4

interface Mark extends WindowMark {
  fromUs: number
  toUs: number
  touched: number
  /** Whether it was made to be computed: were it united with another one, that would be in vain. */
  isTaken?: true
}

let touches = 0

/** The windows of one stream that have to be computed: disjoint stretches, in ascending time. */
export class WindowMarks {
  #marks: Mark[]

  constructor(ranges: readonly WindowRange[] = []) {
    this.#marks = united(ranges).map((range) => ({ ...range, touched: ++touches }))
    this.#limit()
  }

  get count(): number {
    return this.#marks.length
  }

  get all(): readonly WindowMark[] {
    return this.#marks
  }

  /** What of these windows is not marked. */
  unmarked(ranges: readonly WindowRange[]): readonly WindowRange[] {
    if (this.#marks.length === 0) return ranges
    return ranges.flatMap((range) => this.#gaps(range))
  }

  /** Marks windows, and notes that something has changed about those that were marked already. */
  touch(ranges: readonly WindowRange[]): void {
    touches++
    for (const range of ranges) {
      const gaps = this.#gaps(range)
      for (const mark of this.#marks) {
        if (mark.fromUs < range.toUs && mark.toUs > range.fromUs) mark.touched = touches
      }
      for (const gap of gaps) this.#insert({ ...gap, touched: touches })
    }
    this.#limit()
  }

  /** Makes [fromUs, toUs), which lies within one mark, a mark of its own. */
  split(mark: WindowMark, fromUs: number, toUs: number): WindowMark {
    const at = this.#marks.indexOf(mark)
    const { touched } = mark
    const part: Mark = { fromUs, toUs, touched, isTaken: true }
    const parts = [
      { fromUs: mark.fromUs, toUs: fromUs, touched },
      part,
      { fromUs: toUs, toUs: mark.toUs, touched },
    ]
    this.#marks.splice(at, 1, ...parts.filter((one) => one.fromUs < one.toUs))
    return part
  }

  /** Whether a mark is still there, and nothing has happened to its windows since. */
  isUntouched(mark: WindowMark, touched: number): boolean {
    return mark.touched === touched && this.#marks.includes(mark)
  }

  /** Takes away what a mark has before an instant. */
  settle(mark: WindowMark, untilUs: number): void {
    const at = this.#marks.indexOf(mark)
    if (untilUs >= mark.toUs) this.#marks.splice(at, 1)
    else (this.#marks[at] as Mark).fromUs = untilUs
  }

  #gaps({ fromUs, toUs }: WindowRange): WindowRange[] {
    const gaps: WindowRange[] = []
    let atUs = fromUs
    for (const mark of this.#marks) {
      if (mark.toUs <= atUs) continue
      if (mark.fromUs >= toUs) break
      if (mark.fromUs > atUs) gaps.push({ fromUs: atUs, toUs: mark.fromUs })
      atUs = mark.toUs
    }
    if (atUs < toUs) gaps.push({ fromUs: atUs, toUs })
    return gaps
  }

  #insert(mark: Mark): void {
    let at = this.#marks.length
    while (at > 0 && (this.#marks[at - 1] as Mark).fromUs > mark.fromUs) at--
    this.#marks.splice(at, 0, mark)
  }

  /** Of two neighbours, those with the fewest windows between them become one first. */
  #limit(): void {
    while (this.#marks.length > marksMax) {
      let nearest = -1
      let leastUs = Number.POSITIVE_INFINITY
      for (let at = 0; at + 1 < this.#marks.length - newestKept; at++) {
        const [left, right] = [this.#marks[at] as Mark, this.#marks[at + 1] as Mark]
        const gapUs = right.fromUs - left.toUs
        if (!left.isTaken && !right.isTaken && gapUs < leastUs) [nearest, leastUs] = [at, gapUs]
      }
      if (nearest < 0) return
      const [left, right] = this.#marks.splice(nearest, 2) as [Mark, Mark]
      const both = { fromUs: left.fromUs, toUs: right.toUs, touched: ++touches }
      this.#marks.splice(nearest, 0, both)
    }
  }
}
