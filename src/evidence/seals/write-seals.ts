import { sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import { encodeChunks } from './chunk-bytes.ts'
import { type DueMark, putOff, sealedMark } from './due-marks.ts'
import type { StretchTree } from './stretch-tree.ts'

/** A stretch that was read, and the mark that it was read for. */
export interface ReadStretch {
  readonly mark: DueMark
  readonly tree: StretchTree
}

/** What has come of stretches that were read. */
export interface Written {
  /** Seals of stretches that had none. */
  readonly added: number
  /** Seals of stretches of which more, or something else, is stored than before. */
  readonly revised: number
}

/**
 * Writes the seals of stretches that were read, and takes their marks away, in one transaction. What says the same as the
 * revision before is none, and neither is what holds nothing. A mark that was made once more meanwhile stays.
 */
export async function writeSeals(
  state: StateDatabase,
  stretches: readonly ReadStretch[],
  nowUs: number,
): Promise<Written> {
  return await state.transaction().execute(async (transaction) => {
    let [added, revised] = [0, 0]
    for (const stretch of stretches) {
      const revision = await writeRevision(transaction, stretch, nowUs)
      if (revision === 1) added++
      else if (revision !== undefined) revised++
      const { mark } = stretch
      const gone = await transaction.executeQuery(sealedMark(transaction, mark).compile())
      if (gone.numAffectedRows === 1n) continue
      await transaction.executeQuery(putOff(transaction, mark, { untilUs: nowUs }).compile())
    }
    return { added, revised }
  })
}

/** Resolves with the revision, if there is a new one. */
async function writeRevision(
  transaction: StateDatabase,
  { mark: { streamId, startUs, widthUs }, tree }: ReadStretch,
  nowUs: number,
): Promise<number | undefined> {
  if (tree.count === 0) return undefined
  const newest = await transaction
    .selectFrom('seals')
    .select(['revision', 'root', 'count'])
    .where('stream_id', '=', streamId)
    .where('start_us', '=', startUs)
    .where('width_us', '=', widthUs)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest?.root === tree.root && newest.count === tree.count) return undefined
  const revision = (newest?.revision ?? 0) + 1
  // A stream that was deleted meanwhile gets no more rows.
  const { numAffectedRows } = await sql`
    INSERT INTO seals (stream_id, start_us, width_us, revision, count, root, previous, chunks, sealed_at)
    SELECT ${streamId}, ${startUs}, ${widthUs}, ${revision}, ${tree.count}, ${tree.root},
      ${newest?.root ?? null}, ${encodeChunks(tree.chunks)}, ${nowUs}
    WHERE EXISTS (SELECT 1 FROM data_streams WHERE id = ${streamId})`.execute(transaction)
  return numAffectedRows === 1n ? revision : undefined
}
