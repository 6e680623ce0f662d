import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { isInForce, type Looking } from '../rights/shared-rows.ts'
import type { ListedVault } from './vault.ts'
import { fromListedRow, listedColumns } from './vault-row.ts'

/**
 * Vaults that are looked at in one go, each by its id: a millisecond or two, in which nothing else happens. Others can
 * share 200,000 with somebody, each of them.
 */
const stretchVaults = 1_000

export interface SharedSearch {
  readonly after: ListCursor | undefined
  readonly limit: number
  /** The condition that a vault is looked for. */
  readonly found: RawBuilder<boolean>
}

/**
 * The first vaults after a place that are shared with a user and meet a condition. Between two stretches other requests
 * have their turn; each is found with the permission for it by one statement, so that none is shown whose permission has
 * ended by then.
 */
export async function searchShared(
  state: StateDatabase,
  looking: Looking,
  { after, limit, found }: SharedSearch,
): Promise<readonly ListedVault[]> {
  const vaults: ListedVault[] = []
  let from = after
  do {
    const to = await endOfStretch(state, looking, from)
    const stretch = sql`SELECT resource_id AS shared_id FROM permissions
      WHERE ${isPlaced(looking, from, to)} AND ${isInForce(looking.nowUs)}`
    const { rows } = await sql<Parameters<typeof fromListedRow>[0]>`SELECT ${listed}
      FROM (${stretch}) AS shared CROSS JOIN vaults ON vaults.id = shared_id
      WHERE ${found} ORDER BY created_at, id LIMIT ${limit - vaults.length}`.execute(state)
    vaults.push(...rows.map(fromListedRow))
    from = to
    if (from && vaults.length < limit) await nextTurn()
  } while (from && vaults.length < limit)
  return vaults
}

const listed = sql.join(listedColumns.map((column) => sql.ref(column)))

/** The last place of the next stretch; undefined when that is the last one. */
async function endOfStretch(
  state: StateDatabase,
  looking: Looking,
  from: ListCursor | undefined,
): Promise<ListCursor | undefined> {
  const { rows } = await sql<ListCursor>`
    SELECT resource_created_at AS "createdAtUs", resource_id AS id FROM permissions
    WHERE ${isPlaced(looking, from, undefined)}
    ORDER BY resource_created_at, resource_id LIMIT 1 OFFSET ${stretchVaults - 1}`.execute(state)
  return rows[0]
}

/** Behind one place, and up to another: all that others have shared, so that a stretch is as long as it may be. */
function isPlaced(
  { userId }: Looking,
  from: ListCursor | undefined,
  to: ListCursor | undefined,
): RawBuilder<boolean> {
  const place = sql`(resource_created_at, resource_id)`
  const behind = from ? sql`${place} > (${from.createdAtUs}, ${from.id})` : sql`1 = 1`
  const upTo = to ? sql`${place} <= (${to.createdAtUs}, ${to.id})` : sql`1 = 1`
  return sql<boolean>`user_id = ${userId} AND resource_type = 'vault' AND ${behind} AND ${upTo}`
}
