import type { Proof } from '../../ledgers/proofs/proof.ts'
import { sandbox } from '../intents/chosen-network.ts'

/** What a proof shows, for people: one sentence each. */
export function whatItShows({ final, block, network, signatures, status }: Proof): string[] {
  const [signature] = signatures
  if (!final || !block || !signature) {
    return [`Nothing yet: it is ${status}, and not final on the ledger.`]
  }
  return [
    `The content with this CID existed at ${block.time} at the latest.`,
    `The ${network} ledger says so in block ${block.height}, which is signed with the key ${signature.key_id}.`,
    'You need not trust this answer: the proof can be checked offline, with that key from a place that you trust.',
  ]
}

/** What it does not show, whatever people may take it for. */
export function whatItDoesNotShow({ network }: Pick<Proof, 'network'>): string[] {
  return [
    'Who made it, or who has it.',
    'That what it says is true.',
    'That no one else had it before.',
    ...(network === sandbox
      ? [
          'That anyone but the operator of this service vouches for the time: the sandbox is a ledger of its own.',
        ]
      : []),
  ]
}
