import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { withDriver } from '../optional-drivers.ts'

/** Bytes of a batch when it is decompressed: a few bytes of a hostile broker could stand for all memory there is. */
const batchBytesMax = 64 * 1024 * 1024

/**
 * Bytes and records of all batches of one answer: each record takes much more memory than its
 * bytes.
 */
const answerBytesMax = 256 * 1024 * 1024
const answerRecordsMax = 2_000_000

/** What the answer that is read may still become: it is read at one go. */
let left = { bytes: answerBytesMax, records: answerRecordsMax }

/** Reads one answer. @throws Error when it would take too much memory */
export function readAnswer<Result>(read: () => Result): Result {
  left = { bytes: answerBytesMax, records: answerRecordsMax }
  return read()
}

/** The library of the protocol: loaded when it is needed, as most services speak with no Kafka. */
export type Library = typeof import('@platformatic/kafka')

let loading: Promise<Library> | undefined

export async function loadLibrary(): Promise<Library> {
  loading ??= boundedLibrary()
  return await loading
}

async function boundedLibrary(): Promise<Library> {
  const library = await withDriver('kafka', () => import('@platformatic/kafka'))
  const { UnsupportedCompressionError } = library
  const algorithms: Algorithms = library.compressionsAlgorithms
  const tooLarge = new UnsupportedCompressionError('a batch is too large when it is decompressed')
  const bounded = (decompress: (data: Buffer, limit: Limit) => Buffer) => (data: Given) => {
    try {
      const limit = { maxOutputLength: Math.max(1, Math.min(batchBytesMax, left.bytes)) }
      const records = decompress(Buffer.isBuffer(data) ? data : data.buffer, limit)
      if (records.byteLength > limit.maxOutputLength) throw tooLarge
      left.bytes -= records.byteLength
      left.records -= countOf(records, left.records)
      return records
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error
      throw tooLarge
    }
  }
  // The library has no limit of its own. Its other two algorithms cannot be told one: what they made is counted.
  const { lz4, snappy } = algorithms
  const unpackLz4 = lz4.decompressSync.bind(lz4)
  const unpackSnappy = snappy.decompressSync.bind(snappy)
  lz4.decompressSync = bounded((data) => unpackLz4(data))
  snappy.decompressSync = bounded((data) => unpackSnappy(data))
  algorithms.gzip.decompressSync = bounded(gunzipSync)
  algorithms.zstd.decompressSync = bounded(zstdDecompressSync)
  return library
}

/**
 * How many records there are, each with its length in front of it (a varint in zigzag).
 *
 * @throws Error for more than there may be
 */
function countOf(records: Buffer, most: number): number {
  let count = 0
  for (let at = 0; at < records.length; count++) {
    if (count === most) throw new Error('the broker sends too many messages at once')
    let length = 0
    for (let shift = 0, byte = 0x80; byte >= 0x80 && shift < 35; shift += 7) {
      byte = records[at++] ?? 0
      length += (byte & 0x7f) * 2 ** shift
    }
    at += Math.floor(length / 2)
  }
  return count
}

interface Limit {
  readonly maxOutputLength: number
}

interface Algorithms {
  readonly gzip: Algorithm
  readonly zstd: Algorithm
  readonly lz4: Algorithm
  readonly snappy: Algorithm
}

interface Algorithm {
  decompressSync(data: Given): Buffer
}

/** What the library gives its algorithms. */
type Given = Buffer | DynamicBuffer

interface DynamicBuffer {
  readonly buffer: Buffer
}

/** Calls by the names of the protocol, in the shape of their newest versions: those of older ones take the same. */
export interface Calls {
  readonly Metadata: Library['metadataV12']['api']['async']
  readonly FindCoordinator: Library['findCoordinatorV6']['api']['async']
  readonly JoinGroup: Library['joinGroupV9']['api']['async']
  readonly SyncGroup: Library['syncGroupV5']['api']['async']
  readonly Heartbeat: Library['heartbeatV4']['api']['async']
  readonly LeaveGroup: Library['leaveGroupV5']['api']['async']
  readonly DeleteGroups: Library['deleteGroupsV2']['api']['async']
  readonly OffsetFetch: Library['offsetFetchV9']['api']['async']
  readonly OffsetCommit: Library['offsetCommitV9']['api']['async']
  readonly ListOffsets: Library['listOffsetsV9']['api']['async']
  readonly Fetch: Library['fetchV17']['api']['async']
  readonly SaslHandshake: Library['saslHandshakeV1']['api']['async']
}

export type CallName = keyof Calls

/** What a call takes beside its connection. */
export type Arguments<Name extends CallName> =
  Parameters<Calls[Name]> extends [unknown, ...infer Rest] ? Rest : never

export type Answer<Name extends CallName> = Awaited<ReturnType<Calls[Name]>>
