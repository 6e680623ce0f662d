import { isAbsolute, resolve } from 'node:path'
import { invalidParameter } from '../../core/errors.ts'
import type { AllowedDestination } from '../../egress/allowed-destinations.ts'

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

/** A prefix of an S3-compatible object store. */
export interface S3Address {
  readonly kind: 's3'
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Undefined: AWS itself. */
  readonly endpoint: string | undefined
  readonly region: string | undefined
}

export type BackupAddress = FolderAddress | S3Address

const addressLengthMax = 1_024

/**
 * Reads `/a/folder` or `s3://bucket/prefix?endpoint=http://host:port&region=name`. Credentials come from
 * the environment and never stand here, where everybody who lists backups would see them.
 *
 * @param path of the parameter, for messages
 * @throws DomainError `invalid_request`
 */
export function parseBackupAddress(text: string, path = 'to'): BackupAddress {
  if (text.length > addressLengthMax) throw invalidParameter(path, 'is too long')
  if (text.startsWith('s3://')) return parseS3(text, path)
  if (isAbsolute(text) && !text.includes('\0')) return { kind: 'folder', path: resolve(text) }
  throw invalidParameter(path, 'must be an absolute path of a folder, or s3://bucket/prefix')
}

function parseS3(text: string, path: string): S3Address {
  if (!URL.canParse(text)) throw invalidParameter(path, 'is no URL such as s3://bucket/prefix')
  const { hostname, port, username, password, pathname, searchParams, hash } = new URL(text)
  if (username + password !== '') {
    throw invalidParameter(path, 'must not contain credentials: they come from the environment')
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname) || port + hash !== '') {
    throw invalidParameter(path, 'names no bucket: s3://bucket/prefix')
  }
  const unknown = [...searchParams.keys()].find((name) => !['endpoint', 'region'].includes(name))
  if (unknown !== undefined) throw invalidParameter(path, `has an unknown parameter ${unknown}`)
  const prefix = decoded(pathname, path).replace(/^\/+|\/+$/g, '')
  return {
    kind: 's3',
    bucket: hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpointOf(searchParams.get('endpoint'), path),
    region: searchParams.get('region') ?? undefined,
  }
}

function decoded(pathname: string, path: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    throw invalidParameter(path, 'has a percent sign that begins no character')
  }
}

function endpointOf(text: string | null, path: string): string | undefined {
  if (text === null) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && url.username + url.password + url.search + url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin
  throw invalidParameter(path, 'has an endpoint that is not such as https://host:port')
}
