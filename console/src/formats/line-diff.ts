/** A line of a comparison. */
export interface DiffLine {
  readonly is: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Changes that are looked for: with more, what is between is shown as replaced as a whole. */
const changesMax = 2_000

/** How one list of lines becomes the other, with as few changes as there can be (Myers, 1986). */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  const room = Math.min(before.length, after.length) - head
  while (tail < room && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const left = before.slice(head, before.length - tail)
  const right = after.slice(head, after.length - tail)
  return [
    ...before.slice(0, head).map(same),
    ...between(left, right),
    ...before.slice(before.length - tail).map(same),
  ]
}

/** Lines with a few around each change; where some are left out, how many. */
export type Excerpt = DiffLine | { readonly is: 'left-out'; readonly count: number }

export function excerptOf(lines: readonly DiffLine[], around = 3): readonly Excerpt[] {
  const isNear = new Uint8Array(lines.length)
  for (const [at, { is }] of lines.entries()) {
    if (is !== 'same') isNear.fill(1, Math.max(0, at - around), at + around + 1)
  }
  const shown: Excerpt[] = []
  let leftOut = 0
  const close = () => {
    if (leftOut > 0) shown.push({ is: 'left-out', count: leftOut })
    leftOut = 0
  }
  for (const [at, line] of lines.entries()) {
    if (isNear[at] === 0) {
      leftOut += 1
      continue
    }
    close()
    shown.push(line)
  }
  close()
  return shown
}

const same = (text: string): DiffLine => ({ is: 'same', text })
const gone = (text: string): DiffLine => ({ is: 'gone', text })
const added = (text: string): DiffLine => ({ is: 'new', text })

function between(left: readonly string[], right: readonly string[]): readonly DiffLine[] {
  const furthest = furthestReaching(left, right)
  if (furthest === undefined) return [...left.map(gone), ...right.map(added)]
  return wayBack(left, right, furthest)
}

/** How far each diagonal reaches, after each number of changes; undefined when there are too many. */
function furthestReaching(
  left: readonly string[],
  right: readonly string[],
): readonly Int32Array[] | undefined {
  const max = Math.min(left.length + right.length, changesMax)
  const middle = max + 1
  const reach = new Int32Array(2 * max + 3)
  const history: Int32Array[] = []
  for (let changes = 0; changes <= max; changes++) {
    // As far as this round and the ones before it have come: the rest is still zero.
    history.push(reach.slice(middle - changes - 1, middle + changes + 2))
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const below = reach[middle + diagonal - 1] ?? 0
      const above = reach[middle + diagonal + 1] ?? 0
      const isDown = diagonal === -changes || (diagonal !== changes && below < above)
      let x = isDown ? above : below + 1
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x++
      reach[middle + diagonal] = x
      if (x >= left.length && x - diagonal >= right.length) return history
    }
  }
  return undefined
}

function wayBack(
  left: readonly string[],
  right: readonly string[],
  history: readonly Int32Array[],
): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let x = left.length
  let y = right.length
  for (let changes = history.length - 1; changes > 0; changes--) {
    const reach = history[changes] as Int32Array
    const at = (diagonal: number) => reach[diagonal + changes + 1] ?? 0
    const diagonal = x - y
    const isDown =
      diagonal === -changes || (diagonal !== changes && at(diagonal - 1) < at(diagonal + 1))
    const from = isDown ? diagonal + 1 : diagonal - 1
    const fromX = at(from)
    const fromY = fromX - from
    const afterX = isDown ? fromX : fromX + 1
    while (x > afterX) lines.push(same(left[(x -= 1)] as string))
    lines.push(isDown ? added(right[fromY] as string) : gone(left[fromX] as string))
    x = fromX
    y = fromY
  }
  while (x > 0) lines.push(same(left[(x -= 1)] as string))
  return lines.toReversed()
}
