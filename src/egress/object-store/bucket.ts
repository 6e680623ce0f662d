import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { streamOf } from '../../core/heard-streams.ts'
import type { AllowedDestination } from '../allowed-destinations.ts'
import { bucketFailure, isBeyondEnd, isMissing } from './bucket-failure.ts'
import { type Agents, guardedAgents } from './guarded-agents.ts'
import type { S3Address } from './s3-address.ts'

/** Parts of an upload, of which there may be 10,000, and how many are held and sent at once. */
const partBytesMin = 8 * 1024 * 1024
const partsMax = 9_000
const partsAtOnce = 2

/** Attempts of each request, with growing pauses between them. */
const attemptsMax = 6

const connectMs = 10_000
/** Longest silence of a connection. */
const silenceMsDefault = 60_000

/**
 * Region where neither the address nor the environment names one: servers of other makers have
 * none.
 */
const regionDefault = 'us-east-1'

/** What may be connected to, and for how long nothing may be heard. */
export interface BucketRules {
  /** Private destinations that may be reached; undefined: whoever asks may reach everything. */
  readonly egressAllowed: readonly AllowedDestination[] | undefined
  readonly silenceMs?: number
}

export interface StoredObject {
  readonly key: string
  readonly bytes: number
}

export interface ObjectPart {
  /** `length` bytes, at least one, from `start` on. */
  readonly range?: { readonly start: number; readonly length: number } | undefined
  readonly signal?: AbortSignal | undefined
}

export interface SignedUpload {
  readonly signedAtMs: number
  readonly expiresAtMs: number
}

/** @throws DomainError `destination_not_allowed` */
export async function openBucket(address: S3Address, rules: BucketRules): Promise<Bucket> {
  const { egressAllowed, silenceMs = silenceMsDefault } = rules
  const agents = egressAllowed && (await guardedAgents(address, egressAllowed))
  return new Bucket(address, clientOf(address, agents, silenceMs))
}

function clientOf(address: S3Address, agents: Agents | undefined, silenceMs: number): S3Client {
  const { endpoint, region = process.env['AWS_REGION'] ?? regionDefault } = address
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: attemptsMax,
    requestHandler: { ...agents, connectionTimeout: connectMs, socketTimeout: silenceMs },
    // Servers of other makers do not know the checksums that newer clients add.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

/**
 * What lies under a prefix of a bucket; keys are what is behind the prefix. Credentials are those
 * of the environment that AWS defines.
 *
 * @throws DomainError `store_unavailable` from everything that asks the server, for what may pass
 *   by itself; Error that says what is wrong for the rest
 */
export class Bucket {
  readonly name: string
  readonly #address: S3Address
  readonly #client: S3Client

  constructor(address: S3Address, client: S3Client) {
    this.name = `s3://${address.bucket}/${address.prefix}`
    this.#address = address
    this.#client = client
  }

  async isEmpty(): Promise<boolean> {
    const { bucket, prefix } = this.#address
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
    const { KeyCount = 0 } = await this.#asked(() => this.#client.send(list))
    return KeyCount === 0
  }

  /** Objects whose keys begin with a text, in the order of their keys. */
  async *list(begin: string): AsyncGenerator<StoredObject> {
    const { bucket, prefix } = this.#address
    const input = { Bucket: bucket, Prefix: prefix + begin }
    const pages = paginateListObjectsV2({ client: this.#client }, input)[Symbol.asyncIterator]()
    for (;;) {
      const page = await this.#asked(() => pages.next())
      if (page.done === true) return
      for (const { Key = '', Size = 0 } of page.value.Contents ?? []) {
        yield { key: Key.slice(prefix.length), bytes: Size }
      }
    }
  }

  /** Bytes of an object; undefined: there is none. */
  async bytesOf(key: string): Promise<number | undefined> {
    return await this.#asked(async () => {
      try {
        const head = await this.#client.send(new HeadObjectCommand(this.#object(key)))
        return head.ContentLength ?? 0
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    })
  }

  /**
   * Writes an object in parts; once resolved it is there as a whole, and when it fails, nothing is.
   *
   * @param bytesMax a guess of its size
   * @throws whatever the chunks throw
   */
  async write(key: string, chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
    let broken: { readonly cause: unknown } | undefined
    const watched = whenBroken(chunks, (cause) => {
      broken = { cause }
    })
    const body = streamOf(watched, { objectMode: false })
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#object(key), Body: body },
      partSize: Math.max(partBytesMin, Math.ceil(bytesMax / partsMax)),
      queueSize: partsAtOnce,
    })
    try {
      await this.#asked(
        () => upload.done(),
        () => broken,
      )
    } finally {
      body.destroy()
    }
  }

  /** Writes an object of which all bytes are here. */
  async writeWhole(key: string, bytes: Uint8Array): Promise<void> {
    const put = new PutObjectCommand({ ...this.#object(key), Body: bytes })
    await this.#asked(() => this.#client.send(put))
  }

  /**
   * Less than the range asks for when the object has no more.
   *
   * @throws Error when there is no object
   */
  async *read(key: string, { range, signal }: ObjectPart = {}): AsyncGenerator<Uint8Array> {
    const last = range && range.start + range.length - 1
    const Range = range && `bytes=${range.start}-${last}`
    const get = new GetObjectCommand({ ...this.#object(key), Range })
    const body = await this.#asked(async () => {
      try {
        const { Body } = await this.#client.send(get, signal && { abortSignal: signal })
        return Body as Readable
      } catch (error) {
        signal?.throwIfAborted()
        if (range && isBeyondEnd(error)) return undefined
        throw error
      }
    })
    if (body === undefined) return
    try {
      yield* body
    } catch (error) {
      signal?.throwIfAborted()
      throw bucketFailure(this.name, error)
    }
  }

  /** Removes objects, at most 1,000, as far as they are there. */
  async remove(keys: readonly string[]): Promise<void> {
    const [first, ...others] = keys.map((key) => this.#object(key))
    if (first === undefined) return
    if (others.length === 0) {
      await this.#asked(() => this.#client.send(new DeleteObjectCommand(first)))
      return
    }
    const Objects = [first, ...others].map(({ Key }) => ({ Key }))
    const remove = new DeleteObjectsCommand({
      Bucket: this.#address.bucket,
      Delete: { Objects, Quiet: true },
    })
    await this.#asked(() => this.#client.send(remove))
  }

  /**
   * Takes away the parts of uploads that were begun before a time and never ended, of 1,000 at
   * once.
   */
  async removeUnfinished(beforeMs: number): Promise<void> {
    const { bucket, prefix } = this.#address
    const list = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix })
    const { Uploads = [] } = await this.#asked(() => this.#client.send(list))
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Initiated === undefined || Initiated.getTime() >= beforeMs) continue
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })
      await this.#asked(() => this.#client.send(abort))
    }
  }

  /**
   * An address that takes an object by PUT from anybody; nothing is signed with it but the host.
   */
  async uploadUrl(key: string, { signedAtMs, expiresAtMs }: SignedUpload): Promise<string> {
    const signedAt = Math.floor(signedAtMs / 1_000)
    const put = new PutObjectCommand(this.#object(key))
    return await this.#asked(() =>
      getSignedUrl(this.#client, put, {
        signingDate: new Date(signedAt * 1_000),
        expiresIn: Math.max(1, Math.floor(expiresAtMs / 1_000) - signedAt),
      }),
    )
  }

  close(): void {
    this.#client.destroy()
  }

  #object(key: string) {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + key }
  }

  /** @param broken what has failed on our side meanwhile, and is no failure of the server */
  async #asked<Answer>(
    request: () => Promise<Answer>,
    broken: () => { readonly cause: unknown } | undefined = () => undefined,
  ): Promise<Answer> {
    try {
      return await request()
    } catch (error) {
      const ours = broken()
      throw ours === undefined ? bucketFailure(this.name, error) : ours.cause
    }
  }
}

/**
 * Hands values on, and tells of a failure to make one, but not of one that is thrown into their
 * source.
 */
function whenBroken<Value>(
  values: AsyncIterable<Value>,
  tell: (cause: unknown) => void,
): AsyncIterable<Value> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = values[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            return await iterator.next()
          } catch (error) {
            tell(error)
            throw error
          }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
