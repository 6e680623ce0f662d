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

/** What is known of the sequences of an account, once rows and ledger were compared. */
export interface Sequences {
  /** That of the next transaction. */
  readonly next: number
  /** Sequences below it that neither the ledger nor a row has: nothing after them could get in. */
  readonly holes: readonly number[]
}

/**
 * Compares what we have written down with what is on the ledger. Either may be ahead: a state that was restored is
 * older than its ledger, and a ledger that was restored is older than its state. What such a ledger has lost is opened again, to be sent
 * again.
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
    await desk.exchange({ network, account, signed: [], transactions, moved: [] })
  }
  const next = Math.max(onLedger, await work.nextSequence(account))
  const open = new Set(await work.openSequences(account, onLedger))
  const holes: number[] = []
  for (let sequence = onLedger; sequence < next; sequence++) {
    if (!open.has(sequence)) holes.push(sequence)
  }
  return { next, holes }
}
