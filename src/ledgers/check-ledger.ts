import { monotonicMs } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import {
  type Deed,
  type Inclusion,
  type Ledger,
  LedgerUnreachable,
  type Sighting,
  type SignedTransaction,
  type Submission,
} from './ledger.ts'
import { leafHash } from './merkle/merkle.ts'

/** Until a ledger that has nothing new is asked again. */
const lookMsMax = 10_000

export interface CheckedLedger {
  readonly transaction: SignedTransaction
  readonly inclusion: Inclusion
  /** From the first question until it was there for good, in microseconds. */
  readonly tookUs: number
}

/**
 * Puts a root on a ledger that is for nothing, and follows it until it is there for good. A service may use the same account meanwhile: who
 * loses a sequence takes the next one.
 *
 * @param onStep hears what was reached: a sentence
 * @throws LedgerUnreachable when it cannot be asked before anything is signed, refuses it, or the signal is aborted before the end
 */
export async function checkLedger(
  ledger: Ledger,
  onStep: (step: string) => void,
  signal: AbortSignal,
): Promise<CheckedLedger> {
  const beganMs = monotonicMs()
  const intentId = newId()
  const root = leafHash(`a check of ${ledger.network} by ${intentId}`).toString('hex')
  const deed: Deed = { intentId, kind: 'root', root, leaves: [] }
  for (;;) {
    const transaction = await signedNow(ledger, deed)
    onStep(`signed: ${transaction.hash} of ${ledger.account}, number ${transaction.sequence}`)
    const inclusion = await followed(ledger, transaction, onStep, signal)
    if (inclusion) {
      return { transaction, inclusion, tookUs: Math.round((monotonicMs() - beganMs) * 1_000) }
    }
    onStep('another transaction has its number: it is signed under the next one')
  }
}

async function signedNow(ledger: Ledger, deed: Deed): Promise<SignedTransaction> {
  const prepared = await ledger.prepare(deed)
  if ('refused' in prepared) throw new LedgerUnreachable(prepared.refused)
  return await ledger.sign(deed, await ledger.nextSequence(), prepared.terms)
}

/** Undefined where it can never get in. */
async function followed(
  ledger: Ledger,
  { blob, hash }: SignedTransaction,
  onStep: (step: string) => void,
  signal: AbortSignal,
): Promise<Inclusion | undefined> {
  let told = ''
  const tell = (step: string) => {
    if (step !== told) onStep(step)
    told = step
  }
  while (!signal.aborted) {
    const said = await saidOf(ledger, blob, hash)
    if (said.is === 'included') {
      tell(`included: in block ${said.inclusion.height}`)
      if (said.isFinal) return said.inclusion
    }
    if (said.is === 'accepted' || said.is === 'pending') tell('sent: it waits for a block')
    if (said.is === 'early') tell('early: others of the account come first')
    if (said.is === 'superseded') return undefined
    if (said.is === 'unreachable') tell(said.reason)
    if (said.is === 'refused') throw new LedgerUnreachable(said.reason)
    await ledger.changed(AbortSignal.any([signal, AbortSignal.timeout(lookMsMax)]))
  }
  throw new LedgerUnreachable(`it is not known what happens to ${hash}`)
}

/** Looks for it, and sends it where it is not known. */
async function saidOf(ledger: Ledger, blob: string, hash: string): Promise<Sighting | Submission> {
  try {
    const seen = await ledger.sight(hash)
    return seen.is === 'unknown' || seen.is === 'early' ? await ledger.submit(blob) : seen
  } catch (error) {
    if (!(error instanceof LedgerUnreachable)) throw error
    return { is: 'unreachable', reason: error.message }
  }
}
