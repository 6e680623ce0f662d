import type { Proof } from '../../ledgers/proofs/proof.ts'
import { sandbox } from '../intents/chosen-network.ts'

/** What a proof shows, for people: one sentence each. */
export function whatItShows({ final, block, network, signatures, status }: Proof): string[] {
  const [signature] = signatures
  if (!final || !block || !signature) {
    return [`Nothing yet: it is ${status}, and not on the ledger for good.`]
  }
  return [
    `Whatever hashes to this CID existed at ${block.time} at the latest.`,
    `The ${network} ledger says so in block ${block.height}, which is signed with the key ${signature.key_id}.`,
    'You need not believe this answer: the proof can be checked offline, with that key from where you trust it.',
  ]
}

/** What it does not show, whatever people may take it for. */
export function whatItDoesNotShow({ network }: Pick<Proof, 'network'>): string[] {
  return [
    'Who made it, or who has it.',
    'That what it says is true.',
    'That nobody else had it before.',
    ...(network === sandbox
      ? [
          'That anybody but who runs this service vouches for the time: the sandbox is a ledger of its own.',
        ]
      : []),
  ]
}
