import { type Compilable, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import { optional, type StateDatabase, written } from '../../storage/state/database.ts'
import { padded, portionsOf } from '../../storage/state/portions.ts'
import { totalOf } from '../../storage/state/totals.ts'
import { type Content, cidProfile, type NamedContent } from '../content/content.ts'

/** Changes that write down contents that the store has. */
export function keptContents(
  state: StateDatabase,
  contents: readonly Content[],
  atUs: number,
): readonly Compilable[] {
  const rows = [...new Map(contents.map((content) => [content.cid, content])).values()]
  return portionsOf(
    rows.map(({ cid, size, sha256, mediaType }) => ({
      cid,
      size,
      sha256,
      media_type: mediaType,
      profile: cidProfile,
      created_at: atUs,
    })),
  ).map((some) =>
    optional(
      state
        .insertInto('contents')
        .values(some)
        .onConflict((conflict) => conflict.doNothing()),
    ),
  )
}

/** Changes that make contents the files of a resource, in their order. */
export function heldFiles(
  state: StateDatabase,
  holderId: string,
  files: readonly NamedContent[],
): readonly Compilable[] {
  const rows = files.map(({ name, cid }, position) => ({
    holder_id: holderId,
    position,
    name,
    cid,
  }))
  return portionsOf(rows).map((some) => state.insertInto('files').values(some))
}

/** Files of resources, by these and in their order, from one place up to another. */
export async function filesOf(
  state: StateDatabase,
  holderIds: readonly string[],
  { from, below }: { readonly from: number; readonly below: number },
): Promise<readonly { readonly holderId: string; readonly file: NamedContent }[]> {
  const rows = await state
    .selectFrom('files')
    .innerJoin('contents', 'contents.cid', 'files.cid')
    .select(['holder_id', 'name', 'files.cid', 'size', 'sha256', 'media_type'])
    .where('holder_id', 'in', padded(holderIds))
    .where('position', '>=', from)
    .where('position', '<', below)
    .orderBy('holder_id')
    .orderBy('position')
    .execute()
  return rows.map(({ holder_id: holderId, media_type: mediaType, ...row }) => ({
    holderId,
    file: { ...row, mediaType },
  }))
}

/** The change with which a resource holds no files any more. */
export function releasedFiles(state: StateDatabase, holderId: string): Compilable {
  return optional(state.deleteFrom('files').where('holder_id', '=', holderId))
}

/** The condition that a user has not been deleted. */
export function isThere(userId: UserId) {
  return sql<boolean>`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND deleted_at IS NULL)`
}

/**
 * Changes that add bytes to what the files of a user have. They find no row when the user would have more
 * than one may have, or has been deleted.
 */
export function takenRoom(
  state: StateDatabase,
  ownerId: UserId,
  { bytes, bytesMax }: { readonly bytes: number; readonly bytesMax: number },
): readonly Compilable[] {
  return [
    optional(
      state
        .insertInto('totals')
        .values({ list: 'file_bytes', owner_id: ownerId, total: 0 })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    state
      .updateTable('totals')
      .set({ total: sql<number>`total + ${bytes}` })
      .where('list', '=', 'file_bytes')
      .where('owner_id', '=', ownerId)
      .where(isThere(ownerId))
      .where(sql<boolean>`total + ${bytes} <= ${bytesMax}`),
  ]
}

/** The change that gives room back: bytes, or an expression of them as they are before the change. */
export function givenRoom(
  state: StateDatabase,
  ownerId: UserId,
  bytes: ReturnType<typeof sql<number>>,
): Compilable {
  return optional(
    state
      .updateTable('totals')
      .set({ total: sql<number>`total - coalesce(${bytes}, 0)` })
      .where('list', '=', 'file_bytes')
      .where('owner_id', '=', ownerId),
  )
}

/** The size of the content that a column names, or nothing. */
export function sizeOf(cid: ReturnType<typeof sql<string>>) {
  return sql<number>`(SELECT size FROM contents WHERE cid = ${cid})`
}

/** The image that a row names. */
export function imageOf(table: 'templates' | 'users' | 'vaults', id: string) {
  return sql<string>`(SELECT image_cid FROM ${sql.table(table)} WHERE id = ${id})`
}

/** Bytes of all files of a user. */
export async function fileBytesOf(state: StateDatabase, ownerId: UserId): Promise<number> {
  return await totalOf(state, 'file_bytes', ownerId)
}

/** Every place where the state names a content. */
const references = [
  ['files', 'cid'],
  ['templates', 'image_cid'],
  ['vaults', 'default_image_cid'],
  ['vaults', 'image_cid'],
  ['users', 'image_cid'],
] as const

/** The condition that nothing of the state names the content of a row of `contents`. */
const isUnused = sql<boolean>`${sql.join(
  references.map(
    ([table, column]) =>
      // The second condition lets the partial indexes of images be used.
      sql`NOT EXISTS (SELECT 1 FROM ${sql.table(table)} WHERE ${sql.ref(`${table}.${column}`)} =
        contents.cid AND ${sql.ref(`${table}.${column}`)} <> '')`,
  ),
  sql` AND `,
)}`

/** The change that forgets those of some contents that are not used. */
export function forgottenContents(state: StateDatabase, cids: readonly string[]): Compilable {
  return written(state, sql`DELETE FROM contents WHERE cid IN (${listed(cids)}) AND ${isUnused}`)
}

/** The change that has contents looked at: whether something names them. */
export function releasedContents(state: StateDatabase, cids: readonly string[]): Compilable {
  return written(state, sql`INSERT OR IGNORE INTO released_contents ${listed(cids)}`)
}

/** The change with which those of some contents that are known need not be looked at, or those that are not. */
export function lookedAt(
  state: StateDatabase,
  cids: readonly string[],
  which: 'known' | 'unknown',
): Compilable {
  const isKnown = sql`cid IN (SELECT cid FROM contents)`
  const condition = which === 'known' ? isKnown : sql`NOT ${isKnown}`
  return written(
    state,
    sql`DELETE FROM released_contents WHERE cid IN (${listed(cids)}) AND ${condition}`,
  )
}

function listed(cids: readonly string[]) {
  return sql`SELECT value FROM json_each(${JSON.stringify(cids)})`
}
