import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { takeAllSteps } from '../../core/all-steps.ts'
import type { Clock } from '../../core/clock.ts'
import { fileStream } from '../../core/heard-streams.ts'
import type { Bucket } from '../../egress/object-store/bucket.ts'
import { isMissing } from '../../egress/object-store/bucket-failure.ts'
import type { S3Address } from '../../egress/object-store/s3-address.ts'
import { someAtOnce } from './at-once.ts'
import { assertCid, isCid, noSuchContent, nothingArrived } from './content-name.ts'
import { writeInPortions } from './durable-file.ts'
import type { ByteRange, FileStore, LocalFile, StagedUpload } from './file-store.ts'
import { Scratch } from './scratch.ts'
import { parseUploadId, type UploadId } from './upload-id.ts'

/**
 * Small files are sent at once, as each costs round trips; larger ones one after another, in parts.
 */
const smallBytesMax = 1024 * 1024
const smallAtOnce = 16

/**
 * The most that an upload has, for the size of the parts of one whose bytes are not counted yet.
 */
const uploadBytesMost = 5 * 1024 ** 3

/** What was begun so long ago was cut off: no upload takes a day. */
const unfinishedMsMax = 86_400_000

const stagedBegin = 'staged/'
const contentBegin = 'content/'

export interface S3FileStoreNeeds {
  readonly address: S3Address
  readonly folder: string
  readonly spareBytes: number
  readonly clock: Clock
  /** Whether copies that a crash has left are removed. */
  readonly clearsLeftovers: boolean
}

export async function openS3FileStore(needs: S3FileStoreNeeds): Promise<FileStore> {
  const scratch = new Scratch(join(needs.folder, 'scratch'))
  await scratch.prepare()
  if (needs.clearsLeftovers) await scratch.empty()
  return new S3FileStore(needs, scratch)
}

/**
 * Files in a bucket. Those who upload write there themselves, at any time, so what is looked at is
 * a copy of this machine, and that is what becomes a content.
 */
class S3FileStore implements FileStore {
  readonly kind = 's3'
  readonly #needs: S3FileStoreNeeds
  readonly #scratch: Scratch
  #bucket: Promise<Bucket> | undefined
  #tidied: Promise<void> | undefined

  constructor(needs: S3FileStoreNeeds, scratch: Scratch) {
    this.#needs = needs
    this.#scratch = scratch
  }

  get scratch(): string {
    return this.#scratch.path
  }

  async stage(upload: UploadId, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const bucket = await this.#tidyBucket()
    await bucket.write(stagedBegin + upload, bytes, uploadBytesMost)
  }

  async uploadUrl(upload: UploadId, expiresAtMs: number): Promise<string> {
    const signedAtMs = this.#needs.clock.nowUs() / 1_000
    const bucket = await this.#opened()
    return await bucket.uploadUrl(stagedBegin + upload, { signedAtMs, expiresAtMs })
  }

  async *staged(): AsyncGenerator<StagedUpload> {
    const bucket = await this.#opened()
    for await (const { key, bytes } of bucket.list(stagedBegin)) {
      const upload = parseUploadId(key.slice(stagedBegin.length))?.id
      if (upload !== undefined) yield { upload, bytes }
    }
  }

  async fetch(upload: UploadId, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const bucket = await this.#opened()
    const path = await this.#scratch.pathFor(upload)
    try {
      const bytes = bucket.read(stagedBegin + upload, { signal })
      await writeInPortions(path, bytes, {
        spareBytes: this.#needs.spareBytes,
        remove: (part) => this.#scratch.remove(part),
      })
    } catch (error) {
      throw isMissing(error) ? nothingArrived(upload, error) : error
    }
    return path
  }

  async discard(upload: UploadId): Promise<void> {
    await takeAllSteps([
      async () => this.#scratch.discard(upload),
      async () => (await this.#opened()).remove([stagedBegin + upload]),
    ])
  }

  async keep(files: readonly LocalFile[]): Promise<void> {
    for (const { cid } of files) assertCid(cid)
    const bucket = await this.#tidyBucket()
    const large: SizedFile[] = []
    await someAtOnce(smallAtOnce, files, async ({ cid, path }) => {
      const isThere = (await bucket.bytesOf(contentBegin + cid)) !== undefined
      const bytes = isThere ? 0 : (await stat(path)).size
      if (bytes > smallBytesMax) large.push({ cid, path, bytes })
      else {
        if (!isThere) await bucket.writeWhole(contentBegin + cid, await readFile(path))
        await this.#scratch.remove(path)
      }
    })
    for (const { cid, path, bytes } of large) {
      await bucket.write(contentBegin + cid, fileStream(path), bytes)
      await this.#scratch.remove(path)
    }
  }

  async *read(cid: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    assertCid(cid)
    const bucket = await this.#opened()
    if (range?.length === 0) {
      if ((await bucket.bytesOf(contentBegin + cid)) === undefined) throw noSuchContent(cid)
      return
    }
    try {
      yield* bucket.read(contentBegin + cid, { range })
    } catch (error) {
      throw isMissing(error) ? noSuchContent(cid, error) : error
    }
  }

  async *contents(): AsyncGenerator<{ readonly cid: string; readonly bytes: number }> {
    const bucket = await this.#opened()
    for await (const { key, bytes } of bucket.list(contentBegin)) {
      const cid = key.slice(contentBegin.length)
      if (isCid(cid)) yield { cid, bytes }
    }
  }

  async remove(cid: string): Promise<void> {
    assertCid(cid)
    const bucket = await this.#opened()
    await bucket.remove([contentBegin + cid])
  }

  async check(): Promise<void> {
    const bucket = await this.#opened()
    const key = `check-${randomUUID()}`
    const written = Buffer.from(key)
    await bucket.writeWhole(key, written)
    try {
      const read = await buffer(bucket.read(key))
      if (!read.equals(written))
        throw new Error(`${bucket.name}: an object is not what was written`)
    } finally {
      await bucket.remove([key])
    }
  }

  async close(): Promise<void> {
    const bucket = await this.#bucket
    bucket?.close()
    await this.#scratch.close()
  }

  /** Connects to nothing yet, but loads much, so the first who needs it waits for that. */
  async #opened(): Promise<Bucket> {
    const { openBucket } = await import('../../egress/object-store/bucket.ts')
    // The address is set by who runs the service, and who may have it reach everything.
    this.#bucket ??= openBucket(this.#needs.address, { egressAllowed: undefined })
    return await this.#bucket
  }

  /**
   * The bucket, once it has nothing that was cut off long ago: it would be paid for without being
   * seen.
   */
  async #tidyBucket(): Promise<Bucket> {
    const bucket = await this.#opened()
    const beforeMs = this.#needs.clock.nowUs() / 1_000 - unfinishedMsMax
    // Keys that may not list this can do all the rest.
    this.#tidied ??= bucket.removeUnfinished(beforeMs).catch(() => undefined)
    await this.#tidied
    return bucket
  }
}

interface SizedFile extends LocalFile {
  readonly bytes: number
}
