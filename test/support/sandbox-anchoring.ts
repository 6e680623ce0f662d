import type { Deed, Ledger } from '../../src/ledgers/ledger.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'
import type { StateDatabase, StateWriter } from '../../src/storage/state/database.ts'
import { AnchoredRows } from './anchored-rows.ts'
import { putOn } from './sandbox-ledger.ts'

/** Puts an anchor on a ledger, alone, and writes that down in its rows: of its resource nothing is moved. */
export async function anchoredOn(
  ledger: Ledger,
  writer: StateWriter & { readonly state: StateDatabase },
  anchorId: string,
): Promise<void> {
  const { state } = writer
  const anchor = await state
    .selectFrom('anchors')
    .selectAll()
    .where('id', '=', anchorId)
    .executeTakeFirstOrThrow()
  const leaves = await state
    .selectFrom('anchor_leaves')
    .select('cid')
    .where('anchor_id', '=', anchorId)
    .orderBy('position')
    .execute()
  const cids = leaves.map(({ cid }) => cid)
  const { transaction, inclusion } = await putOn(ledger, {
    intentId: anchorId,
    kind: anchor.kind as Deed['kind'],
    root: MerkleTree.over(cids).root,
    leaves: cids.map((cid) => ({ intentId: anchorId, cid })),
    ...(anchor.uri !== null && { uri: anchor.uri }),
  })
  const { hash, text } = transaction
  await new AnchoredRows(writer, writer).move([anchorId], 'completed', { hash, text, inclusion })
}
