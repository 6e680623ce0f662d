import type { FoundTransaction, Ledger } from '../../ledgers/ledger.ts'
import { batchIntents, batchLeavesMax, batchOf } from './deeds.ts'
import type { WaitingAnchor } from './open-work.ts'

/**
 * What a ledger has of anchors of which the state knows nothing, as it was restored: by their own intents, and where the ledger keeps no
 * leaves also by those of batches. Anchors go into batches in their order, so the first batch begins with the first that waits, and each
 * other one where the one before has ended: where that was follows from the intents that the ledger has. A batch is not found that has an
 * anchor which the state does not know, nor what comes after it.
 *
 * @param waiting in their order
 * @throws LedgerUnreachable
 */
export async function foundAnchors(
  ledger: Pick<Ledger, 'find'>,
  waiting: readonly WaitingAnchor[],
): Promise<ReadonlyMap<string, FoundTransaction>> {
  const ids = new Set<string>(waiting.map(({ id }) => id))
  let rest = waiting.filter(({ kind }) => kind === 'root')
  let intents = batchIntents(rest.slice(0, batchLeavesMax))
  // All at once: it may have to look through all that it has.
  let there = await ledger.find([...ids, ...intents])
  const found = new Map([...there].filter(([id]) => ids.has(id)))
  // It keeps leaves.
  if (rest.some(({ id }) => found.has(id))) return found
  for (;;) {
    const last = intents.findLastIndex((intentId) => there.has(intentId))
    const one = there.get(intents[last] ?? '')
    if (!one) return found
    const batch = rest.slice(0, last + 1)
    const { deed } = batchOf(batch)
    // Files that were uploaded anew are others: they are anchored as what they are now.
    if (deed.root !== one.deed.root) return found
    for (const { id } of batch) found.set(id, { ...one, deed })
    rest = rest.slice(last + 1)
    intents = batchIntents(rest.slice(0, batchLeavesMax))
    there = await ledger.find(intents)
  }
}
