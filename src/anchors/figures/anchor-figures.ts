import { sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type AnchorState, restingStates } from '../intents/anchor.ts'

/** Verifications, resources and signatures that are counted: beyond that it only matters that there are many. */
const countedMax = 100_000

/** How much there is to anchor, and how far it is. */
export interface AnchorFigures {
  readonly byState: Readonly<Record<AnchorState, number>>
  /** Seconds since the oldest of those under way was begun, or begun again; 0 when there is none. */
  readonly oldestS: number
  /** Transactions that were ever signed, or found on a ledger. */
  readonly transactions: number
  readonly verifications: number
  /** Resources of before there were anchors that have none yet. */
  readonly unanchored: number
  /** Signatures that wait for their content, or to be looked at once that is there. */
  readonly signatures: number
}

type Counted = Pick<AnchorFigures, 'transactions' | 'verifications' | 'unanchored' | 'signatures'>

const nothing: Readonly<Record<AnchorState, number>> = {
  waiting: 0,
  signed: 0,
  submitted: 0,
  included: 0,
  completed: 0,
  failed: 0,
  error: 0,
}

/** Counts in a few looks, however many anchors there are. */
export async function anchorFigures(
  state: StateDatabase,
  clock: Pick<Clocks, 'steadyUs'>,
): Promise<AnchorFigures> {
  const counts = await state.selectFrom('anchor_counts').selectAll().execute()
  const byState = { ...nothing }
  let begunAtUs = Number.POSITIVE_INFINITY
  for (const { network, state: one, anchors } of counts) {
    const name = one as AnchorState
    byState[name] += anchors
    if (anchors === 0 || restingStates.includes(name)) continue
    begunAtUs = Math.min(begunAtUs, await firstBegun(state, network, name))
  }
  const { rows } = await sql<Counted>`
    SELECT coalesce((SELECT max(rowid) FROM anchor_transactions), 0) AS transactions,
      (SELECT count(*) FROM (SELECT 1 FROM verifications LIMIT ${countedMax})) AS verifications,
      (SELECT count(*) FROM (SELECT 1 FROM unanchored LIMIT ${countedMax})) AS unanchored,
      (SELECT count(*) FROM (SELECT 1 FROM signatures
        WHERE status = 'SERVICE_RECEIVED' LIMIT ${countedMax})) AS signatures
  `.execute(state)
  const [counted = missing] = rows
  const ageUs = Number.isFinite(begunAtUs) ? Math.max(0, clock.steadyUs() - begunAtUs) : 0
  return { byState, oldestS: ageUs / 1_000_000, ...counted }
}

const missing: Counted = { transactions: 0, verifications: 0, unanchored: 0, signatures: 0 }

/** The first of a state has waited for the longest: they are taken in the order of their numbers. */
export async function firstBegun(
  state: StateDatabase,
  network: string,
  name: string,
): Promise<number> {
  const row = await state
    .selectFrom('anchors')
    .select('begun_at')
    .where('network', '=', network)
    .where('state', '=', name)
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
  return row?.begun_at ?? Number.POSITIVE_INFINITY
}
