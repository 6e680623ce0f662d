import { type Compilable, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { givenRoom, imageOf, sizeOf } from '../contents/content-rows.ts'
import type { UploadKind } from './upload-kind.ts'

/** Images of templates, vaults and users: what a camera makes, scaled for a page. */
export const imageBytesMax = 10 * 1024 * 1024

export interface ImageUploadsNeeds {
  readonly state: StateDatabase
  /** What else is changed with the image of a resource. */
  readonly also?: (resourceId: string, image: TakenImage) => Promise<readonly Compilable[]>
  readonly byHolders?: UploadKind['byHolders']
}

/** An image that has come. */
export interface TakenImage {
  readonly turn: number
  readonly cid: string
}

/** Resources with an image each, and the condition that somebody has them. */
const holders = {
  templates: { purpose: 'template-image', owner: 'owner_id', isThere: sql<boolean>`1 = 1` },
  vaults: { purpose: 'vault-image', owner: 'owner_id', isThere: sql<boolean>`1 = 1` },
  users: { purpose: 'user-image', owner: 'id', isThere: sql<boolean>`deleted_at IS NULL` },
} as const

/**
 * What is uploaded as the image of a resource: as often as its owner likes, each takes the place of the one
 * before.
 */
export function imageUploads(
  table: keyof typeof holders,
  { state, also = async () => [], byHolders }: ImageUploadsNeeds,
): UploadKind {
  const { purpose, owner, isThere } = holders[table]
  const atTurn = (id: string, turn: number) =>
    state
      .updateTable(table)
      .set({ image_uploads: turn })
      .where('id', '=', id)
      .where('image_uploads', '=', turn - 1)
  const find = async (id: string) => {
    const { rows } = await sql<{ readonly owner_id: UserId; readonly image_uploads: number }>`
      SELECT ${sql.ref(owner)} AS owner_id, image_uploads FROM ${sql.table(table)}
      WHERE id = ${id} AND ${isThere}`.execute(state)
    return rows[0]
  }
  return {
    purpose,
    byHolders,

    async expected(id) {
      const row = await find(id)
      if (row === undefined) return undefined
      const { owner_id: ownerId, image_uploads: taken } = row
      return { ownerId, turn: taken + 1, form: { is: 'image' }, bytesMax: imageBytesMax }
    },

    async taken(id, turn, { cid }) {
      const row = await find(id)
      return [
        // By the image that there is: before another takes its place.
        ...(row ? [givenRoom(state, row.owner_id, sizeOf(imageOf(table, id)))] : []),
        atTurn(id, turn).set({ image_cid: cid }),
        ...(await also(id, { turn, cid })),
      ]
    },

    // Later bytes of the same address are not looked at; the resource works without an image.
    refused: async (id, turn) => [atTurn(id, turn)],
  }
}
