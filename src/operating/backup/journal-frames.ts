import type { JournalBatch, JournalReader, Offset } from '../../storage/journal/journal.ts'
import { DamagedBackup } from './manifest.ts'

/** Offset (8 bytes), number of entries, length of what follows (4 bytes each), little-endian. */
const headerBytes = 16

/** A batch has about a mebibyte; what claims more than this was not written by us. */
const batchBytesMax = 64 * 1024 * 1024

const entriesPerRead = 5_000

/** The batches of the journal between two offsets, as bytes: each with a header. */
export function* journalFrames(
  reader: JournalReader,
  { from, to }: { readonly from: Offset; readonly to: Offset },
  onBatch: (batch: JournalBatch) => void,
): Generator<Uint8Array> {
  for (let position = from; position < to; ) {
    const batches = reader.read(position, entriesPerRead)
    const [first] = batches
    if (first === undefined || first.firstOffset > position) {
      throw new Error(`the journal has no entry ${position} any more`)
    }
    const wanted = batches.filter(({ firstOffset }) => firstOffset < to)
    for (const batch of wanted) onBatch(batch)
    yield Buffer.concat(wanted.flatMap((batch) => [headerOf(batch), batch.bytes]))
    const last = wanted.at(-1) ?? first
    position = last.firstOffset + last.count
  }
}

function headerOf({ firstOffset, count, bytes }: JournalBatch): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeBigUInt64LE(BigInt(firstOffset), 0)
  header.writeUInt32LE(count, 8)
  header.writeUInt32LE(bytes.byteLength, 12)
  return header
}

/** The batches again. @throws DamagedBackup */
export async function* batchesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JournalBatch> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    let at = 0
    for (;;) {
      const batch = batchAt(rest, at)
      if (batch === undefined) break
      yield batch
      at += headerBytes + batch.bytes.byteLength
    }
    rest = rest.subarray(at)
  }
  if (rest.length > 0) throw new DamagedBackup('the journal ends within a batch')
}

function batchAt(bytes: Buffer, at: number): JournalBatch | undefined {
  if (bytes.length < at + headerBytes) return undefined
  const length = bytes.readUInt32LE(at + 12)
  if (length > batchBytesMax) throw new DamagedBackup('the journal has an impossible batch')
  const end = at + headerBytes + length
  if (bytes.length < end) return undefined
  return {
    firstOffset: Number(bytes.readBigUInt64LE(at)),
    count: bytes.readUInt32LE(at + 8),
    bytes: bytes.subarray(at + headerBytes, end),
  }
}
