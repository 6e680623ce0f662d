import { sql } from 'kysely'
import { devicePrefix } from '../../access/auth/limited-key.ts'
import { invalidParameter } from '../../core/errors.ts'
import { parseId, type StreamId, type UserId, type VaultId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { hasInName, idBeginsWith, nameBeginsWith } from '../../storage/state/name-part.ts'
import type { Device, deviceStates } from './device.ts'
import { devicesOf } from './device-rows.ts'

/** Which devices of a list are asked for: those that meet all of it. */
export interface DeviceFilter {
  readonly streamId?: StreamId
  readonly vaultId?: VaultId
  /** In lower case. */
  readonly name?: { readonly text: string; readonly isPrefix: boolean }
  /** A part of the name, in any case, or the beginning of the id. */
  readonly contains?: string
  readonly state?: (typeof deviceStates)[number]
}

/** A query that was held to its schema. */
interface Query {
  readonly streamId?: string
  readonly vaultId?: string
  readonly name?: string
  readonly contains?: string
  readonly state?: DeviceFilter['state']
}

/** @throws DomainError `invalid_request` */
export function deviceFilter({ streamId, vaultId, name, contains, state }: Query): DeviceFilter {
  return {
    ...(streamId !== undefined && { streamId: idOf<StreamId>('streamId', streamId) }),
    ...(vaultId !== undefined && { vaultId: idOf<VaultId>('vaultId', vaultId) }),
    ...(name !== undefined && { name: nameOf(name.toLowerCase()) }),
    ...(contains !== undefined && { contains }),
    ...(state !== undefined && { state }),
  }
}

function idOf<Id extends StreamId | VaultId>(parameter: string, text: string): Id {
  const id = parseId<Id>(text)
  if (id === undefined) throw invalidParameter(parameter, 'must be a uuid')
  return id
}

function nameOf(name: string): { readonly text: string; readonly isPrefix: boolean } {
  const isPrefix = name.endsWith('*')
  return { text: isPrefix ? name.slice(0, -1) : name, isPrefix }
}

/** Devices of an owner in the order of their creation. */
export async function listDevices(
  state: StateDatabase,
  ownerId: UserId,
  page: {
    readonly filter: DeviceFilter
    readonly after: ListCursor | undefined
    readonly limit: number
    readonly nowUs: number
  },
): Promise<readonly Device[]> {
  const { after, limit, nowUs } = page
  let ids = idsThatMeet(state, ownerId, page)
  if (after) {
    ids = ids.where((where) =>
      where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
    )
  }
  const rows = await state
    .selectFrom('devices')
    .selectAll()
    .where('id', 'in', ids.orderBy('created_at').orderBy('id').limit(limit))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return await devicesOf(state, rows, nowUs)
}

function hasPart(text: string) {
  const inName = hasInName(text)
  return text.startsWith(devicePrefix) ? sql<boolean>`(${inName} OR ${idBeginsWith(text)})` : inName
}

function idsThatMeet(
  state: StateDatabase,
  ownerId: UserId,
  { filter, nowUs }: { readonly filter: DeviceFilter; readonly nowUs: number },
) {
  const { streamId, vaultId, name, contains } = filter
  let query = state.selectFrom('devices').select('id').where('owner_id', '=', ownerId)
  if (name !== undefined) {
    const { text, isPrefix } = name
    query = isPrefix ? query.where(nameBeginsWith(text)) : query.where('name_folded', '=', text)
  }
  if (contains !== undefined) query = query.where(hasPart(contains))
  if (streamId !== undefined) {
    const found = state.selectFrom('device_streams').select('device_id')
    query = query.where('id', 'in', found.where('stream_id', '=', streamId))
  }
  if (vaultId !== undefined) {
    const found = state
      .selectFrom('data_streams')
      .innerJoin('device_streams', 'device_streams.stream_id', 'data_streams.id')
      .select('device_streams.device_id')
      .where('data_streams.vault_id', '=', vaultId)
    query = query.where('id', 'in', found)
  }
  if (filter.state === undefined) return query
  query = query.where('revoked_at', filter.state === 'revoked' ? 'is not' : 'is', null)
  if (filter.state === 'revoked') return query
  const end = sql<number>`coalesce(expires_at, ${Number.MAX_SAFE_INTEGER})`
  return query.where(end, filter.state === 'expired' ? '<=' : '>', nowUs)
}
