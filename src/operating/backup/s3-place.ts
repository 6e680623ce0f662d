import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { DomainError, messageOf } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import { AllowedDestinations, type Destination } from '../../egress/allowed-destinations.ts'
import { EgressGuard } from '../../egress/egress-guard.ts'
import type { BackupPlace, PlaceRules, S3Address } from './backup-place.ts'

/** Parts of an upload, of which there may be 10,000, and how many are held and sent at once. */
const partBytesMin = 8 * 1024 * 1024
const partsMax = 9_000
const partsAtOnce = 2

/** Attempts of each request, with growing pauses between them. */
const attemptsMax = 6

const connectMs = 10_000
/** Longest silence of a connection. */
const silenceMs = 60_000

/**
 * Region where neither the address nor the environment names one: servers of other makers have
 * none.
 */
const regionDefault = 'us-east-1'

/** @throws DomainError `destination_not_allowed` */
export async function openS3Place(address: S3Address, rules: PlaceRules): Promise<BackupPlace> {
  return new S3Place(address, await agentsFor(address, rules))
}

type Agents = { readonly httpAgent?: HttpAgent; readonly httpsAgent?: HttpsAgent }

/**
 * Connections to what the guard has checked only, where there is one: Node asks `lookup` for names alone, so an
 * address is looked at here.
 */
async function agentsFor({ endpoint }: S3Address, { egressAllowed }: PlaceRules): Promise<Agents> {
  if (egressAllowed === undefined) return {}
  const guard = new EgressGuard({ allowed: new AllowedDestinations(egressAllowed) })
  const port = endpoint === undefined ? 443 : portOf(new URL(endpoint))
  const lookup: LookupFunction = (host, _options, answer) => {
    void addressesFor(guard, { host, port }, answer)
  }
  if (endpoint !== undefined) await guard.addressesOf(destinationOf(new URL(endpoint)))
  const options = { lookup, keepAlive: true }
  return { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) }
}

async function addressesFor(
  guard: EgressGuard,
  destination: Destination,
  answer: Parameters<LookupFunction>[2],
): Promise<void> {
  try {
    const addresses = await guard.addressesOf(destination)
    const problem = addresses.length > 0 ? null : new Error(`${destination.host} does not resolve`)
    answer(
      problem,
      addresses.map((address) => ({ address, family: isIP(address) })),
    )
  } catch (error) {
    answer(error as Error, [])
  }
}

function destinationOf(url: URL): Destination {
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: portOf(url) }
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** A backup under a prefix of a bucket. Credentials are those of the environment that AWS defines. */
class S3Place implements BackupPlace {
  readonly name: string
  readonly stagingFolder = undefined
  readonly #client: S3Client
  readonly #address: S3Address

  constructor(address: S3Address, agents: Agents) {
    this.#address = address
    this.name = `s3://${address.bucket}/${address.prefix}`
    const { endpoint, region = process.env['AWS_REGION'] ?? regionDefault } = address
    this.#client = new S3Client({
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      maxAttempts: attemptsMax,
      requestHandler: { ...agents, connectionTimeout: connectMs, requestTimeout: silenceMs },
      // Servers of other makers do not know the checksums that newer clients add; ours are in the manifest.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
  }

  async prepare(): Promise<void> {
    const { bucket, prefix } = this.#address
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
    const { KeyCount = 0 } = await this.#asked(() => this.#client.send(list))
    if (KeyCount > 0) {
      throw new DomainError('conflict', `${this.name} is not empty: each backup has its own prefix`)
    }
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#object(name), Body: streamOf(chunks, { objectMode: false }) },
      partSize: Math.max(partBytesMin, Math.ceil(bytesMax / partsMax)),
      queueSize: partsAtOnce,
    })
    await this.#asked(() => upload.done())
  }

  async *read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const get = new GetObjectCommand(this.#object(name))
    const { Body } = await this.#asked(() => this.#client.send(get, { abortSignal: signal }))
    yield* Body as Readable
  }

  async remove(names: readonly string[]): Promise<void> {
    const { bucket } = this.#address
    const Objects = names.map((name) => ({ Key: this.#object(name).Key }))
    const remove = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } })
    await this.#asked(() => this.#client.send(remove))
  }

  #object(name: string) {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + name }
  }

  /** Says where it was that something failed: the client's messages do not. */
  async #asked<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    try {
      return await request()
    } catch (error) {
      if (error instanceof DomainError) throw error
      const { name = '' } = error as { readonly name?: string }
      throw new Error(`${this.name}: ${name} ${messageOf(error)}`, { cause: error })
    }
  }
}
