import type { FoundTransaction, Ledger } from '../../ledgers/ledger.ts'
import { batchIntents, batchLeavesMax, batchOf } from './deeds.ts'
import type { WaitingAnchor } from './open-work.ts'

/**
 * Batches that are on a ledger which keeps their roots alone, by the anchors that each is of; a state that was restored knows nothing of
 * them. Anchors go into batches in their order, so the first batch begins with the first that waits, and each other one where the one before
 * has ended: where that was follows from the intents that the ledger has. A batch is not found that has an anchor which the state does
 * not know, as its intent cannot be told, nor is what comes after it.
 *
 * @param waiting of which nothing was found by their own intents, in their order
 * @throws LedgerUnreachable
 */
export async function foundBatches(
  ledger: Pick<Ledger, 'find'>,
  waiting: readonly WaitingAnchor[],
): Promise<ReadonlyMap<string, FoundTransaction>> {
  const found = new Map<string, FoundTransaction>()
  let rest = waiting.filter(({ kind }) => kind === 'root')
  while (rest.length > 0) {
    const intents = batchIntents(rest.slice(0, batchLeavesMax))
    const there = await ledger.find(intents)
    const last = intents.findLastIndex((intentId) => there.has(intentId))
    const one = there.get(intents[last] ?? '')
    if (!one) break
    const { deed } = batchOf(rest.slice(0, last + 1))
    // Files that were uploaded anew are others: they are anchored as what they are now.
    if (deed.root !== one.deed.root) break
    for (const { id } of rest.slice(0, last + 1)) found.set(id, { ...one, deed })
    rest = rest.slice(last + 1)
  }
  return found
}
