import { crc32 } from 'node:zlib'

const headerBytes = 10
const trailerBytes = 8

/** Flags of the header: which further parts follow it (RFC 1952, section 2.3.1). */
const flag = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

/** Bytes that are one member of the gzip format, and nothing else. */
export class GzipMember {
  readonly #bytes: Buffer
  readonly #start: number

  /** @throws RangeError for what has no such header, or no room for a trailer */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#start = endOfHeader(bytes)
  }

  /** The deflated content. */
  get deflated(): Buffer {
    return this.#bytes.subarray(this.#start, -trailerBytes)
  }

  /** How long it says that its content is, modulo 2^32. */
  get length(): number {
    return this.#bytes.readUInt32LE(this.#bytes.length - 4)
  }

  isContent(content: Buffer): boolean {
    const checksum = this.#bytes.readUInt32LE(this.#bytes.length - trailerBytes)
    return content.length === this.length && crc32(content) === checksum
  }
}

function endOfHeader(bytes: Buffer): number {
  if (bytes.readUIntBE(0, 3) !== 0x1f8b08) throw new RangeError('it has no header of gzip')
  const flags = bytes.readUInt8(3)
  if ((flags & flag.reserved) !== 0) throw new RangeError('its header has unknown flags')
  let end = headerBytes
  if (flags & flag.extra) end += 2 + bytes.readUInt16LE(end)
  if (flags & flag.name) end = endOfText(bytes, end)
  if (flags & flag.comment) end = endOfText(bytes, end)
  if (flags & flag.headerCrc) end += 2
  if (end + trailerBytes > bytes.length) throw new RangeError('it is cut off')
  return end
}

function endOfText(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(0, start)
  if (end < 0) throw new RangeError('it is cut off')
  return end + 1
}
