import { createHash } from 'node:crypto'
import type { AnchoredPart, AnchorState, NewAnchor } from '../../src/anchors/intents/anchor.ts'
import { anchorIdOf } from '../../src/anchors/intents/anchor-id.ts'
import { plannedAnchor } from '../../src/anchors/intents/plan-anchor.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type AnchorId, newId } from '../../src/core/ids.ts'
import type { Inclusion } from '../../src/ledgers/ledger.ts'
import type { StateDatabase, StateWriter } from '../../src/storage/state/database.ts'

/** A CID of a raw block whose bytes are this text. */
export function cidOf(text: string | Uint8Array): string {
  const digest = createHash('sha256').update(text).digest()
  return `b${base32(Buffer.concat([Buffer.from([1, 0x55, 0x12, 0x20]), digest]))}`
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('')
}

export interface WrittenTransaction {
  readonly hash: string
  readonly text?: string
  readonly inclusion?: Inclusion
}

/** An inclusion that says when, and proves nothing. */
export function inclusionAt(timeUs: number): Inclusion {
  const path = { index: 0, size: 1, hashes: [] }
  return { height: 1, timeUs, header: '{}', blockHash: 'ab'.repeat(32), path, signatures: [] }
}

/** Rows of anchors as they are after some steps, without a ledger. */
export class AnchoredRows {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor({ state }: { readonly state: StateDatabase }, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  /** Plans an anchor of some CIDs. Resolves with its id. */
  async plan(cids: readonly string[], wanted: Partial<NewAnchor> = {}): Promise<AnchorId> {
    const parts: readonly AnchoredPart[] = cids.map((cid, at) => ({
      name: at === 0 ? '' : `part-${at}`,
      cid,
    }))
    const anchor: NewAnchor = {
      resourceType: 'attachment',
      resourceId: newId<AnchorId>(),
      operation: 'creation',
      ledger: 'XRPL',
      network: 'sandbox',
      kind: 'root',
      parts,
      ...wanted,
    }
    const needs = { state: this.#state, clock: systemClock }
    await this.#writer.commit(...plannedAnchor(needs, anchor))
    return anchorIdOf(anchor.resourceId, anchor.operation)
  }

  /** The anchor that a resource was made with: its id, and its CIDs. */
  async madeWith(resourceId: string): Promise<{ id: string; cids: readonly string[] }> {
    const rows = await this.#state
      .selectFrom('anchors')
      .innerJoin('anchor_leaves', 'anchor_leaves.anchor_id', 'anchors.id')
      .select(['anchors.id', 'anchor_leaves.cid'])
      .where('anchors.resource_id', '=', resourceId)
      .where('anchors.operation', '=', 'creation')
      .orderBy('anchor_leaves.position')
      .execute()
    return { id: rows[0]?.id ?? '', cids: rows.map(({ cid }) => cid) }
  }

  /** Has anchors in this order share a transaction, in this state. */
  async move(
    anchorIds: readonly string[],
    state: AnchorState,
    { hash, text = `{"of":"${hash}"}`, inclusion }: WrittenTransaction,
  ): Promise<void> {
    const row = { network: 'sandbox', account: 'ours', attempt: 1, blob: '', state: 'open' }
    const { next } = await this.#state
      .selectFrom('anchor_transactions')
      .select(({ fn }) => fn.countAll<number>().as('next'))
      .executeTakeFirstOrThrow()
    await this.#writer.commit(
      this.#state.insertInto('anchor_transactions').values({
        ...row,
        hash,
        sequence: next + 1,
        intent_id: hash,
        text,
        signed_at: 0,
        inclusion: inclusion === undefined ? null : JSON.stringify(inclusion),
      }),
    )
    let first = 0
    for (const id of anchorIds) {
      await this.#writer.commit(
        this.#state
          .updateTable('anchors')
          .set({ state, transaction_hash: hash, first_leaf: first })
          .where('id', '=', id),
      )
      const { leaves } = await this.#state
        .selectFrom('anchor_leaves')
        .select(({ fn }) => fn.countAll<number>().as('leaves'))
        .where('anchor_id', '=', id)
        .executeTakeFirstOrThrow()
      first += leaves
    }
  }
}
