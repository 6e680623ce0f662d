import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import { type StateDatabase, written } from '../../storage/state/database.ts'
import type { AlsoListed } from '../../storage/state/listing.ts'
import { rightOf, type Seen, type SharedType } from './right.ts'

/** The role that a user has with a resource at some time, for a statement about the resource: null without one. */
export function roleOf(
  userId: UserId | RawBuilder<string>,
  resourceId: RawBuilder<string>,
  nowUs: number,
): RawBuilder<string | null> {
  return sql`(SELECT role FROM permissions
    WHERE permissions.resource_id = ${resourceId} AND permissions.user_id = ${userId} AND ${isInForce(nowUs)})`
}

/** The ids of what is shared with a user. */
function sharedWith(userId: UserId, type: SharedType, nowUs: number): RawBuilder<string> {
  return sql`SELECT resource_id FROM permissions
    WHERE user_id = ${userId} AND resource_type = ${type} AND ${isInForce(nowUs)}`
}

/** Who looks at something, and when by the wall clock. */
export interface Looking {
  readonly userId: UserId
  readonly nowUs: number
}

/** What is shared with a user, for the list of one's own. */
export function alsoShared({ userId, nowUs }: Looking, type: SharedType): AlsoListed {
  const shared = sql`FROM permissions
    WHERE user_id = ${userId} AND resource_type = ${type} AND ${isInForce(nowUs)}`
  return {
    count: sql`SELECT count(*) AS count ${shared}`,
    places: async () => [sql`SELECT resource_created_at AS place, resource_id AS id ${shared}`],
  }
}

/** Asset streams whose attachments are merged one by one; those of more are sorted, as a statement has so many parts. */
const mergedMax = 50

/** The attachments of asset streams that are shared with a user, for the list of one's own. */
export function attachmentsAlsoShared(looking: Looking): AlsoListed {
  const streams = sharedWith(looking.userId, 'asset_stream', looking.nowUs)
  return {
    count: sql`SELECT coalesce(sum(total), 0) AS count FROM (${streams}) AS shared
      CROSS JOIN totals ON list = 'attachments_of_stream' AND totals.owner_id = shared.resource_id`,
    async places(view) {
      const limited = sql<{ readonly resource_id: string }>`${streams} LIMIT ${mergedMax + 1}`
      const { rows } = await limited.execute(view)
      if (rows.length > mergedMax) return [attachmentsPlaced(sql`IN (${streams})`)]
      return rows.map(({ resource_id: id }) => attachmentsPlaced(sql`= ${id}`))
    },
  }
}

function attachmentsPlaced(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT created_at AS place, id FROM attachments WHERE stream_id ${condition}`
}

/** Whether there is anything of a type that somebody lets a user see. */
export async function isAnythingShared(
  state: StateDatabase,
  { userId, nowUs }: Looking,
  type: SharedType,
): Promise<boolean> {
  const { rows } = await sql`${sharedWith(userId, type, nowUs)} LIMIT 1`.execute(state)
  return rows.length > 0
}

/** The rights of a user with some resources that the user sees, in their order. */
export async function rightsWith(
  state: StateDatabase,
  { userId, nowUs }: Looking,
  resources: readonly { readonly id: string; readonly ownerId: UserId }[],
): Promise<readonly Seen['right'][]> {
  const foreign = resources.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id)
  const roles = new Map<string, string>()
  if (foreign.length > 0) {
    const { rows } = await sql<{ readonly resource_id: string; readonly role: string }>`
      SELECT resource_id, role FROM json_each(${JSON.stringify(foreign)}) AS ids
      CROSS JOIN permissions ON resource_id = ids.value AND user_id = ${userId}
      WHERE ${isInForce(nowUs)}`.execute(state)
    for (const { resource_id: id, role } of rows) roles.set(id, role)
  }
  return resources.map(({ id, ownerId }) => rightOf(userId, ownerId, roles.get(id) ?? null))
}

/** Part of each change that a permission lets somebody make: it finds no row when that has ended meanwhile. */
export function stillWritable(
  state: StateDatabase,
  { userId, nowUs }: Looking,
  resourceId: RawBuilder<string>,
): Compilable {
  return written(
    state,
    sql`UPDATE permissions SET role = role WHERE permissions.resource_id = ${resourceId}
      AND permissions.user_id = ${userId} AND role = 'WRITE' AND ${isInForce(nowUs)}`,
  )
}

/** Part of each change that somebody makes by whatever right: nothing for owners, whom the statement itself names. */
export function stillAllowed(
  state: StateDatabase,
  { right, ...looking }: Looking & Pick<Seen, 'right'>,
  resourceId: string,
): readonly Compilable[] {
  return right === 'own' ? [] : [stillWritable(state, looking, sql`${resourceId}`)]
}

/** Whether a permission counts at some time. */
export function isInForce(nowUs: number): RawBuilder<boolean> {
  return sql`(permissions.expires_at IS NULL OR permissions.expires_at > ${nowUs})`
}
