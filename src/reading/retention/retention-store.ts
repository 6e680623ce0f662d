import type { Compilable } from 'kysely'
import type { UserId, VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Retention } from '../../streams/data-streams/retention.ts'

/** A stream and how long its data is kept: null is for ever. */
export interface KeptStream {
  readonly streamId: string
  readonly raw: string | null
  readonly aggregated: string | null
}

/** Where a list of streams goes on. */
export type KeptCursor =
  | { readonly list: 'own'; readonly streamId: string }
  | {
      readonly list: 'vault'
      readonly vaultId: string
      readonly createdAtUs: number
      readonly streamId: string
    }

export interface KeptPage {
  readonly streams: readonly KeptStream[]
  /** Undefined behind the last page. */
  readonly next: KeptCursor | undefined
}

/** The first page of all streams whose data is not all kept for ever. */
export const firstKept: KeptCursor = { list: 'own', streamId: '' }

const beforeVaults: KeptCursor = { list: 'vault', vaultId: '', createdAtUs: 0, streamId: '' }

/**
 * Streams with a retention, of their own or of their vault: first those that say something themselves, then those
 * of vaults that do. Both lists are indexed, so that nobody pays who keeps everything.
 */
export async function keptStreams(
  state: StateDatabase,
  after: KeptCursor,
  limit: number,
): Promise<KeptPage> {
  return after.list === 'own'
    ? await ownPage(state, after.streamId, limit)
    : await vaultPage(state, after, limit)
}

async function ownPage(state: StateDatabase, after: string, limit: number): Promise<KeptPage> {
  const rows = await state
    .selectFrom('data_streams as stream')
    .innerJoin('vaults as vault', 'vault.id', 'stream.vault_id')
    .select(({ fn }) => [
      'stream.id as streamId',
      fn.coalesce('stream.kept_raw', 'vault.kept_raw').as('raw'),
      fn.coalesce('stream.kept_aggregated', 'vault.kept_aggregated').as('aggregated'),
    ])
    .where((is) =>
      is.or([is('stream.kept_raw', 'is not', null), is('stream.kept_aggregated', 'is not', null)]),
    )
    .where('stream.id', '>', after)
    .orderBy('stream.id')
    .limit(limit)
    .execute()
  const last = rows.at(-1)
  const isLast = last === undefined || rows.length < limit
  return { streams: rows, next: isLast ? beforeVaults : { list: 'own', streamId: last.streamId } }
}

async function vaultPage(
  state: StateDatabase,
  after: Extract<KeptCursor, { list: 'vault' }>,
  limit: number,
): Promise<KeptPage> {
  const rows = await state
    .selectFrom('vaults as vault')
    .innerJoin('data_streams as stream', 'stream.vault_id', 'vault.id')
    .select([
      'vault.id as vaultId',
      'stream.created_at as createdAtUs',
      'stream.id as streamId',
      'vault.kept_raw as raw',
      'vault.kept_aggregated as aggregated',
    ])
    .where((is) =>
      is.or([is('vault.kept_raw', 'is not', null), is('vault.kept_aggregated', 'is not', null)]),
    )
    .where('stream.kept_raw', 'is', null)
    .where('stream.kept_aggregated', 'is', null)
    .where('vault.id', '>=', after.vaultId)
    .where((is) =>
      is(
        is.refTuple('vault.id', 'stream.created_at', 'stream.id'),
        '>',
        is.tuple(after.vaultId, after.createdAtUs, after.streamId),
      ),
    )
    .orderBy('vault.id')
    .orderBy('stream.created_at')
    .orderBy('stream.id')
    .limit(limit)
    .execute()
  const last = rows.at(-1)
  const isLast = last === undefined || rows.length < limit
  return {
    streams: rows.map(({ streamId, raw, aggregated }) => ({ streamId, raw, aggregated })),
    next: isLast ? undefined : { list: 'vault', ...last },
  }
}

/** What a vault says about how long the data of its streams is kept. */
export async function vaultRetention(state: StateDatabase, id: VaultId): Promise<Retention> {
  const row = await state
    .selectFrom('vaults')
    .select(['kept_raw', 'kept_aggregated'])
    .where('id', '=', id)
    .executeTakeFirst()
  return {
    ...(row?.kept_raw != null && { raw: row.kept_raw }),
    ...(row?.kept_aggregated != null && { aggregated: row.kept_aggregated }),
  }
}

/** Changes it: null takes a member away. */
export function vaultRetentionChange(
  state: StateDatabase,
  { id, ownerId }: { readonly id: VaultId; readonly ownerId: UserId },
  { raw, aggregated }: { readonly raw?: string | null; readonly aggregated?: string | null },
): readonly Compilable[] {
  if (raw === undefined && aggregated === undefined) return []
  return [
    state
      .updateTable('vaults')
      .set({
        ...(raw !== undefined && { kept_raw: raw }),
        ...(aggregated !== undefined && { kept_aggregated: aggregated }),
      })
      .where('id', '=', id)
      .where('owner_id', '=', ownerId),
  ]
}
