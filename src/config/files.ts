import { DomainError } from '../core/errors.ts'
import { parseS3Address, type S3Address } from '../egress/object-store/s3-address.ts'
import { durationOf } from './duration-setting.ts'

/** Where the files of users are: in the data folder, or in a bucket. */
export type FilesAddress = { readonly kind: 'folder' } | S3Address

/** Settings of the files that users upload. */
export interface FilesConfig {
  readonly filesAddress: FilesAddress
  /** Bytes of one upload. */
  readonly uploadBytesMax: number
  /** Bytes of all files of one user. */
  readonly filesBytesMax: number
  /** How long an upload is waited for. */
  readonly uploadWaitUs: number
}

/** The most that an object store takes in one PUT. */
const uploadBytesMost = 5 * 1024 ** 3

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly bytes: (name: string, fallback: string) => number
  readonly problems: string[]
}

export function readFilesConfig(reading: Reading): FilesConfig {
  return {
    filesAddress: addressOf(reading),
    uploadBytesMax: uploadBytesOf(reading),
    filesBytesMax: reading.bytes('STREAMVAULT_FILES_MAX', '20GiB'),
    uploadWaitUs: durationOf(reading, 'STREAMVAULT_UPLOAD_WAIT', '24h'),
  }
}

/** What is given is not shown: where it is wrong, there may be credentials in it. */
function addressOf({ text, problems }: Reading): FilesAddress {
  const name = 'STREAMVAULT_FILES_URL'
  const given = text(name, 'folder')
  if (given === 'folder') return { kind: 'folder' }
  if (!given.startsWith('s3://')) {
    problems.push(`${name} must be folder or such as s3://bucket/prefix?endpoint=https://host:port`)
    return { kind: 'folder' }
  }
  try {
    return parseS3Address(given, name)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    problems.push(error.message)
    return { kind: 'folder' }
  }
}

function uploadBytesOf({ bytes, problems }: Reading): number {
  const max = bytes('STREAMVAULT_UPLOAD_MAX', '2GiB')
  if (max <= uploadBytesMost) return max
  problems.push('STREAMVAULT_UPLOAD_MAX must be 5GiB at most')
  return uploadBytesMost
}
