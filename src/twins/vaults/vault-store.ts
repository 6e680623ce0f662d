import { type Compilable, type RawBuilder, sql } from 'kysely'
import { forgottenAnchors, plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clocks } from '../../core/clock.ts'
import { newId, type UserId, type VaultId } from '../../core/ids.ts'
import { givenRoom, imageOf, sizeOf } from '../../files/contents/content-rows.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import { receivedStatus, startedProgress, storedStatus } from '../progress/progress.ts'
import { endedWith } from '../rights/ended-with.ts'
import { rightOf } from '../rights/right.ts'
import { roleOf, stillAllowed } from '../rights/shared-rows.ts'
import type { Template } from '../templates/template.ts'
import type { ListedVault, NewVault, SeenVault, Vault, VaultChange } from './vault.ts'
import { type VaultPage, type VaultsAfter, vaultPage, vaultsAfter } from './vault-lists.ts'
import { type VaultCids, vaultCids } from './vault-metadata.ts'
import { fromRow, listedColumns } from './vault-row.ts'

/** Vaults of one user: a twin of everything that a large plant has, and lists stay quick. */
export const vaultsMax = 1_000_000

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

  /** A vault that this user may see: an own, a shared or a public one (decisions.md#what-others-show). */
  async findVisible(userId: UserId, id: VaultId): Promise<SeenVault | undefined> {
    const { state, clock } = this.#needs
    const row = await state
      .selectFrom('vaults')
      .selectAll()
      .select(roleOf(userId, sql`${id}`, clock.nowUs()).as('role'))
      .where('id', '=', id)
      .where(sql<boolean>`(owner_id = ${userId} OR public = 1 OR role IS NOT NULL)`)
      .executeTakeFirst()
    if (!row) return undefined
    const vault = fromRow(row)
    return { ...vault, right: rightOf(userId, vault.ownerId, row.role) }
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

  /** One's own and those that are shared with this user, oldest first. */
  async listPage(userId: UserId, slice: Slice): Promise<VaultPage> {
    const { state, clock } = this.#needs
    return await vaultPage(state, { userId, nowUs: clock.nowUs() }, slice)
  }

  /** Vaults of both kinds, without what is large: a thousand payloads would not fit into the memory. */
  async listAfter(userId: UserId, wanted: VaultsAfter): Promise<readonly ListedVault[]> {
    const { state, clock } = this.#needs
    return await vaultsAfter(state, { userId, nowUs: clock.nowUs() }, wanted)
  }

  /**
   * Changes a vault for somebody who may, with what else belongs to the change. False when it is gone, or the right to.
   * Who sees it stays as it is unless its owner says it: the owner may hide it meanwhile.
   */
  async change(
    userId: UserId,
    { id, ownerId, right }: SeenVault,
    { change, also }: { readonly change: VaultChange; readonly also: readonly Compilable[] },
  ): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    const { public: isPublic, ...same } = change
    const isShown = right === 'own' && isPublic !== undefined
    const values = {
      ...same,
      ...(same.name !== undefined && { name_folded: same.name.toLowerCase() }),
      ...(isShown && { public: isPublic ? 1 : 0 }),
    }
    if (Object.keys(values).length === 0) return true
    return await writer.attempt(
      state.updateTable('vaults').set(values).where('id', '=', id).where('owner_id', '=', ownerId),
      ...stillAllowed(state, { userId, right, nowUs: clock.nowUs() }, id),
      ...also,
    )
  }

  /** Removes an own vault without data streams and fleets. False when it has some, or is gone. */
  async remove({ id, ownerId }: Vault, ...also: readonly Compilable[]): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    const removal = state
      .deleteFrom('vaults')
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where((is) =>
        is.not(is.exists(is.selectFrom('data_streams').select('id').where('vault_id', '=', id))),
      )
      .where((is) => {
        const fleets = is.selectFrom('fleets').select('id').where('vault_id', '=', id)
        return is.not(is.exists(fleets.where('ended_at', 'is', null)))
      })
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
