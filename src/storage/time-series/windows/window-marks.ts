import { gapsOf, united, type WindowRange } from './window-starts.ts'
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

/** What was touched last: `touched` of a mark is never greater. */
export function lastTouch(): number {
  return touches
}

/** The windows of one stream that have to be computed: disjoint stretches, in ascending time. */
export class WindowMarks {
  #marks: Mark[]

  constructor(ranges: readonly WindowRange[] = []) {
    this.#marks = united(ranges).map((range) => ({ ...range, touched: ++touches }))
  }

  get count(): number {
    return this.#marks.length
  }

  get all(): readonly WindowMark[] {
    return this.#marks
  }

  /** The parts of these windows that are not marked. */
  unmarked(ranges: readonly WindowRange[]): readonly WindowRange[] {
    if (this.#marks.length === 0) return ranges
    return ranges.flatMap((range) => gapsOf(range, this.#marks))
  }

  /**
   * These windows, and those between marks that have to be marked with them, so that there are not too many
   * marks: what is written down is what is marked, or a crash would forget the rest.
   */
  filled(ranges: readonly WindowRange[]): readonly WindowRange[] {
    const tooMany = this.#marks.length + ranges.length - marksMax
    if (tooMany <= 0) return ranges
    const added = ranges.flatMap((range): Mark[] =>
      gapsOf(range, this.#marks).map((gap) => ({ ...gap, touched: 0 })),
    )
    const all = [...this.#marks, ...added].sort((left, right) => left.fromUs - right.fromUs)
    const gaps = neighbours(all).map(([left, right]) => ({ fromUs: left.toUs, toUs: right.fromUs }))
    const narrowest = gaps.sort(
      (left, right) => left.toUs - left.fromUs - (right.toUs - right.fromUs),
    )
    const filling = narrowest.slice(0, Math.max(0, all.length - marksMax))
    return united([...ranges, ...filling.filter(({ fromUs, toUs }) => fromUs < toUs)])
  }

  /**
   * Marks windows, and notes that something has changed about those that were marked already.
   *
   * @param ranges of which {@link filled} has nothing to say any more
   */
  touch(ranges: readonly WindowRange[]): void {
    touches++
    for (const range of ranges) {
      const gaps = gapsOf(range, this.#marks)
      for (const mark of this.#marks) {
        if (mark.fromUs < range.toUs && mark.toUs > range.fromUs) mark.touched = touches
      }
      for (const gap of gaps) this.#insert({ ...gap, touched: touches })
    }
    if (this.#marks.length > marksMax) this.#join()
  }

  /** Makes [fromUs, toUs), which lies within one mark, a mark of its own. @throws Error when there is no such mark */
  split(mark: WindowMark, fromUs: number, toUs: number): WindowMark {
    const at = this.#placeOf(mark)
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

  /** What was split off is not computed after all: it is a mark like any other again. */
  release(mark: WindowMark): void {
    const own = this.#marks.find((one) => one === mark)
    if (own) delete own.isTaken
  }

  /** Takes away what a mark has before an instant. @throws Error when there is no such mark */
  clear(mark: WindowMark, untilUs: number): void {
    const at = this.#placeOf(mark)
    if (untilUs >= mark.toUs) this.#marks.splice(at, 1)
    else (this.#marks[at] as Mark).fromUs = untilUs
  }

  #placeOf(mark: WindowMark): number {
    const at = this.#marks.indexOf(mark)
    if (at < 0) throw new Error('a mark is computed that does not exist any more')
    return at
  }

  #insert(mark: Mark): void {
    let at = this.#marks.length
    while (at > 0 && (this.#marks[at - 1] as Mark).fromUs > mark.fromUs) at--
    this.#marks.splice(at, 0, mark)
  }

  /** Makes one of those that touch each other. */
  #join(): void {
    const gone = new Set<Mark>()
    const into = new Map<Mark, Mark>()
    for (const [left, right] of neighbours(this.#marks)) {
      if (left.toUs < right.fromUs) continue
      const first = into.get(left) ?? { ...left, touched: ++touches }
      first.toUs = right.toUs
      into.set(right, first)
      gone.add(left)
    }
    this.#marks = this.#marks
      .filter((mark) => !gone.has(mark))
      .map((mark) => into.get(mark) ?? mark)
  }
}

/** Marks next to each other that may become one. */
function neighbours(marks: readonly Mark[]): readonly (readonly [Mark, Mark])[] {
  return marks.slice(0, Math.max(0, marks.length - newestKept - 1)).flatMap((left, at) => {
    const right = marks[at + 1]
    return right && !left.isTaken && !right.isTaken ? [[left, right] as const] : []
  })
}
