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
    const { answer, afterwards } = await state.transaction().execute(async (transaction) => {
      const atUs = clock.nowUs()
      const taken = await storeSigned(transaction, request, atUs)
      for (const moved of request.transactions) await moveTransaction(transaction, moved)
      await storeHeights(transaction, request)
      const moves = await moveAnchors(transaction, request.moved, atUs)
      for (const { hash, to } of request.transactions) {
        if (to === 'dead') await unsign(transaction, hash)
      }
      const isMore = await this.#moveResources(transaction, moves)
      return {
        answer: { taken, isMore },
        afterwards: moves.size > 0 ? await notify(transaction) : undefined,
      }
    })
    afterwards?.()
    return answer
  }

  async #moveResources(transaction: StateDatabase, moves: Moves): Promise<boolean> {
    let isMore = false
    for (const [type, some] of moves) {
      isMore = ((await this.#kinds.get(type)?.move(transaction, some)) ?? false) || isMore
    }
    return isMore
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
    const attempt = await attemptOf(transaction, { network, account }, one)
    if (attempt === undefined) break
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
      .onConflict((conflict) =>
        conflict.column('hash').doUpdateSet({ state: 'open', attempt, signed_at: atUs, leaves }),
      )
      .execute()
    if (one.isBump) await nameInstead(transaction, hash)
    await sql`UPDATE anchors
      SET state = 'signed', transaction_hash = ${hash}, first_leaf = places.value ->> 'firstLeaf'
      FROM json_each(${JSON.stringify(one.anchors)}) AS places
      WHERE anchors.id = places.value ->> 'id'`.execute(transaction)
    stored++
  }
  return stored
}

/** None of them goes down: what was told of once is there, whatever others say. */
async function storeHeights(
  transaction: StateDatabase,
  { network, heights }: DeskRequest,
): Promise<void> {
  if (!heights) return
  const { head, final } = heights
  await sql`INSERT INTO ledger_heights (network, head, final) VALUES (${network}, ${head}, ${final})
    ON CONFLICT (network) DO UPDATE
      SET head = max(head, excluded.head), final = max(final, excluded.final)`.execute(transaction)
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
 * The number of a transaction among those under its sequence; undefined for one that was to be better than another one which is not
 * open any more. What is on the ledger is there, whatever rows say.
 *
 * @throws Error when one that was signed now has a sequence that something else may have
 */
async function attemptOf(
  transaction: StateDatabase,
  { network, account }: Pick<DeskRequest, 'network' | 'account'>,
  { transaction: { hash, sequence }, intentId, leaves, isBump }: SignedAnchors,
): Promise<number | undefined> {
  const rows = await transaction
    .selectFrom('anchor_transactions')
    .select(['hash', 'attempt', 'state', 'intent_id'])
    .where('network', '=', network)
    .where('account', '=', account)
    .where('sequence', '=', sequence)
    .execute()
  const others = rows.filter((row) => row.hash !== hash && row.state !== 'dead')
  const rival = isBump ? others.find((row) => row.intent_id !== intentId) : others[0]
  if (rival && leaves === undefined)
    throw new Error(`sequence ${sequence} of ${account} has the transaction ${rival.hash}`)
  if (isBump && !others.some(({ state }) => state === 'open')) return undefined
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
  if (to === 'final') {
    await nameInstead(transaction, hash, 'all')
    await sql`UPDATE anchor_transactions SET state = 'dead'
      WHERE hash IN ${siblingsOf(hash)} AND hash <> ${hash}`.execute(transaction)
  }
  if (to === 'dead') await nameOpenSibling(transaction, hash)
}

/** Hashes of what was signed for the same intent under the same sequence as one, and that itself. */
function siblingsOf(hash: string): RawBuilder<unknown> {
  return sql`(SELECT sibling.hash FROM anchor_transactions AS one
    JOIN anchor_transactions AS sibling USING (network, account, sequence, intent_id)
    WHERE one.hash = ${hash})`
}

/**
 * Has anchors name a transaction that have named another one of its intent under its sequence. Those that are done name what
 * shows that, until another one is on the ledger for good.
 */
async function nameInstead(
  transaction: StateDatabase,
  hash: string,
  which: 'all' | 'under way' = 'under way',
): Promise<void> {
  const isMeant = which === 'all' ? sql`TRUE` : sql`state NOT IN ('completed', 'failed')`
  await sql`UPDATE anchors SET transaction_hash = ${hash}
    WHERE transaction_hash IN ${siblingsOf(hash)} AND ${isMeant}`.execute(transaction)
}

/** What can never get in leaves its anchors to the newest that can, if there is one: nothing is signed anew for them then. */
async function nameOpenSibling(transaction: StateDatabase, hash: string): Promise<void> {
  const { rows } = await sql<{ readonly hash: string }>`SELECT hash FROM anchor_transactions
    WHERE hash IN ${siblingsOf(hash)} AND state = 'open'
    ORDER BY attempt DESC LIMIT 1`.execute(transaction)
  if (rows[0]) await nameInstead(transaction, rows[0].hash)
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

/** What becomes of resources, by their types. */
type Moves = ReadonlyMap<AnchoredType, readonly ResourceMove[]>

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
): Promise<Moves> {
  const byType = new Map<AnchoredType, ResourceMove[]>()
  for (const moved of all) {
    const { to, from, statuses, facts, failure, of } = moved
    if ('transactionHash' in of) await nameInstead(transaction, of.transactionHash)
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
