import { conflict } from '../../core/conflict.ts'
import { type Bucket, openBucket } from '../../egress/object-store/bucket.ts'
import type { S3Address } from '../../egress/object-store/s3-address.ts'
import type { BackupPlace, PlaceRules } from './backup-place.ts'

/** @throws DomainError `destination_not_allowed` */
export async function openS3Place(address: S3Address, rules: PlaceRules): Promise<BackupPlace> {
  return new S3Place(await openBucket(address, rules))
}

/** A backup under a prefix of a bucket. */
class S3Place implements BackupPlace {
  readonly name: string
  readonly stagingFolder = undefined
  readonly #bucket: Bucket

  constructor(bucket: Bucket) {
    this.name = bucket.name
    this.#bucket = bucket
  }

  async prepare(): Promise<void> {
    if (await this.#bucket.isEmpty()) return
    throw conflict(
      `${this.name} is not empty: each backup has its own prefix`,
      'Name a prefix in to under which there is nothing; docs/backup.md has examples.',
    )
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
    await this.#bucket.write(name, chunks, bytesMax)
  }

  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#bucket.read(name, { signal })
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#bucket.remove(names)
  }
}
