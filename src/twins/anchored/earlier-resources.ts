import type { Compilable, Selectable } from 'kysely'
import { type EarlierSalts, saltFor } from '../../anchors/metadata/earlier-salt.ts'
import type { Clocks } from '../../core/clock.ts'
import type { VaultId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { fromRow as assetStreamOf, streamsOfVaults } from '../asset-streams/asset-stream-store.ts'
import { earlierStreamChanges } from '../asset-streams/earlier-asset-stream.ts'
import { fromRow as attachmentOf } from '../attachments/attachment-row.ts'
import { anchoredFiles } from '../attachments/attachment-store.ts'
import { storedColumns, storedStatus } from '../progress/progress.ts'
import type { TemplateStore } from '../templates/template-store.ts'
import type { Vault } from '../vaults/vault.ts'
import { vaultCids } from '../vaults/vault-metadata.ts'
import { fromRow as vaultOf } from '../vaults/vault-row.ts'
import { anchoredVault, contentSize } from '../vaults/vault-store.ts'
import { anchoredImage, imageOperation } from '../vaults/vault-uploads.ts'

/** Resources that are looked at at once: between two portions others get their turn. */
const portion = 100

export interface EarlierNeeds extends EarlierSalts {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
  readonly templates: Pick<TemplateStore, 'load' | 'withMetadata'>
}

/** What there was before there were anchors, in the order in which it is anchored. */
const earlierTypes = ['asset_stream', 'vault', 'attachment'] as const

type EarlierType = (typeof earlierTypes)[number]

type Unanchored = Selectable<StateSchema['unanchored']>

/**
 * Has some of what was there before there were anchors anchored: each in a transaction of its own, so that a stop loses
 * nothing and does nothing twice. Resolves with whether there is more.
 *
 * Vaults come after all asset streams: they refer to what these say.
 */
export async function anchorEarlier(needs: EarlierNeeds): Promise<boolean> {
  for (const type of earlierTypes) {
    const some = await needs.state
      .selectFrom('unanchored')
      .selectAll()
      .where('resource_type', '=', type)
      .orderBy('resource_id')
      .limit(portion)
      .execute()
    if (some.length === 0) continue
    for (const one of some) await anchorOne(needs, type, one)
    return true
  }
  return false
}

async function anchorOne(needs: EarlierNeeds, type: EarlierType, one: Unanchored): Promise<void> {
  const changes = (await earlierChanges(needs, type, one.resource_id)) ?? []
  // What was changed in between stays in the list, and is looked at again the next time.
  await needs.writer.attempt(...changes, optional(noted(needs.state, one)))
}

/** Takes a resource out of the list. */
function noted(state: StateDatabase, { resource_type, resource_id }: Unanchored): Compilable {
  return state
    .deleteFrom('unanchored')
    .where('resource_type', '=', resource_type)
    .where('resource_id', '=', resource_id)
}

/** What has a resource anchored; undefined when it is gone, or there is nothing to be done. */
async function earlierChanges(
  needs: EarlierNeeds,
  type: EarlierType,
  id: string,
): Promise<readonly Compilable[] | undefined> {
  const changesOf = {
    asset_stream: streamChanges,
    vault: vaultChanges,
    attachment: attachmentChanges,
  }[type]
  return await changesOf(needs, id)
}

async function streamChanges(
  needs: EarlierNeeds,
  id: string,
): Promise<readonly Compilable[] | undefined> {
  const row = await needs.state
    .selectFrom('asset_streams')
    .selectAll()
    .where('id', '=', id)
    .where('metadata_cid', '=', '')
    .executeTakeFirst()
  return row && (await earlierStreamChanges(needs, assetStreamOf(row)))
}

async function vaultChanges(
  needs: EarlierNeeds,
  id: string,
): Promise<readonly Compilable[] | undefined> {
  const { state, templates } = needs
  const row = await state
    .selectFrom('vaults')
    .selectAll()
    .where('id', '=', id)
    .where('metadata_cid', '=', '')
    .executeTakeFirst()
  const template = row && (await templates.load(row.template_id))
  if (!template) return undefined
  const vault = vaultOf(row)
  const listed = await streamsOfVaults(state, [id as VaultId])
  const materials = {
    templateMetadataCid: (await templates.withMetadata(template)).metadataCid,
    streamMetadataCids: (listed.get(vault.id) ?? []).map(({ metadataCid }) => metadataCid),
    imageSize: await contentSize(state, vault.defaultImageCid),
  }
  const salt = vault.public ? undefined : saltFor(needs, vault.id)
  const cids = await vaultCids(vault, materials, salt)
  const update = state
    .updateTable('vaults')
    .set({
      ...storedColumns(row.progress, needs.clock.nowUs()),
      metadata_cid: cids.metadata.cid,
      cid: cids.parts[0].cid,
    })
    .where('id', '=', id)
    .where('metadata_cid', '=', '')
    // What its metadata say of whether it is for everybody has to be so.
    .where('public', '=', row.public)
    .where('image_cid', '=', row.image_cid)
  const { imageCid, imageUploads } = vault
  const image = { turn: imageUploads, cid: imageCid, isQuiet: true }
  return [
    update,
    ...anchoredVault(needs, vault, { cids, isQuiet: true }),
    ...(imageCid === '' || (await isImageAnchored(state, vault))
      ? []
      : anchoredImage(needs, vault, image)),
  ]
}

/** Whether its image was uploaded before its turn came: it has an anchor then. */
async function isImageAnchored(
  state: StateDatabase,
  { id, imageUploads }: Vault,
): Promise<boolean> {
  const anchor = await state
    .selectFrom('anchors')
    .select('id')
    .where('resource_id', '=', id)
    .where('operation', '=', imageOperation(imageUploads))
    .executeTakeFirst()
  return anchor !== undefined
}

async function attachmentChanges(
  needs: EarlierNeeds,
  id: string,
): Promise<readonly Compilable[] | undefined> {
  const { state } = needs
  const row = await state
    .selectFrom('attachments')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', storedStatus)
    .executeTakeFirst()
  if (!row) return undefined
  // It is written with its anchor as long as it is there.
  const isThere = state
    .updateTable('attachments')
    .set({ status: storedStatus })
    .where('id', '=', id)
  return [isThere, ...anchoredFiles(needs, attachmentOf(row), true)]
}
