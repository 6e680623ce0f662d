import { type Compilable, type RawBuilder, type Selectable, sql } from 'kysely'
import { forgottenAnchors, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clocks } from '../../core/clock.ts'
import { newId, type TemplateId, type UserId, type VaultId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { givenRoom, imageOf, sizeOf } from '../../files/contents/content-rows.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { pageOf, type Slice } from '../../storage/state/listing.ts'
import { hasInNameOrId } from '../../storage/state/name-part.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import { receivedStatus, startedProgress, storedStatus } from '../progress/progress.ts'
import { endedWith } from '../rights/ended-with.ts'
import type { Template } from '../templates/template.ts'
import type { ListedVault, NewVault, Vault, VaultChange } from './vault.ts'
import { type VaultCids, vaultCids } from './vault-metadata.ts'

/** Vaults of one user: a twin of everything that a large plant has, and lists stay quick. */
export const vaultsMax = 1_000_000

const listedColumns = [
  'id',
  'owner_id',
  'created_at',
  'template_id',
  'name',
  'description',
  'status',
  'ledger',
  'public',
] as const

const columns = [
  ...listedColumns,
  'name_folded',
  'network',
  'progress',
  'cid',
  'metadata_cid',
  'json_payload',
  'default_image_cid',
] as const

export interface VaultPage {
  readonly items: readonly Vault[]
  readonly total: number
}

/** Which vaults a page of the token interface has. */
interface VaultsAfter {
  readonly after: ListCursor | undefined
  readonly limit: number
  /** A part of their names, in any case, or the beginning of an id. */
  readonly contains: string | undefined
}

/** What a vault is made from: the template, and the asset streams that it requires, in its order; all have metadata. */
interface MadeFrom {
  readonly template: Template
  readonly streams: readonly AssetStream[]
  /** Where it is to be anchored. */
  readonly network: string
}

export interface VaultStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
}

export class VaultStore {
  readonly #needs: VaultStoreNeeds

  constructor(needs: VaultStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new vault as it is received, and the changes that store it as one that is to be anchored. They find nothing to
   * change when the template is no longer what it was (gone, hidden, or in need of other asset streams), when one of the
   * asset streams that it lists is gone, or the user has too many.
   */
  async plan(
    ownerId: UserId,
    wanted: NewVault,
    { template, streams, network }: MadeFrom,
  ): Promise<{ readonly vault: Vault; readonly changes: readonly Compilable[] }> {
    const { state, clock } = this.#needs
    const createdAtUs = clock.nowUs()
    const received: Vault = {
      ...wanted,
      ...notAnchored,
      id: newId<VaultId>(),
      ownerId,
      createdAtUs,
      network,
      status: receivedStatus,
      progress: startedProgress(createdAtUs, receivedStatus),
      defaultImageCid: template.imageCid,
    }
    const cids = await vaultCids(received, {
      templateMetadataCid: template.metadataCid,
      streamMetadataCids: streams.map(({ metadataCid }) => metadataCid),
      imageSize: await contentSize(state, template.imageCid),
    })
    const { metadata, parts } = cids
    const vault = { ...received, cid: parts[0].cid, metadataCid: metadata.cid }
    const links = state
      .insertInto('vault_streams')
      .columns(['vault_id', 'position', 'stream_id'])
      .expression(sql`SELECT ${vault.id}, position, id FROM (${owned(ownerId, streams)})`)
    return {
      vault,
      changes: [
        this.#insertion(vault, { template, streams }),
        optional(links),
        countChange(state, 'vaults', ownerId, 1),
        ...anchoredVault(this.#needs, vault, { cids }),
      ],
    }
  }

  #insertion(vault: Vault, { template, streams }: Omit<MadeFrom, 'network'>): Compilable {
    const { id, ownerId, createdAtUs } = vault
    const { requiredStreams, imageCid, metadataCid } = template
    const progress = startedProgress(createdAtUs, receivedStatus, storedStatus)
    return this.#needs.state
      .insertInto('vaults')
      .columns(columns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, id, ${vault.name}, ${vault.description},
                ${storedStatus}, ${vault.ledger}, ${vault.public ? 1 : 0},
                ${vault.name.toLowerCase()}, ${vault.network}, ${progress}, ${vault.cid}, ${vault.metadataCid}, ${vault.jsonPayload}, image_cid
              FROM templates
              WHERE id = ${vault.templateId} AND (owner_id = ${ownerId} OR public = 1)
                AND required_streams = ${JSON.stringify(requiredStreams)} AND image_cid = ${imageCid}
                AND metadata_cid = ${metadataCid}
                AND ${isBelow('vaults', ownerId, vaultsMax)}
                AND ${streams.length} = (SELECT count(*) FROM (${owned(ownerId, streams)}))`,
      )
  }

  async hasRoom(ownerId: UserId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'vaults', ownerId)) < vaultsMax
  }

  /** A vault that this user may see: an own or a public one (decisions.md#what-others-show). */
  async findVisible(userId: UserId, id: VaultId): Promise<Vault | undefined> {
    const row = await this.#needs.state
      .selectFrom('vaults')
      .selectAll()
      .where('id', '=', id)
      .where((where) => where.or([where('owner_id', '=', userId), where('public', '=', 1)]))
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** A vault of whatever user. */
  async load(id: string): Promise<Vault | undefined> {
    const row = await this.#needs.state
      .selectFrom('vaults')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  async listPage(ownerId: UserId, slice: Slice): Promise<VaultPage> {
    const condition = sql<boolean>`owner_id = ${ownerId}`
    const { rows, total } = await pageOf(
      this.#needs.state,
      {
        table: 'vaults',
        condition,
        orderBy: 'created_at',
        direction: 'asc',
        total: ['vaults', ownerId],
      },
      slice,
    )
    return { items: rows.map(fromRow), total }
  }

  /** Without what is large: a thousand payloads would not fit into the memory. */
  async listAfter(
    ownerId: UserId,
    { after, limit, contains }: VaultsAfter,
  ): Promise<ListedVault[]> {
    let query = this.#needs.state
      .selectFrom('vaults')
      .select(listedColumns)
      .where('owner_id', '=', ownerId)
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
    if (contains !== undefined) query = query.where(hasInNameOrId(contains))
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map(fromListedRow)
  }

  /** Changes an own vault, with what else belongs to the change. False when it is gone. */
  async change(
    { id, ownerId }: Vault,
    change: VaultChange,
    ...also: readonly Compilable[]
  ): Promise<boolean> {
    const { state, writer } = this.#needs
    const { public: isPublic, ...same } = change
    const values = {
      ...same,
      ...(same.name !== undefined && { name_folded: same.name.toLowerCase() }),
      ...(isPublic !== undefined && { public: isPublic ? 1 : 0 }),
    }
    if (Object.keys(values).length === 0) return true
    return await writer.attempt(
      state.updateTable('vaults').set(values).where('id', '=', id).where('owner_id', '=', ownerId),
      ...also,
    )
  }

  /** Removes an own vault without data streams. False when it has some, or is gone. */
  async remove({ id, ownerId }: Vault, ...also: readonly Compilable[]): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    const removal = state
      .deleteFrom('vaults')
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where((is) =>
        is.not(is.exists(is.selectFrom('data_streams').select('id').where('vault_id', '=', id))),
      )
    return await writer.attempt(
      // What its image takes is found by the row.
      givenRoom(state, ownerId, sizeOf(imageOf('vaults', id))),
      // Before what they refer to; a vault that stays gets them back.
      optional(state.deleteFrom('vault_streams').where('vault_id', '=', id)),
      removal,
      countChange(state, 'vaults', ownerId, -1),
      ...forgottenAnchors(state, id).map(optional),
      optional(state.deleteFrom('provisioning_keys').where('vault_id', '=', id)),
      endedWith(state, id, clock.nowUs()),
      ...also,
    )
  }
}

/** Asset streams of a list that are there, with their positions. */
function owned(ownerId: UserId, streams: readonly AssetStream[]): RawBuilder<unknown> {
  const ids = JSON.stringify(streams.map(({ id }) => id))
  // CROSS: one look for each of these, and not for each that the user has.
  return sql`SELECT wanted.key AS position, asset_streams.id FROM json_each(${ids}) AS wanted
    CROSS JOIN asset_streams ON asset_streams.id = wanted.value AND owner_id = ${ownerId}`
}

/** What a vault has before a ledger has anything of it. */
const notAnchored = {
  txHash: '',
  nftNetworkIssuer: '',
  nftNetworkOwner: '',
  nftNetworkId: '',
  cid: '',
  metadataCid: '',
  imageCid: '',
  imageUploads: 0,
  failure: null,
} as const

/** Bytes of a content; none of what is no content. */
export async function contentSize(state: StateDatabase, cid: string): Promise<number> {
  if (cid === '') return 0
  const row = await state
    .selectFrom('contents')
    .select('size')
    .where('cid', '=', cid)
    .executeTakeFirst()
  return row?.size ?? 0
}

/** The changes that keep the metadata of a vault, and have them anchored with what belongs to it. */
export function anchoredVault(
  needs: Pick<VaultStoreNeeds, 'state' | 'clock'>,
  { id, ledger, network }: Vault,
  {
    cids: { metadata, parts },
    isQuiet = false,
  }: { readonly cids: VaultCids; readonly isQuiet?: boolean },
): readonly Compilable[] {
  const anchor = plannedAnchor(needs, {
    resourceType: 'vault',
    resourceId: id,
    operation: 'creation',
    ledger,
    network,
    kind: 'nft',
    parts,
    uri: `ipfs://${metadata.cid}`,
    isQuiet,
  })
  return [keptMetadata(needs.state, id, metadata), ...anchor]
}

/** A vault, made of what is stored. */
export function fromRow(row: Selectable<StateSchema['vaults']>): Vault {
  return {
    ...fromListedRow(row),
    network: row.network,
    txHash: row.tx_hash,
    nftNetworkIssuer: row.nft_network_issuer,
    nftNetworkOwner: row.nft_network_owner,
    nftNetworkId: row.nft_network_id,
    cid: row.cid,
    metadataCid: row.metadata_cid,
    progress: row.progress,
    failure: row.failure,
    jsonPayload: row.json_payload,
    defaultImageCid: row.default_image_cid,
    imageCid: row.image_cid,
    imageUploads: row.image_uploads,
  }
}

function fromListedRow(
  row: Pick<StateSchema['vaults'], (typeof listedColumns)[number]>,
): ListedVault {
  return {
    id: row.id as VaultId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    templateId: row.template_id as TemplateId,
    name: row.name,
    description: row.description,
    status: row.status,
    ledger: row.ledger as Ledger,
    public: row.public === 1,
  }
}
