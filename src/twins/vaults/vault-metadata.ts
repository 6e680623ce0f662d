import type { AnchoredPart } from '../../anchors/intents/anchor.ts'
import { encodeMetadata, type Metadata, newSalt } from '../../anchors/metadata/encode-metadata.ts'
import { formatUs } from '../../core/time.ts'
import { flatFolderCid } from '../../files/content/flat-folder.ts'
import type { FolderFile } from '../../files/content/folder-cid.ts'
import { hashBlock } from '../../files/content/hash-file.ts'
import type { Vault } from './vault.ts'

/** What a vault is made of that stands outside of it. */
export interface VaultMaterials {
  readonly templateMetadataCid: string
  /** CIDs of the metadata of its asset streams, in their order. */
  readonly streamMetadataCids: readonly string[]
  /** Bytes of the default image, where there is one. */
  readonly imageSize: number
}

/** What is anchored of a vault. */
export interface VaultCids {
  readonly metadata: Metadata
  /** The folder first, then what is in it. */
  readonly parts: readonly [AnchoredPart, ...AnchoredPart[]]
}

export async function vaultCids(
  vault: Pick<
    Vault,
    | 'name'
    | 'description'
    | 'templateId'
    | 'jsonPayload'
    | 'defaultImageCid'
    | 'public'
    | 'createdAtUs'
  >,
  { templateMetadataCid, streamMetadataCids, imageSize }: VaultMaterials,
  salt: string | undefined = vault.public ? undefined : newSalt(),
): Promise<VaultCids> {
  const { jsonPayload, defaultImageCid } = vault
  const payload = jsonPayload === null ? undefined : await hashBlock(Buffer.from(jsonPayload))
  const metadata = await encodeMetadata('vault', {
    name: vault.name,
    description: vault.description,
    template: vault.templateId,
    template_metadata_cid: templateMetadataCid,
    payload: jsonPayload,
    payload_sha256: payload?.sha256 ?? null,
    default_image: defaultImageCid === '' ? null : defaultImageCid,
    streams: streamMetadataCids,
    created_at: formatUs(vault.createdAtUs),
    ...(salt !== undefined && { salt }),
  })
  const files: FolderFile[] = [
    { name: 'metadata.json', cid: metadata.cid, size: metadata.bytes.length },
  ]
  if (payload) files.push({ name: 'payload.json', cid: payload.cid, size: payload.size })
  if (defaultImageCid !== '') files.push({ name: 'image', cid: defaultImageCid, size: imageSize })
  const folder = { name: '', cid: await flatFolderCid(files) }
  return { metadata, parts: [folder, ...files.map(({ name, cid }) => ({ name, cid }))] }
}
