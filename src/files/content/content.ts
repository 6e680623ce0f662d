/**
 * How CIDs are made of bytes: the profile of IPIP-499, which names every choice that UnixFS leaves open.
 * It stands beside each CID, because other profiles give other CIDs for the same bytes.
 */
export const cidProfile = 'unixfs-v1-2025'

/** A file, by what its bytes are. */
export interface Content {
  /** CIDv1 in base32. */
  readonly cid: string
  /** Bytes. */
  readonly size: number
  /** Hex. */
  readonly sha256: string
  /** By its bytes, or else by its name: `application/octet-stream` when neither tells. */
  readonly mediaType: string
}

/** A content as a part of what was uploaded. */
export interface NamedContent extends Content {
  /** The path within an archive, with `/`, for a file of one. */
  readonly name: string
}

/** What was made of the bytes of an upload. Its contents are durable. */
export interface TakenUpload {
  /** That of the folder for an archive, and its own for a file. */
  readonly cid: string
  /** Bytes of all files together. */
  readonly size: number
  /** One, or as many as the archive has, in the order of their names. */
  readonly files: readonly NamedContent[]
}

/** What the bytes of an upload have to be. */
export type UploadForm =
  | { readonly is: 'file'; readonly name: string }
  | { readonly is: 'archive' }
  | { readonly is: 'image' }

export interface UploadLimits {
  /** Bytes as uploaded. */
  readonly bytesMax: number
  /** Bytes of all files of an archive together. */
  readonly unpackedBytesMax: number
  /** Bytes that the disk has room for now; where it is not said, the disk says it itself. */
  readonly roomBytes?: number
}
