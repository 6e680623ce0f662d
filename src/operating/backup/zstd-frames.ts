/** Number at the start of each frame, little-endian (RFC 8878, section 3.1.1). */
const magic = 0xfd2fb528

/** Bytes of the fields of a frame's header, by their flags (section 3.1.1.1.1). */
const dictionaryIdBytes = [0, 1, 2, 4]
const contentSizeBytes = [0, 2, 4, 8]

const blockHeaderBytes = 3

/** A block that repeats one byte holds only that (section 3.1.1.2.2). */
const repeatedByte = 1

/**
 * Cuts what comes in pieces so that no piece goes on behind the end of a frame: Node's decompressor takes
 * what follows a frame in the same piece for nothing of its own, and says that the content has ended. What is no frame is handed
 * on as it is.
 */
export async function* framePieces(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = new FrameEnds()
  for await (const piece of packed) {
    for (let from = 0; from < piece.byteLength; ) {
      const to = frames.next(piece, from)
      yield piece.subarray(from, to)
      from = to
    }
  }
}

/** Follows frames, block by block. */
class FrameEnds {
  /** Bytes so far of the header that is being read. */
  #header: number[] = []
  #isInFrame = false
  #hasChecksum = false
  /** Bytes that say nothing about where the frame ends, and whether it ends behind them. */
  #skipped = 0
  #isLast = false

  /** Where the frame ends that a piece has from `from` on, or the end of the piece. */
  next(piece: Uint8Array, from: number): number {
    let at = from
    while (at < piece.byteLength) {
      if (this.#skipped > 0) {
        const bytes = Math.min(this.#skipped, piece.byteLength - at)
        this.#skipped -= bytes
        at += bytes
      } else {
        this.#header.push(piece[at++] ?? 0)
        if (this.#isInFrame) this.#readBlockHeader()
        else this.#readFrameHeader()
      }
      if (this.#isLast && this.#skipped === 0) {
        this.#isInFrame = false
        this.#isLast = false
        return at
      }
    }
    return at
  }

  #readFrameHeader(): void {
    if (this.#header.length < 5) return
    const [a = 0, b = 0, c = 0, d = 0, flags = 0] = this.#header
    const found = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0
    const isSingleSegment = (flags & 0x20) !== 0
    const contentSize = contentSizeBytes[flags >> 6] || (isSingleSegment ? 1 : 0)
    const window = isSingleSegment ? 0 : 1
    this.#header = []
    this.#isInFrame = true
    this.#hasChecksum = (flags & 0x04) !== 0
    const rest = window + (dictionaryIdBytes[flags & 3] ?? 0) + contentSize
    this.#skipped = found === magic ? rest : Number.POSITIVE_INFINITY
  }

  #readBlockHeader(): void {
    if (this.#header.length < blockHeaderBytes) return
    const [a = 0, b = 0, c = 0] = this.#header
    const header = a | (b << 8) | (c << 16)
    this.#header = []
    this.#isLast = (header & 1) === 1
    this.#skipped = ((header >> 1) & 3) === repeatedByte ? 1 : header >> 3
    if (this.#isLast && this.#hasChecksum) this.#skipped += 4
  }
}
