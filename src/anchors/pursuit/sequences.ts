import type { Ledger } from '../../ledgers/ledger.ts'
import type { AnchorDesk } from './desk.ts'
import type { OpenWork } from './open-work.ts'

/** Transactions that are put on a ledger again in one go. */
const reopenedMax = 1_000

export interface SequenceNeeds {
  readonly network: string
  readonly work: OpenWork
  readonly desk: AnchorDesk
}

/** Where nothing is known. */
export const noFacts = {
  txHash: '',
  account: '',
  distributionWallet: '',
  mapping: '',
  tokenId: '',
}

/**
 * Has what was signed by other accounts signed anew: for a ledger of our own whose folder was lost, and which was begun anew
 * with other keys, so that nothing of theirs can ever get in. Resolves with how many transactions that were.
 */
export async function abandonOtherAccounts(
  { network, work, desk }: SequenceNeeds,
  { account }: Pick<Ledger, 'account'>,
): Promise<number> {
  let abandoned = 0
  for (;;) {
    const hashes = await work.openOfOthers(account, reopenedMax)
    if (hashes.length === 0) return abandoned
    abandoned += hashes.length
    await desk.exchange({
      network,
      account,
      signed: [],
      transactions: hashes.map((hash) => ({ hash, to: 'dead' })),
      moved: hashes.map((transactionHash) => ({
        of: { transactionHash },
        from: ['signed', 'submitted', 'included'],
        to: 'waiting',
        statuses: [],
        facts: noFacts,
        failure: undefined,
      })),
    })
  }
}

/** What is known of the sequences of an account, once rows and ledger were compared. */
export interface Sequences {
  /** That of the next transaction. */
  readonly next: number
  /** Sequences below it that neither the ledger nor a row has, in order: nothing that comes after them could get in. */
  readonly free: readonly number[]
}

/**
 * Compares what we have written down with what is on the ledger. Either may be ahead: a state that was restored is
 * older than its ledger, and a ledger that was restored is older than its state. What such a ledger has lost is opened again, to be sent
 * again. Who signs for the account by hand has taken sequences that no row has.
 *
 * @throws LedgerUnreachable
 */
export async function compareSequences(
  { network, work, desk }: SequenceNeeds,
  ledger: Ledger,
): Promise<Sequences> {
  const { account } = ledger
  const onLedger = await ledger.nextSequence()
  for (;;) {
    const lost = await work.finalFrom(account, onLedger, reopenedMax)
    if (lost.length === 0) break
    const transactions = lost.map((hash) => ({ hash, to: 'open' }) as const)
    const { heights } = ledger
    await desk.exchange({ network, account, signed: [], transactions, moved: [], heights })
  }
  const open = await work.openSequences(account, onLedger)
  const next = Math.max(onLedger, (open.at(-1) ?? 0) + 1)
  const taken = new Set(open)
  const free: number[] = []
  for (let sequence = onLedger; sequence < next; sequence++) {
    if (!taken.has(sequence)) free.push(sequence)
  }
  return { next, free }
}
