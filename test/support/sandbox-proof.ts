import { type Deed, type Leaf } from '../../src/ledgers/ledger.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import { type Proof, proofOf } from '../../src/ledgers/proofs/proof.ts'
import { deedOf, openSandbox, putOn } from './sandbox-ledger.ts'

/** A file by its bytes, as a part of what is proven. */
export interface ProvenFile {
  readonly name: string
  readonly bytes: Uint8Array
}

interface Surroundings {
  readonly kind?: Deed['kind']
  /** CIDs before these in the transaction. */
  readonly others?: number
  /** Transactions before it, for the same block. */
  readonly beside?: number
}

export interface MadeProof {
  readonly proof: Proof
  /** Id of the key that blocks are signed with. */
  readonly keyId: string
}

/** Puts files on the sandbox of a folder, among others, and makes the proof of them. */
export async function sandboxProof(
  folder: string,
  files: readonly ProvenFile[],
  { kind = 'root', others = 0, beside = 0 }: Surroundings = {},
): Promise<MadeProof> {
  const parts = await Promise.all(
    files.map(async ({ name, bytes }, at) => ({
      name,
      cid: await rawCidOf(bytes),
      leaf: others + at,
    })),
  )
  const before = await Promise.all(
    Array.from({ length: others }, async (_, at) => await rawCidOf(Buffer.from(`other ${at}`))),
  )
  const leaves = [...before, ...parts.map(({ cid }) => cid)]
  const intended = leaves.map((cid, at): Leaf => ({ intentId: `intent ${at}`, cid }))
  const ledger = await openSandbox(folder)
  const next = await ledger.nextSequence()
  for (let at = 0; at < beside; at++) {
    await ledger.submit((await ledger.sign(await deedOf(), next + at)).blob)
  }
  const { transaction, inclusion } = await putOn(ledger, await deedOf({ kind, leaves: intended }))
  await ledger.close()
  const proof = proofOf({
    status: 'COMPLETED',
    isFinal: true,
    profile: 'unixfs-v1-2025',
    parts,
    leaves,
    ledger: 'XRPL',
    network: 'sandbox',
    transaction,
    inclusion,
  })
  return { proof, keyId: inclusion.signatures[0]?.keyId ?? '' }
}
