import { sql } from 'kysely'
import type { NewAnchor } from '../../anchors/intents/anchor.ts'
import { anchorIdOf } from '../../anchors/intents/anchor-id.ts'
import { plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import type { Clocks } from '../../core/clock.ts'
import { MerkleTree } from '../../ledgers/merkle/merkle-tree.ts'
import { rawCidOf } from '../../ledgers/proofs/content-id.ts'
import { batchText } from '../../ledgers/seals/seal-text.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { textOfSeal } from './seal-store.ts'

/**
 * Seals of one batch: each has a way of twelve hashes at most, and all of them are written in the time of one shipment.
 * Roots of several batches share a transaction of the sandbox.
 */
export const batchSealsMax = 4_096

/** Rows that one statement changes. */
const rowsPerStatement = 1_000

/** Where seals are anchored. */
export type SealLedger = Pick<NewAnchor, 'ledger' | 'network'>

interface BatchNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly ledger: SealLedger
}

/** Whether there was ever a batch. */
export async function haveBatches(state: StateDatabase): Promise<boolean> {
  return (
    (await state.selectFrom('seal_batches').select('id').limit(1).executeTakeFirst()) !== undefined
  )
}

/**
 * Puts seals that are in no batch under one root, and plans its anchor, in one transaction: each seal is in one batch, and
 * no batch is without its anchor. Resolves with how many seals that were.
 */
export async function closeBatch({ state, clock, ledger }: BatchNeeds): Promise<number> {
  return await state.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('seals')
      .select(['number', 'stream_id as streamId', 'start_us as startUs', 'width_us as widthUs'])
      .select(['revision', 'count', 'root', 'previous'])
      .where('batch_id', 'is', null)
      .orderBy('number')
      .limit(batchSealsMax)
      .execute()
    if (rows.length === 0) return 0
    const tree = MerkleTree.over(
      rows.map((row) => textOfSeal({ ...row, endUs: row.startUs + row.widthUs })),
    )
    const text = batchText({ count: rows.length, root: tree.root })
    // After an older state is restored, the same seals are the same batch again: its anchor is found on the ledger.
    const id = anchorIdOf(text, 'seals')
    await transaction
      .insertInto('seal_batches')
      .values({ id, text, created_at: clock.nowUs() })
      .execute()
    const paths = rows.map(({ number }, index) => [number, index, tree.path(index).hashes.join('')])
    await writePaths(transaction, id, paths)
    const cid = await rawCidOf(Buffer.from(text))
    const changes = plannedAnchor(
      { state: transaction, clock },
      {
        ...ledger,
        resourceType: 'seals',
        resourceId: id,
        operation: 'creation',
        kind: 'root',
        parts: [{ name: '', cid }],
        // No event follows from it, and it is looked for on the ledger before it is signed.
        isQuiet: true,
      },
    )
    for (const change of changes) await transaction.executeQuery(change.compile())
    return rows.length
  })
}

async function writePaths(
  transaction: StateDatabase,
  id: string,
  paths: readonly (readonly (number | string)[])[],
): Promise<void> {
  for (let from = 0; from < paths.length; from += rowsPerStatement) {
    const some = JSON.stringify(paths.slice(from, from + rowsPerStatement))
    await sql`UPDATE seals
      SET batch_id = ${id}, batch_index = placed.value ->> 1, batch_path = unhex(placed.value ->> 2)
      FROM json_each(${some}) AS placed WHERE seals.number = placed.value ->> 0`.execute(
      transaction,
    )
  }
}

/**
 * Tries anchors of batches again that were not done in time: no one else asks for it. Resolves with how many.
 *
 * What a ledger has refused for ever stays failed.
 */
export async function retryBatches(
  state: StateDatabase,
  clock: Pick<Clocks, 'steadyUs'>,
): Promise<number> {
  const { numUpdatedRows } = await state
    .updateTable('anchors')
    .set({
      state: sql<string>`CASE WHEN transaction_hash IS NULL THEN 'waiting' ELSE 'signed' END`,
      begun_at: clock.steadyUs(),
      failure: null,
    })
    // What is in this state is counted by network, so that nothing is looked for where nothing is.
    .where('network', 'in', (counts) =>
      counts
        .selectFrom('anchor_counts')
        .select('network')
        .where('state', '=', 'error')
        .where('anchors', '>', 0),
    )
    .where('state', '=', 'error')
    .where('resource_type', '=', 'seals')
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
