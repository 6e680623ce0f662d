import { type RawBuilder, sql } from 'kysely'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { idsOf, pageOf, type Slice } from '../../storage/state/listing.ts'
import { hasInNameOrId } from '../../storage/state/name-part.ts'
import { alsoShared, isAnythingShared, type Looking, rightsWith } from '../rights/shared-rows.ts'
import { searchShared } from './shared-search.ts'
import type { ListedVault, SeenVault } from './vault.ts'
import { fromListedRow, fromRow, listedColumns } from './vault-row.ts'

export interface VaultPage {
  readonly items: readonly SeenVault[]
  readonly total: number
}

/** Which vaults a page of the token interface has. */
export interface VaultsAfter {
  readonly after: ListCursor | undefined
  readonly limit: number
  /** A part of their names, in any case, or the beginning of an id. */
  readonly contains: string | undefined
}

/** One's own vaults, and those that are shared with a user. */
export async function vaultPage(
  state: StateDatabase,
  looking: Looking,
  slice: Slice,
): Promise<VaultPage> {
  const { userId } = looking
  const { rows, total } = await pageOf(
    state,
    {
      table: 'vaults',
      condition: sql<boolean>`owner_id = ${userId}`,
      orderBy: 'created_at',
      direction: 'asc',
      total: ['vaults', userId],
      also: alsoShared(looking, 'vault'),
    },
    slice,
  )
  const vaults = rows.map(fromRow)
  const rights = await rightsWith(state, looking, vaults)
  return { items: vaults.map((vault, at) => ({ ...vault, right: rights[at] ?? 'read' })), total }
}

/** Vaults of both kinds from one on, with what lists tell of them. */
export async function vaultsAfter(
  state: StateDatabase,
  looking: Looking,
  { after, limit, contains }: VaultsAfter,
): Promise<readonly ListedVault[]> {
  const found = contains === undefined ? everything : hasInNameOrId(contains)
  const own = (columns: RawBuilder<unknown>) => sql`SELECT ${columns} FROM vaults
    WHERE owner_id = ${looking.userId} AND ${isAfter(sql`created_at, id`, after)} AND ${found}`
  const readOwn = async () => {
    const rows = sql<ListedRow>`${own(listed)} ORDER BY created_at, id LIMIT ${limit}`
    return (await rows.execute(state)).rows.map(fromListedRow)
  }
  if (!(await isAnythingShared(state, looking, 'vault'))) return await readOwn()
  if (contains !== undefined) {
    const shared = await searchShared(state, looking, { after, limit, found })
    return [...(await readOwn()), ...shared].toSorted(inOrder).slice(0, limit)
  }
  const shared = (await alsoShared(looking, 'vault').places(state)).map(
    (places) => sql`SELECT place, shared.id FROM (${places}) AS shared
      WHERE ${isAfter(sql`place, shared.id`, after)}`,
  )
  const ids = idsOf([own(sql`created_at AS place, id`), ...shared], 'asc', { offset: 0, limit })
  const rows = sql<ListedRow>`SELECT ${listed} FROM vaults WHERE id IN (${ids})
    ORDER BY created_at, id`
  return (await rows.execute(state)).rows.map(fromListedRow)
}

function inOrder(left: ListedVault, right: ListedVault): number {
  if (left.createdAtUs !== right.createdAtUs) return left.createdAtUs - right.createdAtUs
  return left.id < right.id ? -1 : 1
}

type ListedRow = Parameters<typeof fromListedRow>[0]

const listed = sql.join(listedColumns.map((column) => sql.ref(column)))

const everything = sql<boolean>`1 = 1`

function isAfter(place: RawBuilder<unknown>, after: ListCursor | undefined): RawBuilder<boolean> {
  return after ? sql<boolean>`(${place}) > (${after.createdAtUs}, ${after.id})` : everything
}
