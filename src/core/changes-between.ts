/** How many letters to add, to take away, to replace or to swap with their neighbour (Damerau and Levenshtein). */
export function changesBetween(from: string, to: string): number {
  let before: readonly number[] = []
  let above: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const costs = [
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwapped && row > 1 && column > 1 ? [(before[column - 2] ?? 0) + 1] : []),
      ]
      current.push(Math.min(...costs))
    }
    before = above
    above = current
  }
  return above[to.length] ?? 0
}
