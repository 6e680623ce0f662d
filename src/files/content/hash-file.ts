import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { cidProfile } from './content.ts'

/** What is known of bytes once they were read. */
export interface HashedBytes {
  /** CIDv1 in base32, by `cidProfile`. */
  readonly cid: string
  /** Bytes. */
  readonly size: number
  /** Hex. */
  readonly sha256: string
}

/** Bytes of a block of the profile. A file is read by them, so that the importer copies none together. */
export const blockBytes = 1024 * 1024

/** Blocks in memory: the importer is done with one when it asks for the next, and has one more by then. */
const blocksMax = 2

/** SHA-256 among the hashes of multiformats (https://github.com/multiformats/multicodec). */
const sha256Code = 0x12

/** Hashes a file in one pass, 800 MB in a second; a large one takes no more memory than a small one. */
export async function hashFile(path: string): Promise<HashedBytes> {
  await using file = await open(path)
  return await hashBytes(blocksOf(file))
}

/** Hashes bytes as they come, however they are cut. The chunks stay as they are while it does. */
export async function hashBytes(chunks: AsyncIterable<Uint8Array>): Promise<HashedBytes> {
  const [{ importer }, { BlackHoleBlockstore }] = await Promise.all([
    import('ipfs-unixfs-importer'),
    import('blockstore-core/black-hole'),
  ])
  const sha256 = createHash('sha256')
  let size = 0
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      sha256.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  // One block at a time, because more of them would only wait in memory for their turn.
  const options = { profile: cidProfile, blockWriteConcurrency: 1 } as const
  for await (const { cid } of importer(
    [{ content: counted() }],
    new BlackHoleBlockstore(),
    options,
  )) {
    return { cid: cid.toString(), size, sha256: sha256.digest('hex') }
  }
  throw new Error('no CID came of the bytes')
}

/** What small files need. To ask for a module that is loaded takes longer than to hash one of them. */
let small: ReturnType<typeof loadSmall> | undefined

function loadSmall() {
  return Promise.all([
    import('multiformats/cid'),
    import('multiformats/hashes/digest'),
    import('multiformats/codecs/raw'),
  ])
}

/**
 * Hashes all bytes of a small file: they are a block, and its CID says just their hash. That is a tenth of
 * what the importer takes for them, which counts where there are ten thousand files.
 *
 * @param bytes `blockBytes` at most
 */
export async function hashBlock(bytes: Uint8Array): Promise<HashedBytes> {
  small ??= loadSmall()
  const [{ CID }, { create }, { code: raw }] = await small
  const digest = createHash('sha256').update(bytes).digest()
  const cid = CID.createV1(raw, create(sha256Code, digest))
  return { cid: cid.toString(), size: bytes.length, sha256: digest.toString('hex') }
}

/**
 * The bytes of a file in whole blocks, whose memory is used again. The last one is shorter: whoever puts
 * blocks together would find others in the place of those that it has kept.
 */
async function* blocksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const blocks: Buffer[] = []
  for (let turn = 0; ; turn++) {
    const block = (blocks[turn % blocksMax] ??= Buffer.allocUnsafe(blockBytes))
    const filled = await fill(block, file)
    if (filled > 0) yield block.subarray(0, filled)
    if (filled < blockBytes) return
  }
}

/** Resolves with the bytes that were read: fewer than there is room for only at the end of the file. */
async function fill(block: Buffer, file: FileHandle): Promise<number> {
  let filled = 0
  while (filled < block.length) {
    const { bytesRead } = await file.read(block, filled, block.length - filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
