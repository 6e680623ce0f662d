import { headerBytes } from './entry.ts'

/** Numbers of this size are held in sets without memory of their own. */
const markMask = 0x3fff_ffff

/** The mark that entries of a stream have (see `EntryBytes`). */
export function markOf(streamKey: string): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = Buffer.from(streamKey, 'latin1')
  return (first | (second << 8) | (third << 16) | (fourth << 24)) & markMask
}

/**
 * Bytes of a batch: entries, one after the other. Each method reads something of the entry that begins at
 * the byte `at`, and trusts that there is one; the layout is described in entry.ts.
 */
export class EntryBytes {
  readonly length: number
  readonly #buffer: Buffer
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    const { buffer, byteOffset, byteLength } = bytes
    this.length = byteLength
    this.#buffer = Buffer.from(buffer, byteOffset, byteLength)
    this.#view = new DataView(buffer, byteOffset, byteLength)
  }

  /** The byte after the entry, as it says itself. */
  end(at: number): number {
    return at + 4 + this.#view.getUint32(at, true)
  }

  format(at: number): number {
    return this.#view.getUint8(at + 4)
  }

  kind(at: number): number {
    return this.#view.getUint8(at + 5)
  }

  streamKey(at: number): string {
    return this.#buffer.toString('latin1', at + 6, at + 22)
  }

  /** A number that entries of one stream share, and hardly any others. */
  streamMark(at: number): number {
    return this.#view.getUint32(at + 6, true) & markMask
  }

  streamVersion(at: number): number {
    return this.#view.getUint32(at + 22, true)
  }

  receivedAtUs(at: number): number {
    return this.#view.getFloat64(at + 26, true)
  }

  /** NaN when the reading claims no time. */
  timestampUs(at: number): number {
    return this.#view.getFloat64(at + 34, true)
  }

  digest(at: number): bigint {
    return this.#view.getBigUint64(at + 42, true)
  }

  /** The byte after the notes, as the entry says itself. */
  notesEnd(at: number): number {
    return at + headerBytes + this.#view.getUint32(at + 50, true)
  }

  notes(at: number): string {
    return this.#buffer.toString('utf8', at + headerBytes, this.notesEnd(at))
  }

  body(at: number): Uint8Array {
    return this.#buffer.subarray(this.notesEnd(at), this.end(at))
  }

  /** The body as text. */
  text(at: number): string {
    return this.#buffer.toString('utf8', this.notesEnd(at), this.end(at))
  }
}
