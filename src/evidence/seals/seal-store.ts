import { sql } from 'kysely'
import {
  type AnchorProofs,
  type AnchorRecord,
  proofOfRecord,
} from '../../anchors/proofs/anchor-proofs.ts'
import type { Proof } from '../../ledgers/proofs/proof.ts'
import { type SealProof, sealProofFormat } from '../../ledgers/seals/seal-proof.ts'
import { parseBatchText, sealText } from '../../ledgers/seals/seal-text.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { decodeChunks } from './chunk-bytes.ts'
import type { Stretch, StretchTree } from './stretch-tree.ts'

/** Seals of one time that are looked at: of several widths, with their revisions. */
const coveringMax = 100

/** Marks of a stream that are listed. */
const waitingMax = 100

/** No stretch is longer, in microseconds: what covers a time begins so much before it at most. */
const widthUsMax = 86_400_000_000

/** One revision of the root over what was stored of a stretch. */
export interface Seal extends Stretch {
  readonly sealId: number
  /** From 1. */
  readonly revision: number
  /** Readings. */
  readonly count: number
  /** Hex. */
  readonly root: string
  /** The root of the revision before; null for the first one. */
  readonly previous: string | null
  readonly sealedAtUs: number
  /** Undefined until it is in a batch. */
  readonly batchId: string | undefined
}

/** A seal with what paths to its root are made of. */
export interface SealRecord extends Seal, Pick<StretchTree, 'chunks'> {}

/** How far a seal has come on its ledger. */
export interface SealProgress {
  readonly status: 'SERVICE_RECEIVED' | AnchorRecord['status']
  /** Null until it is sent. */
  readonly txHash: string | null
  /** Null until it is in a batch. */
  readonly proof: SealProof | null
}

/** A stretch that is to be sealed, or sealed again. */
export interface WaitingStretch extends Stretch {
  /** When it is due, but for what may be under way still. */
  readonly dueAtUs: number
  /** Why it could not be sealed when that was tried last. */
  readonly problem: { readonly error: string; readonly message: string } | null
}

/** The place of a seal in the list of its stream. */
export type SealPlace = Pick<Seal, 'startUs' | 'endUs' | 'revision'>

export interface SealsQuery {
  /** Stretches that have a part in [startUs, endUs). */
  readonly startUs: number
  readonly endUs: number
  readonly after: SealPlace | undefined
  readonly limit: number
}

/** The anchor of a batch, and what proves it. */
interface Anchored {
  readonly record: AnchorRecord
  readonly proof: Proof
}

/** Reads seals out of the state. */
export class SealStore {
  readonly #state: StateDatabase
  readonly #proofs: Pick<AnchorProofs, 'ofResource'>

  constructor(state: StateDatabase, proofs: Pick<AnchorProofs, 'ofResource'>) {
    this.#state = state
    this.#proofs = proofs
  }

  /** Seals of stretches that have a time in them, the newest first. */
  async covering(streamId: string, timestampUs: number): Promise<readonly SealRecord[]> {
    const rows = await this.#state
      .selectFrom('seals')
      .selectAll()
      .where('stream_id', '=', streamId)
      .where('start_us', '>', timestampUs - widthUsMax)
      .where('start_us', '<=', timestampUs)
      .where(sql<boolean>`start_us + width_us > ${timestampUs}`)
      .orderBy('number', 'desc')
      .limit(coveringMax)
      .execute()
    return rows.map((row) => ({ ...sealOf(row), chunks: decodeChunks(row.chunks) }))
  }

  /** Seals of a stream in the order of time, with all of their revisions. */
  async list(
    streamId: string,
    { startUs, endUs, after, limit }: SealsQuery,
  ): Promise<readonly Seal[]> {
    let query = this.#state
      .selectFrom('seals')
      .select(['number', 'stream_id', 'start_us', 'width_us', 'revision', 'count'])
      .select(['root', 'previous', 'sealed_at', 'batch_id'])
      .where('stream_id', '=', streamId)
      .where('start_us', '>', startUs - widthUsMax)
      .where('start_us', '<', endUs)
      .where(sql<boolean>`start_us + width_us > ${startUs}`)
    if (after) {
      const place = [after.startUs, after.endUs - after.startUs, after.revision] as const
      query = query.where((where) =>
        where(where.refTuple('start_us', 'width_us', 'revision'), '>', where.tuple(...place)),
      )
    }
    const rows = await query
      .orderBy('start_us')
      .orderBy('width_us')
      .orderBy('revision')
      .limit(limit)
      .execute()
    return rows.map(sealOf)
  }

  /** Stretches of a stream that wait, in the order of time: some of them. */
  async waiting(
    streamId: string,
    { startUs, endUs }: Pick<SealsQuery, 'startUs' | 'endUs'>,
  ): Promise<readonly WaitingStretch[]> {
    const rows = await this.#state
      .selectFrom('seal_marks')
      .selectAll()
      .where('stream_id', '=', streamId)
      .where('start_us', '>', startUs - widthUsMax)
      .where('start_us', '<', endUs)
      .where(sql<boolean>`start_us + width_us > ${startUs}`)
      .orderBy('start_us')
      .limit(waitingMax)
      .execute()
    return rows.map((row) => ({
      ...stretchOf(row),
      dueAtUs: row.due_at,
      problem: row.problem === null ? null : (JSON.parse(row.problem) as WaitingStretch['problem']),
    }))
  }

  /** How far some seals have come, in their order. */
  async progressOf(seals: readonly Seal[]): Promise<readonly SealProgress[]> {
    const anchors = new Map<string, Anchored>()
    const progress: SealProgress[] = []
    for (const seal of seals) {
      const { batchId } = seal
      if (batchId === undefined) {
        progress.push({ status: 'SERVICE_RECEIVED', txHash: null, proof: null })
        continue
      }
      const anchored = anchors.get(batchId) ?? (await this.#anchored(batchId))
      anchors.set(batchId, anchored)
      const { record, proof } = anchored
      progress.push({
        status: record.status,
        txHash: record.transaction?.hash ?? null,
        proof: await this.#proofOf(seal, proof),
      })
    }
    return progress
  }

  /** What shows that a seal was there; null before it is in a batch. */
  async proofOf(seal: Seal): Promise<SealProof | null> {
    const [progress] = await this.progressOf([seal])
    return progress?.proof ?? null
  }

  async #anchored(batchId: string): Promise<Anchored> {
    const record = await this.#proofs.ofResource(batchId)
    if (!record) throw new Error(`the batch ${batchId} of seals has no anchor`)
    return { record, proof: proofOfRecord(record, { isAlone: true }) }
  }

  async #proofOf(seal: Seal, proof: Proof): Promise<SealProof> {
    const row = await this.#state
      .selectFrom('seals')
      .innerJoin('seal_batches as batch', 'batch.id', 'seals.batch_id')
      .select(['batch.text', 'seals.batch_index as index', 'seals.batch_path as path'])
      .where('seals.number', '=', seal.sealId)
      .executeTakeFirstOrThrow()
    const hashes =
      Buffer.from(row.path ?? [])
        .toString('hex')
        .match(/.{64}/g) ?? []
    const size = parseBatchText(row.text)?.count ?? 0
    return {
      format: sealProofFormat,
      text: textOfSeal(seal),
      batch: { text: row.text, path: { index: row.index ?? 0, size, hashes } },
      proof,
    }
  }
}

/** The text that is the leaf of a seal in its batch. */
export function textOfSeal({ streamId, ...seal }: Omit<Seal, 'sealId' | 'batchId' | 'sealedAtUs'>) {
  return sealText({ stream: streamId, ...seal })
}

interface StretchRow {
  readonly stream_id: string
  readonly start_us: number
  readonly width_us: number
}

function stretchOf({ stream_id: streamId, start_us: startUs, width_us: widthUs }: StretchRow) {
  return { streamId, startUs, endUs: startUs + widthUs }
}

interface SealRow extends StretchRow {
  readonly number: number
  readonly revision: number
  readonly count: number
  readonly root: string
  readonly previous: string | null
  readonly sealed_at: number
  readonly batch_id: string | null
}

function sealOf(row: SealRow): Seal {
  const { number: sealId, revision, count, root, previous, sealed_at: sealedAtUs } = row
  const batchId = row.batch_id ?? undefined
  return { ...stretchOf(row), sealId, revision, count, root, previous, sealedAtUs, batchId }
}
