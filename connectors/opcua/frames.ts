/** What we tell a server that we take: OPC 10000-6, section 7.1.2.3. */
export const limits = {
  /** Bytes of one chunk. */
  chunkBytesMax: 256 * 1024,
  /** Bytes of one message: a notification of a thousand texts, say. */
  messageBytesMax: 16 * 1024 * 1024,
  chunksMax: 2_048,
} as const

/** Bytes that each chunk begins with: a type, whether it is the last one, and its length (section 7.1.2.2). */
const headerBytes = 8

/** Smallest buffer that each side has to have (section 7.1.2.3). */
const bufferBytesMin = 8_192

const finalChunk = 0x46
const intermediateChunk = 0x43
const abortChunk = 0x41

/** A server has sent what is no OPC UA, or more than it was told that we take. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault'
}

/** Cuts what a server sends into chunks. A limit holds before anything of a chunk is kept. */
export class ChunkCutter {
  #parts: Buffer[] = []
  #length = 0
  /** Bytes of the chunk that comes: those of its header, as long as that is not here. */
  #needed = headerBytes
  /** Bytes of the message that is not complete. */
  #messageBytes = 0

  /** Adds bytes; hands out the chunks that are complete. @throws FrameFault */
  push(bytes: Buffer): readonly Buffer[] {
    this.#parts.push(bytes)
    this.#length += bytes.length
    const chunks: Buffer[] = []
    while (this.#length >= this.#needed) {
      const all = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
      const length = chunkLength(all)
      if (all.length < length) {
        this.#parts = [all]
        this.#needed = length
        break
      }
      chunks.push(all.subarray(0, length))
      this.#countMessage(all, length)
      this.#parts = all.length === length ? [] : [all.subarray(length)]
      this.#length = all.length - length
      this.#needed = headerBytes
    }
    return chunks
  }

  #countMessage(chunk: Buffer, length: number): void {
    this.#messageBytes = chunk[3] === intermediateChunk ? this.#messageBytes + length : 0
    if (this.#messageBytes <= limits.messageBytesMax) return
    throw new FrameFault(`the server sends a message of more than ${limits.messageBytesMax} bytes`)
  }
}

function chunkLength(bytes: Buffer): number {
  const length = bytes.readUInt32LE(4)
  const kind = bytes[3]
  const isKnown = kind === finalChunk || kind === intermediateChunk || kind === abortChunk
  if (!isKnown || length < headerBytes) throw new FrameFault('what answers does not speak OPC UA')
  if (length > limits.chunkBytesMax) {
    throw new FrameFault(`the server sends a chunk of ${length} bytes: more than was agreed`)
  }
  return length
}

/** The first message of a connection: HEL, section 7.1.2.3. */
export function hello(endpoint: string): Buffer {
  const url = Buffer.from(endpoint)
  const message = Buffer.alloc(headerBytes + 24 + url.length)
  message.write('HELF', 'latin1')
  const { chunkBytesMax, messageBytesMax, chunksMax } = limits
  const numbers = [message.length, 0, chunkBytesMax, chunkBytesMax, messageBytesMax, chunksMax]
  for (const [index, number] of [...numbers, url.length].entries()) {
    message.writeUInt32LE(number, 4 + index * 4)
  }
  url.copy(message, headerBytes + 24)
  return message
}

export interface Acknowledged {
  readonly protocolVersion: number
  /** Bytes of the largest chunk that we may send. */
  readonly sendBufferSize: number
  readonly receiveBufferSize: number
  readonly maxMessageSize: number
  readonly maxChunkCount: number
}

/** The answer to HEL: ACK, section 7.1.2.4. @throws FrameFault */
export function readAcknowledge(chunk: Buffer): Acknowledged {
  if (messageTypeOf(chunk) !== 'ACK' || chunk.length < headerBytes + 20) {
    throw new FrameFault('what answers does not speak OPC UA')
  }
  const theirs = chunk.readUInt32LE(headerBytes + 4)
  if (theirs < bufferBytesMin) throw new FrameFault('the server takes no message of a usual size')
  return {
    protocolVersion: 0,
    sendBufferSize: Math.min(theirs, limits.chunkBytesMax),
    receiveBufferSize: limits.chunkBytesMax,
    maxMessageSize: limits.messageBytesMax,
    maxChunkCount: limits.chunksMax,
  }
}

export function messageTypeOf(chunk: Buffer): string {
  return chunk.toString('latin1', 0, 3)
}

/** Why a server ends a connection: ERR, section 7.1.2.5. */
export interface ErrorMessage {
  /** A status code of OPC UA. */
  readonly code: number
  readonly reason: string
}

const reasonLengthMax = 300

export function readErrorMessage(chunk: Buffer): ErrorMessage {
  if (chunk.length < headerBytes + 4) return { code: 0x80000000, reason: '' }
  const text = chunk.toString('utf8', headerBytes + 8, headerBytes + 8 + reasonLengthMax)
  return { code: chunk.readUInt32LE(headerBytes), reason: text.replace(/[^\P{C}]+/gu, ' ') }
}
