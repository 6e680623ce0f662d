import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { countChange } from '../../storage/state/totals.ts'
import { isInForce, sharedLists } from '../rights/shared-rows.ts'
import type { EndReason } from './permission.ts'
import { type PermissionDeed, type PermissionDeedsNeeds, writtenDown } from './permission-deeds.ts'
import { fromRow, shownRows } from './permission-rows.ts'

/** Permissions that are ended in one transaction: what somebody decides or stores has to wait for it. */
const endedAtOnceMax = 50

type End = Omit<PermissionDeed, 'deed'> & { readonly reason: EndReason }

export interface PermissionEndsNeeds extends PermissionDeedsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** The changes that end a permission; they find nothing to change when it has ended already, or the condition fails. */
export function endOf(
  needs: PermissionDeedsNeeds & Pick<PermissionEndsNeeds, 'state'>,
  end: End,
  when: Expression<SqlBool>,
): readonly Compilable[] {
  const { id, type, ownerId, userId } = end.permission
  return [
    needs.state.deleteFrom('permissions').where('id', '=', id).where(when),
    countChange(needs.state, 'permissions', ownerId, -1),
    countChange(needs.state, sharedLists[type], userId, -1),
    ...writtenDown(needs, { ...end, deed: 'revoked' }),
  ]
}

/** Does what is left to be done of permissions that count no more: their rows go, and it is told. */
export class PermissionEnds {
  readonly #needs: PermissionEndsNeeds

  constructor(needs: PermissionEndsNeeds) {
    this.#needs = needs
  }

  /** Ends a portion of them in one transaction. False when none is left. */
  async endSome(): Promise<boolean> {
    const nowUs = this.#needs.clock.nowUs()
    const rows = await this.#over(nowUs)
      .where('expires_at', '<=', nowUs)
      .orderBy('expires_at')
      .limit(endedAtOnceMax)
      .execute()
    if (rows.length === 0) return await this.#endSomeOfDeparted(nowUs)
    await this.#end(rows, nowUs)
    return true
  }

  /** Ends a portion of what a deleted user has granted or had, and forgets the user once nothing of it is left. */
  async #endSomeOfDeparted(nowUs: number): Promise<boolean> {
    const { state, writer } = this.#needs
    const departed = await state
      .selectFrom('departed_users')
      .select('user_id')
      .limit(1)
      .executeTakeFirst()
    if (!departed) return false
    const { user_id: id } = departed
    for (const whose of ['permissions.owner_id', 'permissions.user_id'] as const) {
      const rows = await this.#over(nowUs).where(whose, '=', id).limit(endedAtOnceMax).execute()
      if (rows.length === 0) continue
      await this.#end(rows, nowUs)
      return true
    }
    // None is granted by nor to somebody who was deleted, so no other can have come.
    await writer.commit(state.deleteFrom('departed_users').where('user_id', '=', id))
    return await this.#endSomeOfDeparted(nowUs)
  }

  /** Ends the one of a pair, if it counts no more: there is room for another one of the two. */
  async endOfPair(resourceId: string, userId: UserId): Promise<void> {
    const nowUs = this.#needs.clock.nowUs()
    const rows = await this.#over(nowUs)
      .where('resource_id', '=', resourceId)
      .where('permissions.user_id', '=', userId)
      .execute()
    if (rows.length > 0) await this.#end(rows, nowUs)
  }

  /** Microseconds until the next one is over by itself; undefined when none will be. */
  async nextUs(): Promise<number | undefined> {
    const row = await this.#needs.state
      .selectFrom('permissions')
      .select('expires_at')
      .where('expires_at', 'is not', null)
      .orderBy('expires_at')
      .limit(1)
      .executeTakeFirst()
    return row?.expires_at === null || row === undefined
      ? undefined
      : row.expires_at - this.#needs.clock.nowUs()
  }

  /** When another has ended one of them meanwhile, none is ended here: they are looked for again. */
  async #end(rows: readonly EndedRow[], nowUs: number): Promise<void> {
    const { state, writer } = this.#needs
    const changes = rows.flatMap(({ name, departed_at: departedAtUs, ...row }) => {
      const reason = reasonOf(row, departedAtUs)
      const permission = fromRow({ ...row, ended_by: reason === 'expired' ? null : reason })
      return endOf(
        { ...this.#needs, state },
        { permission, resource: { name: name ?? '' }, actor: undefined, reason },
        isOver(nowUs),
      )
    })
    await writer.attempt(...changes)
  }

  #over(nowUs: number) {
    return shownRows(this.#needs.state)
      .where(isOver(nowUs))
      .select(
        sql<string | null>`CASE resource_type
          WHEN 'vault' THEN (SELECT name FROM vaults WHERE id = resource_id)
          ELSE (SELECT asset_code FROM asset_streams WHERE id = resource_id) END`.as('name'),
      )
      .select(
        sql<number | null>`(SELECT min(departed_at) FROM departed_users
          WHERE departed_users.user_id IN (permissions.owner_id, permissions.user_id))`.as(
          'departed_at',
        ),
      )
  }
}

type Row = Parameters<typeof fromRow>[0]

type EndedRow = Row & { readonly name: string | null; readonly departed_at: number | null }

function isOver(nowUs: number) {
  return sql<boolean>`NOT ${isInForce(nowUs)}`
}

function reasonOf(
  { ended_by: endedBy, expires_at: expiresAtUs }: Row,
  departedAtUs: number | null,
): EndReason {
  if (endedBy !== null) return endedBy as EndReason
  const wasOver = expiresAtUs !== null && (departedAtUs === null || expiresAtUs <= departedAtUs)
  return wasOver ? 'expired' : 'user_deleted'
}
