import type { Sighting } from '../../ledgers/ledger.ts'

/** What is seen of a transaction. */
export interface Sighted {
  readonly hash: string
  readonly seen: Sighting
}

/**
 * What is seen of all transactions under one sequence, of which one gets in at most: whichever is in a block counts, and
 * all together can never get in when none of them can.
 *
 * @param group newest first, with one at least: while none is in a block, the newest is the one that is to get in
 */
export function seenTogether(group: readonly [Sighted, ...Sighted[]]): Sighted {
  const [newest] = group
  const first = (is: Sighting['is']) => group.find(({ seen }) => seen.is === is)
  const decisive = first('included') ?? first('refused') ?? first('unreachable')
  if (decisive) return decisive
  if (newest.seen.is !== 'superseded') return newest
  // As long as one of before may get in, nothing is to be sent in its place.
  const open = group.some(({ seen }) => seen.is !== 'superseded')
  return open ? { ...newest, seen: { is: 'pending' } } : newest
}
