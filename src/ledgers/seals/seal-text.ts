import { canonicalJson } from '../../core/canonical-json.ts'
import { formatUs, parseInstant } from '../../core/time.ts'
import { isCount, isHash, membersOf } from '../proofs/transaction-text.ts'

/** Characters of the text of a seal, or of a batch. */
export const sealCharsMax = 1_024

/** What a seal says of the readings of a stretch: its text is a leaf of the tree of its batch. */
export interface SealContent {
  /** Id of the stream. */
  readonly stream: string
  /** [startUs, endUs): half open, aligned to the epoch. */
  readonly startUs: number
  readonly endUs: number
  /** From 1. */
  readonly revision: number
  /** How many readings. */
  readonly count: number
  /** Hex, of the tree over their texts. */
  readonly root: string
  /** The root of the revision before; null for the first one. */
  readonly previous: string | null
}

/** What a batch says of its seals: the CID of its text is what a ledger is given. */
export interface BatchContent {
  /** How many seals. */
  readonly count: number
  /** Hex, of the tree over their texts. */
  readonly root: string
}

export function sealText(seal: SealContent): string {
  const { stream, startUs, endUs, revision, count, root, previous } = seal
  const [start, end] = [formatUs(startUs), formatUs(endUs)]
  return canonicalJson({
    format: 'streamvault-seal-1',
    stream,
    start,
    end,
    revision,
    count,
    root,
    previous,
  })
}

export function batchText({ count, root }: BatchContent): string {
  return canonicalJson({ format: 'streamvault-seals-1', count, root })
}

/** Undefined where it is not what `sealText` would have written of a stretch that can be. */
export function parseSealText(text: string): SealContent | undefined {
  if (text.length > sealCharsMax) return undefined
  const { stream, start, end, revision, count, root, previous = null } = membersOf(text) ?? {}
  if (typeof stream !== 'string' || typeof start !== 'string' || typeof end !== 'string') {
    return undefined
  }
  const [startUs, endUs] = [parseInstant(start), parseInstant(end)]
  if (typeof startUs !== 'number' || typeof endUs !== 'number') return undefined
  if (!isCount(revision) || !isCount(count) || !isHash(root)) return undefined
  if (revision === 1 ? previous !== null : !isHash(previous)) return undefined
  if (endUs <= startUs || startUs % (endUs - startUs) !== 0) return undefined
  const seal = {
    stream,
    startUs,
    endUs,
    revision,
    count,
    root,
    previous: previous as string | null,
  }
  return sealText(seal) === text ? seal : undefined
}

/** Undefined where it is not what `batchText` would have written. */
export function parseBatchText(text: string): BatchContent | undefined {
  if (text.length > sealCharsMax) return undefined
  const { count, root } = membersOf(text) ?? {}
  if (!isCount(count) || !isHash(root)) return undefined
  return batchText({ count, root }) === text ? { count, root } : undefined
}
