import { isAbsolute, resolve } from 'node:path'
import { invalidParameter } from '../../core/errors.ts'
import type { AllowedDestination } from '../../egress/allowed-destinations.ts'
import { parseS3Address, type S3Address } from '../../egress/object-store/s3-address.ts'

/** Where a place may be. */
export interface PlaceRules {
  /** Private destinations that may be reached; undefined: whoever asks may reach everything. */
  readonly egressAllowed: readonly AllowedDestination[] | undefined
}

/**
 * Where the files of one backup are: a folder or a prefix of an object store. Everything about it may fail
 * with an Error whose message says what is wrong there.
 */
export interface BackupPlace {
  /** Name as people write it. */
  readonly name: string
  /** A folder beside the backup for copies that are not packed yet; undefined: it has none. */
  readonly stagingFolder: string | undefined

  /**
   * Makes the place.
   *
   * @throws DomainError `conflict` when there is something already
   */
  prepare(): Promise<void>

  /** Writes a file; once resolved it is there as a whole and durable. `bytesMax` is a guess of its size. */
  write(name: string, chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void>

  /** @throws Error when there is no such file */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>

  /** Removes these files as far as they are there, and what `prepare` has made. */
  remove(names: readonly string[]): Promise<void>
}

/** A folder of this machine. */
export interface FolderAddress {
  readonly kind: 'folder'
  readonly path: string
}

export type BackupAddress = FolderAddress | S3Address

const addressLengthMax = 1_024

/**
 * Reads `/a/folder` or an address of an object store.
 *
 * @param path of the parameter, for messages
 * @throws DomainError `invalid_request`
 */
export function parseBackupAddress(text: string, path = 'to'): BackupAddress {
  if (text.length > addressLengthMax) throw invalidParameter(path, 'is too long')
  if (text.startsWith('s3://')) return parseS3Address(text, path)
  if (isAbsolute(text) && !text.includes('\0')) return { kind: 'folder', path: resolve(text) }
  throw invalidParameter(path, 'must be an absolute path of a folder, or s3://bucket/prefix')
}
