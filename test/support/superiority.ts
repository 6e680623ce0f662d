/**
 * The share of pairs in which the value of the first sample is the larger one, ties counting half:
 * the Mann-Whitney U statistic over its maximum. 0.5 when both come from one distribution.
 */
export function superiority(first: readonly number[], second: readonly number[]): number {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].toSorted((left, right) => left.value - right.value)
  let rankSum = 0
  for (let from = 0; from < all.length; ) {
    let until = from
    while (until < all.length && all[until]?.value === all[from]?.value) until++
    // Equal values share the mean of their ranks, which count from 1.
    const rank = (from + 1 + until) / 2
    for (const { isFirst } of all.slice(from, until)) if (isFirst) rankSum += rank
    from = until
  }
  const u = rankSum - (first.length * (first.length + 1)) / 2
  return u / (first.length * second.length)
}
