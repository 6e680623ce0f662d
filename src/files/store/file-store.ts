import type { UploadId } from './upload-id.ts'

/** Bytes that have arrived for an upload, and were not looked at yet. */
export interface StagedUpload {
  readonly upload: UploadId
  readonly bytes: number
}

/** A file of this machine that becomes a content. */
export interface LocalFile {
  readonly cid: string
  readonly path: string
}

/** Part of a content: `length` bytes from `start` on. */
export interface ByteRange {
  readonly start: number
  readonly length: number
}

/**
 * Where the bytes of files are: a folder of this machine, or a bucket of an object store.
 *
 * What arrives lies under the name of its upload, where nobody reads it but who looks at it. A
 * content lies under the CID that its bytes hash to, so it never changes, and is there once however
 * often it was uploaded. Which contents are needed is known to the state alone.
 *
 * Whatever asks a bucket that does not answer throws a DomainError `store_unavailable`.
 */
export interface FileStore {
  readonly kind: 'folder' | 's3'

  /** A folder of this machine for copies that are being looked at. It is emptied at each start. */
  readonly scratch: string

  /**
   * Writes what arrives. Once resolved it is there as a whole and durable; when it fails, nothing
   * is. Of several that arrive for one upload the last one stays.
   *
   * @throws DomainError `disk_full`; whatever the bytes throw
   */
  stage(upload: UploadId, bytes: AsyncIterable<Uint8Array>): Promise<void>

  /**
   * An address that takes the bytes of an upload by PUT, without us, until a time; undefined when
   * they have to come through our own route.
   */
  readonly uploadUrl: ((upload: UploadId, expiresAtMs: number) => Promise<string>) | undefined

  /** What has arrived, in no order. */
  staged(): AsyncIterable<StagedUpload>

  /**
   * A file of this machine with the staged bytes as they are now. It goes with `discard`, or with
   * `keep`.
   *
   * @throws DomainError `disk_full`; Error when nothing has arrived
   */
  fetch(upload: UploadId, signal: AbortSignal): Promise<string>

  /** Removes what has arrived for an upload, and local copies of it. Nothing there is fine. */
  discard(upload: UploadId): Promise<void>

  /**
   * Makes local files contents: they are moved, and once resolved all are durable. A content that
   * is there already stays as it is. When it fails, files that are no contents yet stay where they
   * are, but for one that the disk has lost; it can be asked for all of them again.
   *
   * @throws DomainError `disk_full`
   */
  keep(files: readonly LocalFile[]): Promise<void>

  /** @throws Error when there is no such content, before its first byte */
  read(cid: string, range?: ByteRange): AsyncIterable<Uint8Array>

  /** Every content that there is, in no order. */
  contents(): AsyncIterable<{ readonly cid: string; readonly bytes: number }>

  /** Removes a content. Nothing there is fine. */
  remove(cid: string): Promise<void>

  /** Whether bytes can be read and written now. @throws Error why not */
  check(): Promise<void>

  close(): Promise<void>
}
