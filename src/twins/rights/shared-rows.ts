import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import { type StateDatabase, written } from '../../storage/state/database.ts'
import type { AlsoListed } from '../../storage/state/listing.ts'
import type { Total } from '../../storage/state/totals.ts'
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
    WHERE user_id = ${userId} AND resource_type = ${type} AND ${countsForHolder(nowUs)}`
}

/** The list in which what is shared with a user is counted, as long as there is a row of it. */
export const sharedLists = {
  vault: 'shared_vaults',
  asset_stream: 'shared_asset_streams',
} as const satisfies Record<SharedType, Total>

/** Who looks at something, and when by the wall clock. */
export interface Looking {
  readonly userId: UserId
  readonly nowUs: number
}

/** What is shared with a user, for the list of one's own. */
export function alsoShared(looking: Looking, type: SharedType): AlsoListed {
  const { userId, nowUs } = looking
  return {
    count: sql`SELECT ${sharedCount(looking, type)} AS count`,
    places: [
      sql`SELECT resource_created_at AS place, resource_id AS id FROM permissions
        WHERE user_id = ${userId} AND resource_type = ${type} AND ${countsForHolder(nowUs)}`,
    ],
  }
}

/** How much is shared with a user: what is counted, but for what counts no more and has not been ended yet. */
function sharedCount({ userId, nowUs }: Looking, type: SharedType): RawBuilder<number> {
  const shared = sql`permissions.user_id = ${userId} AND resource_type = ${type}`
  return sql`(coalesce(
      (SELECT total FROM totals WHERE list = ${sharedLists[type]} AND owner_id = ${userId}), 0)
    - (SELECT count(*) FROM permissions WHERE ${shared} AND expires_at <= ${nowUs})
    - (SELECT count(*) FROM departed_users
        CROSS JOIN permissions ON permissions.owner_id = departed_users.user_id
        WHERE ${shared} AND ${isNotOver(nowUs)}))`
}

/** Asset streams whose attachments are merged one by one: a statement has so many parts. */
const mergedMax = 50

/** The attachments of asset streams that are shared with a user, for the list of one's own; undefined for too many. */
export async function attachmentsAlsoShared(
  view: StateDatabase,
  looking: Looking,
): Promise<AlsoListed | undefined> {
  const shared = sharedWith(looking.userId, 'asset_stream', looking.nowUs)
  const some = sql<{ readonly resource_id: string }>`${shared} LIMIT ${mergedMax + 1}`
  const { rows } = await some.execute(view)
  if (rows.length > mergedMax) return undefined
  const ids = rows.map(({ resource_id: id }) => id)
  return {
    count: sql`SELECT coalesce(sum(total), 0) AS count FROM json_each(${JSON.stringify(ids)}) AS ids
      CROSS JOIN totals ON list = 'attachments_of_stream' AND totals.owner_id = ids.value`,
    places: ids.map(
      (id) => sql`SELECT created_at AS place, id FROM attachments WHERE stream_id = ${id}`,
    ),
  }
}

/** An asset stream that is shared with a user, in the order in which they were made. */
export interface SharedStream {
  readonly id: string
  readonly place: number
  /** How much is attached to it. */
  readonly attached: number
  /** 0 when the permission counts no more. */
  readonly counts: number
}

/** Some of what is shared with a user, and was once, after one of them: the work of it is that of so many. */
export async function sharedStreamsAfter(
  view: StateDatabase,
  { userId, nowUs }: Looking,
  after: Pick<SharedStream, 'id' | 'place'> | undefined,
  limit: number,
): Promise<readonly SharedStream[]> {
  const place = sql`(resource_created_at, resource_id)`
  const isAfter = after ? sql`${place} > (${after.place}, ${after.id})` : sql`1 = 1`
  const { rows } = await sql<SharedStream>`
    SELECT resource_id AS id, resource_created_at AS place, coalesce(total, 0) AS attached,
      ${countsForHolder(nowUs)} AS counts
    FROM permissions
    LEFT JOIN totals ON list = 'attachments_of_stream' AND totals.owner_id = resource_id
    WHERE user_id = ${userId} AND resource_type = 'asset_stream' AND ${isAfter}
    ORDER BY resource_created_at, resource_id LIMIT ${limit}`.execute(view)
  return rows
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

/** Whether a permission counts at some time: it is not over then, and both of its users are there. */
export function isInForce(nowUs: number): RawBuilder<boolean> {
  return sql`(${countsForHolder(nowUs)} AND ${isThere('user_id')})`
}

/** Whether it counts for its holder, who is there to ask: lists look at each row that they pass. */
function countsForHolder(nowUs: number): RawBuilder<boolean> {
  return sql`(${isNotOver(nowUs)} AND ${isThere('owner_id')})`
}

function isNotOver(nowUs: number): RawBuilder<boolean> {
  return sql`(permissions.expires_at IS NULL OR permissions.expires_at > ${nowUs})`
}

function isThere(whose: 'owner_id' | 'user_id'): RawBuilder<boolean> {
  return sql`NOT EXISTS (SELECT 1 FROM departed_users
    WHERE departed_users.user_id = ${sql.ref(`permissions.${whose}`)})`
}
