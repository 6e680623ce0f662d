import type { Defaulted } from './column.ts'

/** Records of assets, what is attached to them, and the files of all resources. */
export interface FileTables {
  asset_streams: AssetStreamTable
  vault_streams: VaultStreamTable
  attachments: AttachmentTable
  files: FileTable
  contents: ContentTable
  released_contents: ReleasedContentTable
}

/** How far a resource has come on its way to a ledger. */
export interface AnchoredTable {
  readonly ledger: string
  /** Where it is anchored, whatever is configured later. */
  readonly network: Defaulted<string>
  readonly status: string
  readonly tx_hash: Defaulted<string>
  /** JSON array of the steps so far, each as [status, microseconds]. It is appended to only. */
  readonly progress: string
  /** JSON {error, message}: why it goes no further. */
  readonly failure: string | null
}

interface AssetStreamTable extends AnchoredTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly asset_code: string
  readonly description: string | null
  readonly issuer: Defaulted<string>
  readonly distribution_wallet: Defaulted<string>
  readonly mapping: Defaulted<string>
  readonly metadata_cid: Defaulted<string>
}

/** The asset streams that a vault lists, in the order of its template. */
interface VaultStreamTable {
  readonly vault_id: string
  readonly position: number
  readonly stream_id: string
}

interface AttachmentTable extends AnchoredTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly name: string
  readonly description: string | null
  /** The asset stream that it is attached to. */
  readonly stream_id: string
  readonly filename: string | null
  readonly upload_as_zip: number
  /** The CID of its file, or of the folder of its files; empty until they are there. */
  readonly cid: Defaulted<string>
  /** Bytes of all files together. */
  readonly size: Defaulted<number>
  readonly file_count: Defaulted<number>
  /** Steady time at which an upload is not waited for any more; null when none is. */
  readonly upload_due_at: number | null
}

/** Files of an attachment or of the bundle of a template. */
interface FileTable {
  readonly holder_id: string
  readonly position: number
  readonly name: string
  readonly cid: string
}

/** What the store of files has, each by what its bytes hash to. */
interface ContentTable {
  readonly cid: string
  /** Bytes. */
  readonly size: number
  /** Hex. */
  readonly sha256: string
  readonly media_type: string
  /** How the CID was made. */
  readonly profile: string
  readonly created_at: number
}

/** Contents that something has named, and names no more: something else may. Triggers fill it. */
interface ReleasedContentTable {
  readonly cid: string
}
