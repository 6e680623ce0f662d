import { type Selectable, sql } from 'kysely'
import type { Ledger as LedgerName } from '../../core/ledger.ts'
import { cidProfile } from '../../files/content/content.ts'
import type { Inclusion } from '../../ledgers/ledger.ts'
import { type Proof, proofOf } from '../../ledgers/proofs/proof.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { AnchoredType, AnchorState, AnchorStatus } from '../intents/anchor.ts'

/**
 * Anchors of one CID that are looked at for the earliest one: the image of a template is in those of all vaults that
 * were made of it.
 */
const lookedAtMax = 1_000

/** What is known of an anchor and its transaction: what a proof is made of. */
export interface AnchorRecord {
  readonly anchorId: string
  readonly resourceType: AnchoredType
  readonly resourceId: string
  readonly operation: string
  readonly state: AnchorState
  readonly status: AnchorStatus
  /** Whether it is on the ledger for good. */
  readonly isFinal: boolean
  /** That which was asked for, or what the anchor is known by. */
  readonly cid: string
  /** Its own leaves, with their places among all of the transaction. */
  readonly parts: readonly AnchorPart[]
  /** All leaves of the transaction, in order; those of the anchor as long as there is none. */
  readonly leaves: readonly string[]
  readonly ledger: LedgerName
  readonly network: string
  readonly transaction: { readonly hash: string; readonly text: string } | undefined
  /** Once it is final. */
  readonly inclusion: Inclusion | undefined
}

export interface AnchorPart {
  readonly name: string
  readonly cid: string
  readonly leafIndex: number
}

type AnchorRow = Selectable<StateSchema['anchors']>
type KnownTransaction = Pick<
  Selectable<StateSchema['anchor_transactions']>,
  'hash' | 'text' | 'inclusion' | 'leaves'
>

/** What is kept of anchors, as others are shown it: all of it is in rows, so no ledger is asked. */
export class AnchorProofs {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /**
   * The anchor of a resource.
   *
   * @param cid one of all that was anchored of it; without it what it was made with is meant
   */
  async ofResource(resourceId: string, cid?: string): Promise<AnchorRecord | undefined> {
    return await this.#inOneView(async (view) => {
      const anchors = view.selectFrom('anchors').selectAll().where('resource_id', '=', resourceId)
      const wanted =
        cid === undefined
          ? anchors.where('operation', '=', 'creation')
          : anchors
              .where(sql<boolean>`id IN (SELECT anchor_id FROM anchor_leaves WHERE cid = ${cid})`)
              .orderBy(sql`state = 'completed'`, 'desc')
              .orderBy('number')
              .limit(1)
      const row = await wanted.executeTakeFirst()
      return row && (await recordOf(view, row, cid))
    })
  }

  /** The anchor of a CID: of several the earliest that is final, or else that which was made first. */
  async ofCid(cid: string): Promise<AnchorRecord | undefined> {
    return await this.#inOneView(async (view) => {
      const { rows } = await sql<AnchorRow>`
        SELECT anchors.* FROM (
          SELECT anchor_id FROM anchor_leaves WHERE cid = ${cid}
          ORDER BY created_at LIMIT ${lookedAtMax}
        ) AS leaves
        JOIN anchors ON anchors.id = leaves.anchor_id
        LEFT JOIN anchor_transactions ON anchor_transactions.hash = anchors.transaction_hash
        ORDER BY anchors.state = 'completed' DESC,
          json_extract(anchor_transactions.inclusion, '$.timeUs'), anchors.number
        LIMIT 1`.execute(view)
      return rows[0] && (await recordOf(view, rows[0], cid))
    })
  }

  /** An anchor may come further between two looks: then its leaves would not be those of its transaction. */
  async #inOneView<Result>(look: (view: StateDatabase) => Promise<Result>): Promise<Result> {
    return await this.#state.transaction().execute(look)
  }
}

/** @param cid of one of its leaves */
async function recordOf(
  view: StateDatabase,
  row: AnchorRow,
  cid: string | undefined,
): Promise<AnchorRecord> {
  const own = await view
    .selectFrom('anchor_leaves')
    .select(['name', 'cid'])
    .where('anchor_id', '=', row.id)
    .orderBy('position')
    .execute()
  const state = row.state as AnchorState
  const transaction = await transactionOf(view, row)
  const from = transaction ? row.first_leaf : 0
  return {
    anchorId: row.id,
    resourceType: row.resource_type as AnchoredType,
    resourceId: row.resource_id,
    operation: row.operation,
    state,
    status: statuses[state],
    isFinal: state === 'completed',
    cid: cid ?? own[0]?.cid ?? '',
    parts: own.map((leaf, position) => ({ ...leaf, leafIndex: from + position })),
    leaves: transaction ? await leavesOf(view, transaction) : own.map((leaf) => leaf.cid),
    ledger: row.ledger as LedgerName,
    network: row.network,
    transaction: transaction && { hash: transaction.hash, text: transaction.text },
    inclusion:
      transaction?.inclusion && state === 'completed'
        ? (JSON.parse(transaction.inclusion) as Inclusion)
        : undefined,
  }
}

/** What is signed and was not sent yet is nothing that could be looked for. */
async function transactionOf(
  view: StateDatabase,
  { transaction_hash: hash, state }: AnchorRow,
): Promise<KnownTransaction | undefined> {
  if (hash === null || state === 'waiting' || state === 'signed') return undefined
  return await view
    .selectFrom('anchor_transactions')
    .select(['hash', 'text', 'inclusion', 'leaves'])
    .where('hash', '=', hash)
    .executeTakeFirst()
}

async function leavesOf(
  view: StateDatabase,
  { hash, leaves }: KnownTransaction,
): Promise<readonly string[]> {
  if (leaves !== null) return JSON.parse(leaves) as readonly string[]
  const rows = await view
    .selectFrom('anchors')
    .innerJoin('anchor_leaves', 'anchor_leaves.anchor_id', 'anchors.id')
    .select('anchor_leaves.cid')
    .where('anchors.transaction_hash', '=', hash)
    .orderBy('anchors.first_leaf')
    .orderBy('anchor_leaves.position')
    .execute()
  return rows.map(({ cid }) => cid)
}

/**
 * The proof of a record, as far as there is one: of its CID first, then of all else that was anchored with it.
 *
 * @param isAlone leaves the others out: nobody learns by one CID what else there is
 */
export function proofOfRecord(
  record: AnchorRecord,
  { isAlone }: { readonly isAlone: boolean },
): Proof {
  const { cid, parts, transaction, inclusion } = record
  const asked = parts.find((part) => part.cid === cid)
  const others = isAlone ? [] : parts.filter((part) => part !== asked)
  const shown = [...(asked ? [asked] : []), ...others]
  return proofOf({
    ...record,
    profile: cidProfile,
    parts: shown.map((part) => ({ name: part.name, cid: part.cid, leaf: part.leafIndex })),
    leaves: transaction ? record.leaves : [],
    ...(inclusion?.tokenId !== undefined && { tokenId: inclusion.tokenId }),
  })
}

/** What users see of a state. */
const statuses: Readonly<Record<AnchorState, AnchorStatus>> = {
  waiting: 'METADATA_STORED',
  signed: 'METADATA_STORED',
  submitted: 'LEDGER_SUBMITTED',
  included: 'LEDGER_SUBMITTED',
  completed: 'COMPLETED',
  failed: 'FAILED',
  error: 'ERROR',
}
