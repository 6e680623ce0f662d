import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { Clocks } from '../../core/clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { anchoring } from '../../storage/state/database.ts'
import type { NewAnchor } from './anchor.ts'
import { anchorIdOf } from './anchor-id.ts'

export interface PlanAnchorNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
}

/**
 * The changes that write an intent, for the transaction of its resource: neither is ever there without the other.
 */
export function plannedAnchor(
  { state, clock }: PlanAnchorNeeds,
  anchor: NewAnchor,
): readonly Compilable[] {
  const id = anchorIdOf(anchor.resourceId, anchor.operation)
  const { parts, uri = null, assetCode = null, asset, role = 'issuer', isQuiet = false } = anchor
  const createdAtUs = clock.nowUs()
  const insertion = state.insertInto('anchors').values({
    id,
    resource_type: anchor.resourceType,
    resource_id: anchor.resourceId,
    operation: anchor.operation,
    ledger: anchor.ledger,
    network: anchor.network,
    kind: anchor.kind,
    uri,
    asset_code: assetCode,
    asset: asset ? JSON.stringify(asset) : null,
    role,
    quiet: isQuiet ? 1 : 0,
    state: 'waiting',
    created_at: createdAtUs,
    begun_at: clock.steadyUs(),
  })
  const leaves = parts.map(({ name, cid }, position) => {
    return { anchor_id: id, position, name, cid, created_at: createdAtUs }
  })
  return [anchoring(insertion), state.insertInto('anchor_leaves').values(leaves)]
}

/**
 * For the transaction that removes a resource: what is not signed yet is not anchored any more. What is signed is followed to its
 * end, and its proof stays.
 */
export function forgottenAnchors(state: StateDatabase, resourceId: string): readonly Compilable[] {
  return [
    ...forgottenAnchorsOf(state, sql`SELECT ${resourceId}`),
    state.deleteFrom('verifications').where('vault_id', '=', resourceId),
  ]
}

/**
 * For the transaction that removes several resources, before their rows are gone.
 *
 * @param ids a query for their ids
 */
export function forgottenAnchorsOf(
  state: StateDatabase,
  ids: RawBuilder<unknown>,
): readonly Compilable[] {
  const isOfThem = sql<boolean>`resource_id IN (${ids})`
  const unsigned = sql<boolean>`${isOfThem} AND transaction_hash IS NULL`
  return [
    state
      .deleteFrom('anchor_leaves')
      .where(sql<boolean>`anchor_id IN (SELECT id FROM anchors WHERE ${unsigned})`),
    state.deleteFrom('anchors').where(unsigned),
    // Nobody could ask for it again: it is tried for as long as it takes.
    anchoring(
      state
        .updateTable('anchors')
        .set({
          begun_at: Number.MAX_SAFE_INTEGER,
          state: sql<string>`iif(state = 'error', 'signed', state)`,
        })
        .where(isOfThem)
        .where('state', 'not in', ['completed', 'failed']),
    ),
    state.deleteFrom('metadata').where(isOfThem),
  ]
}
