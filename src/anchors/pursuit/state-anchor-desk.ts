import { type RawBuilder, sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import type { Notify, StateDatabase } from '../../storage/state/database.ts'
import type { AnchoredType } from '../intents/anchor.ts'
import type { AnchoredKind, ResourceMove } from '../intents/anchored-kind.ts'
import type {
  AnchorDesk,
  DeskAnswer,
  DeskRequest,
  MovedAnchors,
  MovedTransaction,
  SignedAnchors,
} from './desk.ts'

export interface StateAnchorDeskNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly kinds: readonly AnchoredKind[]
  /** Tells of what was written down; resolves with what is to follow once it is committed. */
  readonly notify: Notify
}

/** The desk at the connection that writes the state: anchors, their resources and the events of these move together. */
export class StateAnchorDesk implements AnchorDesk {
  readonly #needs: StateAnchorDeskNeeds
  readonly #kinds: ReadonlyMap<string, AnchoredKind>

  constructor(needs: StateAnchorDeskNeeds) {
    this.#needs = needs
    this.#kinds = new Map(needs.kinds.map((kind) => [kind.type, kind]))
  }

  async exchange(request: DeskRequest): Promise<DeskAnswer> {
    const { state, clock, notify } = this.#needs
    const { taken, afterwards } = await state.transaction().execute(async (transaction) => {
      const atUs = clock.nowUs()
      const stored = await storeSigned(transaction, request, atUs)
      for (const moved of request.transactions) await moveTransaction(transaction, moved)
      const moves = await moveAnchors(transaction, request.moved, atUs)
      for (const { hash, to } of request.transactions) {
        if (to === 'dead') await unsign(transaction, hash)
      }
      for (const [type, some] of moves) await this.#kinds.get(type)?.move(transaction, some)
      return { taken: stored, afterwards: moves.size > 0 ? await notify(transaction) : undefined }
    })
    afterwards?.()
    return { taken }
  }
}

/** Resolves with how many were stored, from the first one on. */
async function storeSigned(
  transaction: StateDatabase,
  { network, account, signed }: DeskRequest,
  atUs: number,
): Promise<number> {
  let stored = 0
  for (const one of signed) {
    if (!(await areUnsigned(transaction, one))) break
    const { hash, sequence, blob, text, terms } = one.transaction
    const leaves = one.leaves ? JSON.stringify(one.leaves) : null
    const isFound = one.leaves !== undefined
    const attempt = await attemptOf(transaction, { network, account, sequence, hash, isFound })
    await transaction
      .insertInto('anchor_transactions')
      .values({
        hash,
        network,
        account,
        sequence,
        attempt,
        intent_id: one.intentId,
        blob,
        text,
        terms,
        state: 'open',
        signed_at: atUs,
        inclusion: null,
        leaves,
      })
      // One that was found on the ledger may be known already, for others of its anchors.
      .onConflict((conflict) => conflict.column('hash').doUpdateSet({ state: 'open', leaves }))
      .execute()
    await sql`UPDATE anchors
      SET state = 'signed', transaction_hash = ${hash}, first_leaf = places.value ->> 'firstLeaf'
      FROM json_each(${JSON.stringify(one.anchors)}) AS places
      WHERE anchors.id = places.value ->> 'id'`.execute(transaction)
    await transaction
      .insertInto('ledger_accounts')
      .values({ network, account, next_sequence: sequence + 1 })
      .onConflict((conflict) =>
        conflict.columns(['network', 'account']).doUpdateSet({
          next_sequence: sql`max(next_sequence, ${sequence + 1})`,
        }),
      )
      .execute()
    stored++
  }
  return stored
}

/** Whether all anchors of a transaction still wait: one may have gone with its resource. */
async function areUnsigned(transaction: StateDatabase, { anchors }: SignedAnchors) {
  if (anchors.length === 0) return true
  const { rows } = await sql<{ readonly count: number }>`SELECT count(*) AS count FROM anchors
    WHERE id IN (SELECT value ->> 'id' FROM json_each(${JSON.stringify(anchors)}))
      AND state = 'waiting'`.execute(transaction)
  return rows[0]?.count === anchors.length
}

/**
 * The number of a transaction among those under its sequence. What is on the ledger is there, whatever rows say.
 *
 * @throws Error when one that was signed now has a sequence that another one may have
 */
async function attemptOf(
  transaction: StateDatabase,
  given: {
    readonly network: string
    readonly account: string
    readonly sequence: number
    readonly hash: string
    readonly isFound: boolean
  },
): Promise<number> {
  const { network, account, sequence, hash, isFound } = given
  const rows = await transaction
    .selectFrom('anchor_transactions')
    .select(['hash', 'attempt', 'state'])
    .where('network', '=', network)
    .where('account', '=', account)
    .where('sequence', '=', sequence)
    .execute()
  const other = rows.find((row) => row.hash !== hash && row.state !== 'dead')
  if (other && !isFound)
    throw new Error(`sequence ${sequence} of ${account} has the transaction ${other.hash}`)
  return Math.max(0, ...rows.map(({ attempt }) => attempt)) + 1
}

async function moveTransaction(
  transaction: StateDatabase,
  { hash, to, inclusion }: MovedTransaction,
): Promise<void> {
  await transaction
    .updateTable('anchor_transactions')
    .set({ state: to, ...(inclusion && { inclusion: JSON.stringify(inclusion) }) })
    .where('hash', '=', hash)
    .execute()
}

/** Another transaction is to be signed for the anchors of one that can never get in. */
async function unsign(transaction: StateDatabase, hash: string): Promise<void> {
  await transaction
    .updateTable('anchors')
    .set({ transaction_hash: null })
    .where('transaction_hash', '=', hash)
    .where('state', 'in', ['waiting', 'error'])
    .execute()
}

interface MovedRow {
  readonly resource_type: AnchoredType
  readonly resource_id: string
  readonly operation: string
  readonly quiet: number
}

/** Moves anchors; resolves with what that means for their resources, by their types. */
async function moveAnchors(
  transaction: StateDatabase,
  all: readonly MovedAnchors[],
  atUs: number,
): Promise<ReadonlyMap<AnchoredType, readonly ResourceMove[]>> {
  const byType = new Map<AnchoredType, ResourceMove[]>()
  for (const moved of all) {
    const { to, from, statuses, facts, failure } = moved
    const { rows } = await sql<MovedRow>`UPDATE anchors
      SET state = ${to}, failure = ${failure ? JSON.stringify(failure) : null}
      WHERE ${conditionOf(moved)}
        AND state IN (SELECT value FROM json_each(${JSON.stringify(from)}))
      RETURNING resource_type, resource_id, operation, quiet`.execute(transaction)
    if (statuses.length === 0) continue
    for (const row of rows) {
      const moves = byType.get(row.resource_type) ?? []
      moves.push({
        resourceId: row.resource_id,
        operation: row.operation,
        statuses,
        atUs,
        facts,
        failure,
        isQuiet: row.quiet === 1,
      })
      byType.set(row.resource_type, moves)
    }
  }
  return byType
}

function conditionOf({ of }: MovedAnchors): RawBuilder<unknown> {
  return 'transactionHash' in of
    ? sql`transaction_hash = ${of.transactionHash}`
    : sql`id IN (SELECT value FROM json_each(${JSON.stringify(of.anchorIds)}))`
}
