import { createHash } from 'node:crypto'
import type { Deed, Leaf } from '../../ledgers/ledger.ts'
import { leafHash, rootOf } from '../../ledgers/merkle/merkle.ts'
import { anchorIdOf } from '../intents/anchor-id.ts'
import type { SignedAnchor, WaitingAnchor } from './open-work.ts'

/** Leaves of one transaction at most: its proofs have ten hashes each. */
export const batchLeavesMax = 1_000

/** A transaction to be signed, and the anchors that it is for. */
export interface PlannedDeed {
  readonly deed: Deed
  readonly anchors: readonly { readonly id: string; readonly firstLeaf: number }[]
}

export interface Plan {
  readonly deeds: readonly PlannedDeed[]
  /** When leaves that are still collected are to be put on the ledger, in steady microseconds. */
  readonly dueAtUs: number
}

interface PlanRules {
  readonly nowUs: number
  /** How long leaves are collected. */
  readonly batchWaitUs: number
  /** Transactions at most. */
  readonly room: number
}

/** What is to be signed of what waits, in its order: a transaction each, and one for as many leaves as may share one. */
export function planDeeds(waiting: readonly WaitingAnchor[], rules: PlanRules): Plan {
  const { nowUs, batchWaitUs, room } = rules
  const deeds: PlannedDeed[] = []
  let batch: WaitingAnchor[] = []
  const close = () => {
    if (batch.length > 0 && deeds.length < room) deeds.push(batchOf(batch))
    batch = []
  }
  for (const anchor of waiting) {
    if (deeds.length >= room) break
    if (anchor.kind !== 'root') {
      deeds.push(ownDeed(anchor))
      continue
    }
    batch.push(anchor)
    if (batch.length >= batchLeavesMax) close()
  }
  const dueAtUs = (batch[0]?.begunAtUs ?? Number.POSITIVE_INFINITY) + batchWaitUs
  if (dueAtUs <= nowUs) close()
  return { deeds, dueAtUs: batch.length > 0 ? dueAtUs : Number.POSITIVE_INFINITY }
}

function ownDeed(anchor: WaitingAnchor): PlannedDeed {
  const { id, kind, leaves } = anchor
  const deed: Deed = {
    intentId: id,
    kind,
    root: rootOfLeaves(leaves),
    leaves,
    ...tokenOf(anchor),
  }
  return { deed, anchors: [{ id, firstLeaf: 0 }] }
}

/** One transaction for some anchors. */
export function batchOf(batch: readonly WaitingAnchor[]): PlannedDeed {
  const anchors: { readonly id: string; readonly firstLeaf: number }[] = []
  const leaves: Leaf[] = []
  for (const anchor of batch) {
    anchors.push({ id: anchor.id, firstLeaf: leaves.length })
    leaves.push(...anchor.leaves)
  }
  const intentId = batchIntents(anchors).at(-1) ?? ''
  return { deed: { intentId, kind: 'root', root: rootOfLeaves(leaves), leaves }, anchors }
}

/**
 * The intents of the batches that begin with the first of some anchors: of that one alone, of the first two, and so on. A batch is known by
 * what it is of: the same anchors again are the same intent.
 */
export function batchIntents(anchors: readonly Pick<WaitingAnchor, 'id'>[]): readonly string[] {
  const digest = createHash('sha256')
  return anchors.map(({ id }) => anchorIdOf(digest.update(id).copy().digest('hex'), 'batch'))
}

/** What fills a place that nothing else has: without it whatever comes after could not get in. */
export function fillerDeed(sequence: number, account: string): Deed {
  const intentId = anchorIdOf(`${account} ${sequence}`, 'filler')
  return { intentId, kind: 'root', root: rootOfLeaves([]), leaves: [] }
}

/** The deed that was signed for some anchors, once more: undefined for none. */
export function deedOfSigned(intentId: string, anchors: readonly SignedAnchor[]): Deed | undefined {
  const [first] = anchors
  if (!first) return undefined
  const leaves = anchors.flatMap((anchor) => anchor.leaves)
  const root = rootOfLeaves(leaves)
  if (intentId !== first.id) return { intentId, kind: 'root', root, leaves }
  return { intentId, kind: first.kind, root, leaves, ...tokenOf(first) }
}

/** What a deed says of a token or an asset, where it is one. */
function tokenOf({
  kind,
  uri,
  resourceId,
  asset,
}: Pick<WaitingAnchor, 'kind' | 'uri' | 'resourceId' | 'asset'>): Pick<
  Deed,
  'uri' | 'resourceId' | 'asset'
> {
  return {
    ...(uri !== null && { uri }),
    ...(kind === 'nft' && { resourceId }),
    ...(asset && { asset }),
  }
}

/** The place of the first leaf of an anchor in what was found on a ledger for it; undefined where the ledger has something else. */
export function placeIn(
  { intentId, root, leaves }: Deed,
  anchor: Pick<WaitingAnchor, 'id' | 'leaves'>,
): number | undefined {
  // Where the ledger keeps the root alone, it is known by the intent, which is all of this one anchor.
  if (leaves.length === 0) {
    return intentId === anchor.id && root === rootOfLeaves(anchor.leaves) ? 0 : undefined
  }
  const firstLeaf = leaves.findIndex((leaf) => leaf.intentId === anchor.id)
  const isSame = anchor.leaves.every(({ cid }, at) => leaves[firstLeaf + at]?.cid === cid)
  return isSame ? firstLeaf : undefined
}

function rootOfLeaves(leaves: readonly Leaf[]): string {
  return rootOf(leaves.map(({ cid }) => leafHash(cid))).toString('hex')
}
