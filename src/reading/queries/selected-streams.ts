import { type FleetId, parseId, type StreamId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { streamFilter } from '../../streams/data-streams/stream-filter.ts'
import { assertOwned } from '../../twins/rights/right.ts'
import { visibleVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import type { QueriedStream, QueriedStreams } from './queried-streams.ts'

/** Streams that meet all of this. */
export interface StreamSelection {
  readonly streamIds?: readonly string[]
  readonly vaultId?: string
  readonly fleetId?: string
  /** The whole name, or its beginning and `*`. */
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
}

export interface SelectionNeeds {
  readonly queried: QueriedStreams
  readonly vaults: VaultStore
}

/**
 * Streams of the caller, and of nobody else.
 *
 * @param max streams at most
 * @throws DomainError `not_found` for ids that are unknown or somebody else's alike
 *   (decisions.md#what-is-unknown), `insufficient_permissions` for a vault that is shared, `too_many_points` for too many streams
 */
export async function selectedStreams(
  { queried, vaults }: SelectionNeeds,
  userId: UserId,
  { streamIds, vaultId, fleetId, name, tags = {} }: StreamSelection,
  max: number,
): Promise<readonly QueriedStream[]> {
  if (vaultId !== undefined) await assertQueried(vaults, userId, vaultId)
  const fleet = fleetId === undefined ? undefined : await ownFleet(queried, userId, fleetId)
  const ids = streamIds && (await knownIds(queried, userId, streamIds))
  const tagged = Object.entries(tags).map(([key, value]) => [`tag.${key}`, value])
  const filter = {
    ...streamFilter({
      ...(vaultId !== undefined && { vaultId }),
      ...(name !== undefined && { name }),
      ...(Object.fromEntries(tagged) as object),
    }),
    ...(fleet !== undefined && { fleetId: fleet }),
  }
  return await queried.select(userId, { ids, filter }, max)
}

/**
 * In a public vault the caller has no streams; one that is shared has some, of which a permission says nothing
 * (decisions.md#what-others-show).
 *
 * @throws DomainError `not_found`, `insufficient_permissions`
 */
async function assertQueried(vaults: VaultStore, userId: UserId, text: string): Promise<void> {
  const vault = await visibleVault(vaults, userId, text)
  if (!vault.public) assertOwned(vault, 'vault')
}

/** @throws DomainError `not_found` */
async function ownFleet(queried: QueriedStreams, userId: UserId, text: string): Promise<FleetId> {
  const id = parseId<FleetId>(text)
  if (id !== undefined && (await queried.hasFleet(userId, id))) return id
  throw notFound('fleet', text)
}

async function knownIds(
  queried: QueriedStreams,
  userId: UserId,
  texts: readonly string[],
): Promise<readonly StreamId[]> {
  const ids = [...new Set(texts.map((text) => parseId<StreamId>(text) ?? (text as StreamId)))]
  const known = await queried.known(userId, ids)
  const unknown = ids.find((id) => !known.has(id))
  if (unknown === undefined) return ids
  throw notFound('stream', unknown)
}
