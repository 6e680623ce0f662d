import type { Selectable } from 'kysely'
import type { AnchoredKind } from '../../anchors/intents/anchored-kind.ts'
import type { VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { assetStreamBody } from '../asset-streams/asset-stream-body.ts'
import { fromRow as assetStreamOf, streamsOfVaults } from '../asset-streams/asset-stream-store.ts'
import { subjectOf as attachmentSubject } from '../attachments/attachment.ts'
import { attachmentBody } from '../attachments/attachment-body.ts'
import { listedFilesMax, shownAttachments } from '../attachments/attachment-row.ts'
import type { ShownSignature } from '../signatures/signature.ts'
import { eventsOfSignature } from '../signatures/signature-events.ts'
import { shownSignatures } from '../signatures/signature-store.ts'
import { vaultBody } from '../vaults/vault-body.ts'
import { fromRow as vaultOf } from '../vaults/vault-row.ts'
import { type AssetKindNeeds, assetKind } from './asset-kind.ts'
import { type ResourceTraits, resourceKind, type ToldRow } from './resource-kind.ts'

/** What anchors mean for everything that is anchored. */
export function anchoredKinds(needs: AssetKindNeeds): readonly AnchoredKind[] {
  return [
    resourceKind(assetStreams, needs),
    resourceKind(attachments, needs),
    resourceKind(signatures, needs),
    resourceKind(vaults, needs),
    assetKind(needs),
  ]
}

type Row<Table extends ResourceTraits<never>['table']> = Selectable<StateSchema[Table]>

const vaults: ResourceTraits<Row<'vaults'>> = {
  type: 'vault',
  table: 'vaults',
  columnsOf: ({ account, tokenId }) => ({
    nft_network_issuer: account,
    nft_network_owner: account,
    nft_network_id: tokenId,
  }),
  async eventsOf(transaction, told) {
    const ids = told.map(({ row }) => row.id as VaultId)
    const streams = await streamsOfVaults(transaction, ids)
    return told.map(({ row, word, isQuiet }) => {
      const vault = vaultOf(row)
      const listed = (streams.get(vault.id) ?? []).map(assetStreamBody)
      return {
        event: `vault.${word}` as const,
        ownerId: vault.ownerId,
        resourceId: vault.id,
        name: vault.name,
        actor: undefined,
        notice: {
          vaultId: vault.id,
          templateId: vault.templateId,
          data: vaultBody(vault, listed),
          isQuiet,
        },
      }
    })
  },
}

const assetStreams: ResourceTraits<Row<'asset_streams'>> = {
  type: 'asset_stream',
  table: 'asset_streams',
  columnsOf: ({ account, distributionWallet, mapping }) => ({
    issuer: account,
    distribution_wallet: distributionWallet,
    mapping,
  }),
  eventsOf: async (_transaction, told) =>
    told.map(({ row, word, isQuiet }) => {
      const stream = assetStreamOf(row)
      return {
        event: `asset_stream.${word}` as const,
        ownerId: stream.ownerId,
        resourceId: stream.id,
        name: stream.assetCode,
        actor: undefined,
        notice: { streamId: stream.id, data: assetStreamBody(stream), isQuiet },
      }
    }),
}

const attachments: ResourceTraits<Row<'attachments'>> = {
  type: 'attachment',
  table: 'attachments',
  columnsOf: () => ({}),
  eventsOf: attachmentEvents,
}

async function attachmentEvents(
  transaction: StateDatabase,
  told: readonly ToldRow<Row<'attachments'>>[],
) {
  const shown = await shownAttachments(
    transaction,
    told.map(({ row }) => row),
    listedFilesMax,
  )
  // A resource comes to a status once, and so there is one of each.
  const bodies = new Map(shown.map((one) => [keyOf(one.attachment), one]))
  return told.flatMap(({ row, word, isQuiet }) => {
    const one = bodies.get(keyOf(row))
    if (!one) return []
    const event = { event: `attachment.${word}` as const, ...attachmentSubject(one.attachment) }
    return [{ ...event, actor: undefined, notice: { data: attachmentBody(one), isQuiet } }]
  })
}

const signatures: ResourceTraits<Row<'signatures'>> = {
  type: 'signature',
  table: 'signatures',
  columnsOf: () => ({}),
  async eventsOf(transaction, told) {
    const rows = told.map(({ row }) => row)
    const [shown, names] = await Promise.all([
      shownSignatures(transaction, rows),
      attachmentNames(transaction, rows),
    ])
    return told.flatMap(({ row, word, isQuiet }, at) =>
      eventsOfSignature(shown[at] as ShownSignature, {
        word,
        name: names.get(row.attachment_id) ?? '',
        isQuiet,
      }),
    )
  },
}

async function attachmentNames(
  transaction: StateDatabase,
  rows: readonly Row<'signatures'>[],
): Promise<ReadonlyMap<string, string>> {
  const found = await transaction
    .selectFrom('attachments')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(rows.map((row) => row.attachment_id))])
    .execute()
  return new Map(found.map(({ id, name }) => [id, name]))
}

function keyOf({ id, status }: { readonly id: string; readonly status: string }): string {
  return `${id} ${status}`
}
