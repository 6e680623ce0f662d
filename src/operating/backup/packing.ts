import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib'
import { monotonicMs } from '../../core/clock.ts'
import { streamOf } from '../../core/heard-streams.ts'
import { DamagedBackup, type PackedFile } from './manifest.ts'
import { framePieces } from './zstd-frames.ts'

/** What is read and packed at once: for a millisecond or two, which others may have to wait for. */
const chunkBytes = 256 * 1024

/** How long to rest after each of them, in shares of the time that it took to pack and write it. */
const restShare = 2

/** Longest rest: what waits for a network leaves processor and disk to others anyway. */
const restMsMax = 50

/** The quickest: half of the time is spent on other things anyway, and others want the processor. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Packs a content as zstd frames, one for each chunk: frames behind each other are one content (RFC 8878,
 * section 3). Each is packed in the calling thread, which rests in between: the pool of threads belongs to the
 * store, and processor and disk to all others.
 */
export class Packing {
  readonly #name: string
  readonly #hash = createHash('sha256')
  #bytes = 0
  #contentBytes = 0

  constructor(name: string) {
    this.#name = name
  }

  /** The packed file, in pieces. `onContent` is told of the bytes that are behind each. */
  async *pack(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    onContent: (bytes: number) => void,
  ): AsyncGenerator<Uint8Array> {
    let isEmpty = true
    let startedMs = monotonicMs()
    for await (const chunk of chunks) {
      yield this.#frame(chunk)
      isEmpty = false
      onContent(chunk.byteLength)
      // Others have their turn: what goes over a network, or who says that it shall stop.
      await sleep(Math.min((monotonicMs() - startedMs) * restShare, restMsMax))
      startedMs = monotonicMs()
    }
    // A file without a frame is no packed file.
    if (isEmpty) yield this.#frame(new Uint8Array())
  }

  /** What the packed file is known by; complete once `pack` has ended. */
  file(): PackedFile {
    return {
      name: this.#name,
      bytes: this.#bytes,
      sha256: this.#hash.copy().digest('hex'),
      contentBytes: this.#contentBytes,
    }
  }

  #frame(chunk: Uint8Array): Uint8Array {
    const frame = zstdCompressSync(chunk, options)
    this.#hash.update(frame)
    this.#bytes += frame.byteLength
    this.#contentBytes += chunk.byteLength
    return frame
  }
}

/** The content of a file, in pieces that the next one overwrites. */
export function* chunksOf(path: string, bytesMax = chunkBytes): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  const chunk = Buffer.allocUnsafe(bytesMax)
  try {
    for (let read = 1; read > 0; ) {
      read = readSync(file, chunk)
      if (read > 0) yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(file)
  }
}

/**
 * The content of a packed file. What comes out is only to be believed once it has ended: then the file was
 * the one that the manifest lists.
 *
 * @throws DamagedBackup naming the file
 */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  file: PackedFile,
): AsyncGenerator<Uint8Array> {
  const unpacked = createZstdDecompress()
  // What goes wrong on either side comes out of the iteration.
  pipeline(streamOf(framePieces(checked(packed, file))), unpacked, () => undefined)
  let bytes = 0
  try {
    for await (const chunk of unpacked as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      yield chunk
    }
  } catch (error) {
    if (!isOfPacking(error)) throw error
    throw new DamagedBackup(`${file.name} is damaged: it cannot be unpacked`, { cause: error })
  }
  if (bytes !== file.contentBytes) {
    throw new DamagedBackup(`${file.name} is damaged: it holds ${bytes} bytes`)
  }
}

/** Hands a packed file on, and fails at its end when it is another one. @throws DamagedBackup */
export async function* checked(
  packed: AsyncIterable<Uint8Array>,
  { name, bytes, sha256 }: PackedFile,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let read = 0
  for await (const chunk of packed) {
    hash.update(chunk)
    read += chunk.byteLength
    yield chunk
  }
  if (read !== bytes) {
    throw new DamagedBackup(`${name} is damaged: it has ${read} bytes instead of ${bytes}`)
  }
  if (hash.digest('hex') !== sha256) {
    throw new DamagedBackup(`${name} is damaged: its digest is not that of the manifest`)
  }
}

/** Codes of zlib's errors: https://nodejs.org/api/zlib.html#zlib-constants, and ends of input. */
function isOfPacking(error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string }
  return /^(ZSTD_|Z_|ERR_BUFFER)/.test(code)
}
