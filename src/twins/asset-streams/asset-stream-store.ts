import { type Compilable, type Selectable, sql } from 'kysely'
import { forgottenAnchors, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import { type Metadata } from '../../anchors/metadata/encode-metadata.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clocks } from '../../core/clock.ts'
import { type AssetStreamId, newId, type UserId, type VaultId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { pageOf, type Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import { receivedStatus, startedProgress, storedStatus } from '../progress/progress.ts'
import { endedWith } from '../rights/ended-with.ts'
import { rightOf } from '../rights/right.ts'
import { alsoShared, roleOf, stillAllowed } from '../rights/shared-rows.ts'
import {
  type AssetStream,
  type AssetStreamChange,
  assetLedger,
  assetStreamsMax,
  type NewAssetStream,
  type SeenAssetStream,
} from './asset-stream.ts'
import { assetStreamMetadata } from './asset-stream-metadata.ts'

export interface AssetStreamPage {
  readonly items: readonly AssetStream[]
  readonly total: number
}

export interface AssetStreamStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
}

export class AssetStreamStore {
  readonly #needs: AssetStreamStoreNeeds

  constructor(needs: AssetStreamStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new asset stream as it is received, and the changes that store it as one that is to be anchored. They find nothing to
   * change when the user has one with that code, or too many.
   */
  async plan(
    ownerId: UserId,
    { assetCode, description }: NewAssetStream,
    network: string,
  ): Promise<{ readonly stream: AssetStream; readonly changes: readonly Compilable[] }> {
    const { state, clock } = this.#needs
    const createdAtUs = clock.nowUs()
    const metadata = await assetStreamMetadata({ assetCode, description, createdAtUs })
    const row = {
      id: newId<AssetStreamId>(),
      owner_id: ownerId,
      created_at: createdAtUs,
      asset_code: assetCode,
      description,
      ledger: assetLedger,
      network,
      status: receivedStatus,
      tx_hash: '',
      issuer: '',
      distribution_wallet: '',
      mapping: '',
      metadata_cid: metadata.cid,
      progress: startedProgress(createdAtUs, receivedStatus),
      failure: null,
    }
    const progress = startedProgress(createdAtUs, receivedStatus, storedStatus)
    const stored = { ...row, status: storedStatus, progress }
    const insert = state
      .insertInto('asset_streams')
      .columns(Object.keys(stored) as (keyof typeof stored)[])
      .expression(
        sql`SELECT ${sql.join(Object.values(stored))}
              WHERE ${isBelow('asset_streams', ownerId, assetStreamsMax)} AND NOT EXISTS (
                SELECT 1 FROM asset_streams WHERE owner_id = ${ownerId} AND asset_code = ${assetCode})`,
      )
    const stream = fromRow(row)
    return {
      stream,
      changes: [
        insert,
        countChange(state, 'asset_streams', ownerId, 1),
        ...anchoredStream(this.#needs, stream, { metadata }),
      ],
    }
  }

  async hasRoom(ownerId: UserId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'asset_streams', ownerId)) < assetStreamsMax
  }

  /** An asset stream that this user may see: an own or a shared one (decisions.md#what-others-show). */
  async findVisible(userId: UserId, id: AssetStreamId): Promise<SeenAssetStream | undefined> {
    const { state, clock } = this.#needs
    const row = await state
      .selectFrom('asset_streams')
      .selectAll()
      .select(roleOf(userId, sql`${id}`, clock.nowUs()).as('role'))
      .where('id', '=', id)
      .where(sql<boolean>`(owner_id = ${userId} OR role IS NOT NULL)`)
      .executeTakeFirst()
    if (!row) return undefined
    const stream = fromRow(row)
    return { ...stream, right: rightOf(userId, stream.ownerId, row.role) }
  }

  /** Asset streams of a user by their codes, in the order of these; a code that none has is left out. */
  async withCodes(ownerId: UserId, codes: readonly string[]): Promise<readonly AssetStream[]> {
    if (codes.length === 0) return []
    // CROSS: SQLite would go through all asset streams of the user, and look for the code of each.
    const { rows } =
      await sql<Row>`SELECT asset_streams.* FROM json_each(${JSON.stringify(codes)}) AS codes
      CROSS JOIN asset_streams ON owner_id = ${ownerId} AND asset_code = codes.value
      ORDER BY codes.key`.execute(this.#needs.state)
    return rows.map(fromRow)
  }

  /**
   * What some vaults list, each in the order in which it does. Many may list the same ones, which are read once, and
   * are one object.
   */
  async ofVaults(ids: readonly VaultId[]): Promise<ReadonlyMap<VaultId, readonly AssetStream[]>> {
    return await streamsOfVaults(this.#needs.state, ids)
  }

  /** Asset streams of whatever users, by their ids. */
  async withIds(ids: readonly string[]): Promise<ReadonlyMap<string, AssetStream>> {
    return await streamsWithIds(this.#needs.state, ids)
  }

  /** One's own and those that are shared with this user, oldest first. */
  async listPage(userId: UserId, slice: Slice): Promise<AssetStreamPage> {
    const { state, clock } = this.#needs
    const { rows, total } = await pageOf(
      state,
      {
        table: 'asset_streams',
        condition: sql<boolean>`owner_id = ${userId}`,
        orderBy: 'created_at',
        direction: 'asc',
        total: ['asset_streams', userId],
        also: alsoShared({ userId, nowUs: clock.nowUs() }, 'asset_stream'),
      },
      slice,
    )
    return { items: rows.map(fromRow), total }
  }

  /** Changes one for somebody who may, with what else belongs to the change. False when it is gone, or the right to. */
  async change(
    userId: UserId,
    { id, ownerId, right }: SeenAssetStream,
    { change, also }: { readonly change: AssetStreamChange; readonly also: readonly Compilable[] },
  ): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    return await writer.attempt(
      state
        .updateTable('asset_streams')
        .set(change)
        .where('id', '=', id)
        .where('owner_id', '=', ownerId),
      ...stillAllowed(state, { userId, right, nowUs: clock.nowUs() }, id),
      ...also,
    )
  }

  /** Removes an own one that nothing uses. False when something does, or it is gone. */
  async remove({ id, ownerId }: AssetStream, ...also: readonly Compilable[]): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    const removal = state
      .deleteFrom('asset_streams')
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM vault_streams WHERE stream_id = ${id})`)
      .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM attachments WHERE stream_id = ${id})`)
      .where(
        sql<boolean>`NOT EXISTS (SELECT 1 FROM assets WHERE stream_id = ${id} AND status <> 'FAILED')`,
      )
    const attachmentsCount = state
      .deleteFrom('totals')
      .where('list', '=', 'attachments_of_stream')
      .where('owner_id', '=', id)
    return await writer.attempt(
      removal,
      countChange(state, 'asset_streams', ownerId, -1),
      ...forgottenAnchors(state, id).map(optional),
      optional(attachmentsCount),
      endedWith(state, id, clock.nowUs()),
      ...also,
    )
  }

  /** What still uses it; else it has an asset. */
  async useOf({ id }: AssetStream): Promise<'listed' | 'attached' | undefined> {
    const isListed = sql`EXISTS (SELECT 1 FROM vault_streams WHERE stream_id = ${id})`
    const isAttachedTo = sql`EXISTS (SELECT 1 FROM attachments WHERE stream_id = ${id})`
    const { rows } = await sql<{ readonly use: 'listed' | 'attached' | null }>`
      SELECT CASE WHEN ${isListed} THEN 'listed' WHEN ${isAttachedTo} THEN 'attached' END AS use`.execute(
      this.#needs.state,
    )
    return rows[0]?.use ?? undefined
  }
}

/** What some vaults list (see `ofVaults`). */
export async function streamsOfVaults(
  state: StateDatabase,
  ids: readonly VaultId[],
): Promise<ReadonlyMap<VaultId, readonly AssetStream[]>> {
  const listed = new Map<VaultId, AssetStream[]>()
  if (ids.length === 0) return listed
  const { rows } = await sql<Row & { readonly places: string }>`
    SELECT asset_streams.*, places FROM (
      SELECT stream_id, json_group_array(json_array(vault_id, position)) AS places
      FROM json_each(${JSON.stringify(ids)}) AS ids JOIN vault_streams ON vault_id = ids.value
      GROUP BY stream_id)
    JOIN asset_streams ON asset_streams.id = stream_id`.execute(state)
  for (const { places, ...row } of rows) {
    const stream = fromRow(row)
    for (const [vaultId, position] of JSON.parse(places) as readonly Place[]) {
      const streams = listed.get(vaultId) ?? []
      streams[position] = stream
      listed.set(vaultId, streams)
    }
  }
  return listed
}

/** Asset streams of whatever users, by their ids. */
export async function streamsWithIds(
  state: StateDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AssetStream>> {
  const { rows } = await sql<Row>`SELECT * FROM asset_streams
    WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`.execute(state)
  return new Map(rows.map((row) => [row.id, fromRow(row)]))
}

/** The changes that keep the metadata of an asset stream, and have them anchored. */
export function anchoredStream(
  needs: Pick<AssetStreamStoreNeeds, 'state' | 'clock'>,
  { id, ledger, network, assetCode }: AssetStream,
  { metadata, isQuiet = false }: { readonly metadata: Metadata; readonly isQuiet?: boolean },
): readonly Compilable[] {
  const anchor = plannedAnchor(needs, {
    resourceType: 'asset_stream',
    resourceId: id,
    operation: 'creation',
    ledger,
    network,
    kind: 'record',
    parts: [{ name: '', cid: metadata.cid }],
    assetCode,
    isQuiet,
  })
  return [keptMetadata(needs.state, id, metadata), ...anchor]
}

/** A vault, and where in its list. */
type Place = readonly [VaultId, number]

type Row = Selectable<StateSchema['asset_streams']>

/** An asset stream, made of what is stored. */
export function fromRow(row: Row): AssetStream {
  return {
    id: row.id as AssetStreamId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    assetCode: row.asset_code,
    description: row.description,
    ledger: row.ledger as Ledger,
    network: row.network,
    status: row.status,
    txHash: row.tx_hash,
    issuer: row.issuer,
    distributionWallet: row.distribution_wallet,
    mapping: row.mapping,
    metadataCid: row.metadata_cid,
    progress: row.progress,
    failure: row.failure,
  }
}
