import { type Compilable, type Selectable, sql } from 'kysely'
import { forgottenAnchorsOf, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clocks } from '../../core/clock.ts'
import { type AssetId, type AssetStreamId, newId, type UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import { type AssetStep, assetStepsOf } from '../../ledgers/assets/asset-steps.ts'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import { pageOf, type Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import {
  completedStatus,
  receivedStatus,
  startedProgress,
  storedStatus,
} from '../progress/progress.ts'
import { type Asset, amountOf, assetsMax, type NewAsset } from './asset.ts'
import { assetMetadata } from './asset-metadata.ts'

export interface AssetPage {
  readonly items: readonly Asset[]
  readonly total: number
}

export interface AssetStoreNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
}

/** What is wanted, and where it goes. */
export interface WantedAsset extends Omit<NewAsset, 'ledger'> {
  readonly ledger: Ledger
  readonly network: string
}

export class AssetStore {
  readonly #needs: AssetStoreNeeds

  constructor(needs: AssetStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new asset as it is received, and the changes that store it as one that is to be issued. They find nothing to change
   * when its stream is gone or not completed, or has an asset that is alive, or too many.
   */
  async plan(
    stream: AssetStream,
    { supply, precision, ledger, network }: WantedAsset,
  ): Promise<{ readonly asset: Asset; readonly changes: readonly Compilable[] }> {
    const { state, clock } = this.#needs
    const createdAtUs = clock.nowUs()
    const said = { streamId: stream.id, supply, precision, createdAtUs }
    const metadata = await assetMetadata(said, stream)
    const row = {
      id: newId<AssetId>(),
      owner_id: stream.ownerId,
      stream_id: stream.id,
      created_at: createdAtUs,
      supply,
      precision,
      ledger,
      network,
      metadata_cid: metadata.cid,
      token_id: '',
      status: receivedStatus,
      tx_hash: '',
      progress: startedProgress(createdAtUs, receivedStatus),
      failure: null,
    }
    const progress = startedProgress(createdAtUs, receivedStatus, storedStatus)
    const asset = fromRow(row)
    const [first] = assetStepsOf(network)
    return {
      asset,
      changes: [
        this.#insertion({ ...row, status: storedStatus, progress }),
        countChange(state, 'assets_of_stream', stream.id, 1),
        keptMetadata(state, asset.id, metadata),
        ...plannedStep(this.#needs, { asset, code: stream.assetCode }, first),
      ],
    }
  }

  #insertion(row: Selectable<StateSchema['assets']>): Compilable {
    const { stream_id: streamId, owner_id: ownerId } = row
    return this.#needs.state
      .insertInto('assets')
      .columns(Object.keys(row) as (keyof typeof row)[])
      .expression(
        sql`SELECT ${sql.join(Object.values(row))} FROM asset_streams
              WHERE id = ${streamId} AND owner_id = ${ownerId} AND status = ${completedStatus}
                AND ${isBelow('assets_of_stream', streamId, assetsMax)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
  }

  /** Whether a stream has an asset that has not failed. */
  async isAliveOf(streamId: AssetStreamId): Promise<boolean> {
    const row = await this.#needs.state
      .selectFrom('assets')
      .select('id')
      .where('stream_id', '=', streamId)
      .where('status', '<>', sql<string>`'FAILED'`)
      .executeTakeFirst()
    return row !== undefined
  }

  async hasRoom(streamId: AssetStreamId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'assets_of_stream', streamId)) < assetsMax
  }

  async find(streamId: AssetStreamId, id: AssetId): Promise<Asset | undefined> {
    const row = await this.#needs.state
      .selectFrom('assets')
      .selectAll()
      .where('id', '=', id)
      .where('stream_id', '=', streamId)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** A page of the assets of one stream, the oldest first. */
  async listPage(streamId: AssetStreamId, slice: Slice): Promise<AssetPage> {
    const { rows, total } = await pageOf(
      this.#needs.state,
      {
        table: 'assets',
        condition: sql<boolean>`stream_id = ${streamId}`,
        orderBy: 'created_at',
        direction: 'asc',
        total: ['assets_of_stream', streamId],
      },
      slice,
    )
    return { items: rows.map(fromRow), total }
  }
}

/** The changes that have a step of an asset done. */
export function plannedStep(
  needs: AssetStoreNeeds,
  { asset, code }: { readonly asset: Asset; readonly code: string },
  { operation, kind, role }: AssetStep,
): readonly Compilable[] {
  const { id, streamId, ledger, network, precision, metadataCid, tokenId } = asset
  const amount = amountOf(asset)
  if (amount === undefined) throw new RangeError(`${asset.supply} is too much for a ledger`)
  return plannedAnchor(needs, {
    resourceType: 'asset',
    resourceId: id,
    operation,
    ledger,
    network,
    kind,
    role,
    parts: [{ name: '', cid: metadataCid }],
    asset: { streamId, code, amount, precision, ...(tokenId !== '' && { tokenId }) },
  })
}

/** For the transaction that removes an asset stream, none of whose assets is alive: they go with it. */
export function forgottenAssets(
  state: StateDatabase,
  streamId: AssetStreamId,
): readonly Compilable[] {
  const ids = sql`SELECT id FROM assets WHERE stream_id = ${streamId}`
  return [
    ...forgottenAnchorsOf(state, ids),
    state.deleteFrom('assets').where('stream_id', '=', streamId),
    state
      .deleteFrom('totals')
      .where('list', '=', 'assets_of_stream')
      .where('owner_id', '=', streamId),
  ].map(optional)
}

/** An asset, made of what is stored. */
export function fromRow(row: Selectable<StateSchema['assets']>): Asset {
  return {
    id: row.id as AssetId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    streamId: row.stream_id as AssetStreamId,
    supply: row.supply,
    precision: row.precision,
    ledger: row.ledger as Ledger,
    network: row.network,
    status: row.status,
    txHash: row.tx_hash,
    metadataCid: row.metadata_cid,
    tokenId: row.token_id,
    progress: row.progress,
    failure: row.failure,
  }
}
