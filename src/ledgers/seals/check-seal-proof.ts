import { leafHash, type MerklePath, rootBy } from '../merkle/merkle.ts'
import { checkProof, type Verdict } from '../proofs/check-proof.ts'
import { rawCidOf } from '../proofs/content-id.ts'
import { Contradiction } from '../proofs/exact-members.ts'
import { isObject } from '../proofs/transaction-text.ts'
import { type ParsedSealProof, parseSealProof } from './parse-receipt.ts'
import { parseBatchText, parseSealText, type SealContent } from './seal-text.ts'

/** What the proof of a seal shows. */
export interface CheckedSeal {
  readonly verdict: Verdict
  /** Undefined where the proof is contradicted. */
  readonly seal: SealContent | undefined
}

/** @throws Contradiction */
export async function checkedSealProof(
  value: unknown,
  trustedKeys: ReadonlySet<string>,
): Promise<CheckedSeal> {
  const where = 'the proof of the seal'
  const proof = parseSealProof(value, where)
  const seal = parseSealText(proof.text)
  if (!seal) throw new Contradiction('its text is not the text of a seal')
  const verdict = await verdictOfSealProof(proof, trustedKeys, where)
  return { verdict, seal: verdict.is === 'contradicted' ? undefined : seal }
}

/**
 * What is shown from the text of a seal to the ledger.
 *
 * @throws Contradiction
 */
export async function verdictOfSealProof(
  { text, batchText, batchPath, proof }: ParsedSealProof,
  trustedKeys: ReadonlySet<string>,
  where: string,
): Promise<Verdict> {
  const batch = parseBatchText(batchText)
  if (!batch) throw new Contradiction(`${where}.batch.text is not the text of a batch`)
  if (!leadsTo(text, batchPath, batch)) {
    throw new Contradiction(`${where}.batch.path does not lead from the seal to the root`)
  }
  const cid = await rawCidOf(Buffer.from(batchText))
  if (!isObject(proof) || proof['cid'] !== cid) {
    throw new Contradiction(`${where}.proof is not of the text of the batch`)
  }
  return checkProof(proof, { cids: [cid], trustedKeys })
}

/** Whether a path is one of a tree of that size: the path alone does not distinguish trees of several sizes. */
export function leadsTo(
  text: string,
  path: MerklePath,
  { root, count }: { readonly root: string; readonly count: number },
): boolean {
  return path.size === count && rootBy(leafHash(text), path)?.toString('hex') === root
}
