import { MasterKey } from '../../src/access/auth/master-key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import type {
  Deed,
  Inclusion,
  IssuedAsset,
  Ledger,
  Sighting,
  SignedTransaction,
} from '../../src/ledgers/ledger.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { SandboxLedger } from '../../src/ledgers/sandbox/sandbox-ledger.ts'

/** One key for all, so that a ledger can be opened again. */
export const cipher = new MasterKey(Buffer.alloc(32, 7))

export async function openSandbox(folder: string): Promise<SandboxLedger> {
  return await SandboxLedger.open({ folder, cipher, clock: systemClock, batchWaitUs: 50_000 })
}

/** Something to be put on a ledger; what is not said is new. */
export async function deedOf(
  said: Partial<Pick<Deed, 'intentId' | 'kind' | 'leaves' | 'asset'>> = {},
): Promise<Deed> {
  const intentId = said.intentId ?? newId()
  const leaves = said.leaves ?? [{ intentId, cid: await rawCidOf(Buffer.from(intentId)) }]
  const { root } = MerkleTree.over(leaves.map(({ cid }) => cid))
  const kind = said.kind ?? 'root'
  const uri = `ipfs://${leaves[0]?.cid}`
  return {
    intentId,
    kind,
    root,
    leaves,
    ...(kind === 'nft' && { uri }),
    ...(kind === 'token' && { asset: said.asset ?? gold }),
  }
}

/** An asset as a deed has it. */
export const gold: IssuedAsset = {
  streamId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
  code: 'GOLD',
  amount: '21000000000000',
  precision: 6,
}

/** What is seen of a transaction once it is in a block for good. */
export async function includedOf(ledger: Ledger, hash: string): Promise<Inclusion> {
  for (;;) {
    const seen: Sighting = await ledger.sight(hash)
    if (seen.is === 'included' && seen.isFinal) return seen.inclusion
    if (seen.is !== 'pending' && seen.is !== 'included') throw new Error(`it is ${seen.is}`)
    await ledger.changed(AbortSignal.timeout(10_000))
  }
}

/** Signs it under the terms of now. */
export async function signedBy(
  ledger: Ledger,
  deed: Deed,
  sequence: number,
): Promise<SignedTransaction> {
  const prepared = await ledger.prepare(deed)
  if ('refused' in prepared) throw new Error(`it is refused: ${prepared.refused}`)
  return await ledger.sign(deed, sequence, prepared.terms)
}

/** Signs and sends it, and waits for its block. */
export async function putOn(ledger: Ledger, deed: Deed) {
  const transaction = await signedBy(ledger, deed, await ledger.nextSequence())
  const submission = await ledger.submit(transaction.blob)
  if (submission.is !== 'accepted') throw new Error(`it is ${submission.is}`)
  return { transaction, inclusion: await includedOf(ledger, transaction.hash) }
}
