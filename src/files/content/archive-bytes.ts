import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { RandomAccessReader } from 'yauzl'

/** What is read ahead: about a hundred records of a directory. */
const windowBytes = 16 * 1024

/** One window is in the directory, and one where the entries are. */
const windowsMax = 2

interface Window {
  readonly start: number
  readonly bytes: Buffer
}

/**
 * The bytes of an archive for yauzl, which reads each of its records in two pieces. They are read at
 * once, for a thread that does nothing else, so nothing is left to be done when it is closed.
 */
export class ArchiveBytes extends RandomAccessReader implements Disposable {
  readonly #file: number
  readonly size: number
  #windows: readonly Window[] = []
  /** Where it was read from last. */
  lastPosition = 0
  /** What the disk has failed with: not a fault of the archive. */
  failure: unknown

  constructor(path: string) {
    super()
    this.#file = openSync(path, 'r')
    this.size = fstatSync(this.#file).size
  }

  override read(...words: Parameters<RandomAccessReader['read']>): void {
    const [buffer, offset, length, position, callback] = words
    this.lastPosition = position
    const bytes = this.#bytesAt(position, length)
    if (!bytes) {
      callback(new Error('it ends too early'))
      return
    }
    bytes.copy(buffer, offset)
    callback(null)
  }

  /** A piece of it, which is shorter, or not there, where the archive ends. */
  slice(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - position)))
    let filled = 0
    while (filled < bytes.length) {
      const read = readSync(this.#file, bytes, filled, bytes.length - filled, position + filled)
      if (read === 0) break
      filled += read
    }
    return bytes.subarray(0, filled)
  }

  #bytesAt(position: number, length: number): Buffer | undefined {
    // A position of 64 bits may be anything.
    if (position + length > this.size) return undefined
    const known = this.#windows.find(
      ({ start, bytes }) => start <= position && position + length <= start + bytes.length,
    )
    const window = known ?? this.#windowAt(position, length)
    if (!window) return undefined
    const others = this.#windows.filter((one) => one !== window)
    this.#windows = [window, ...others].slice(0, windowsMax)
    const bytes = window.bytes.subarray(position - window.start, position - window.start + length)
    return bytes.length === length ? bytes : undefined
  }

  #windowAt(start: number, length: number): Window | undefined {
    try {
      return { start, bytes: this.slice(start, Math.max(length, windowBytes)) }
    } catch (error) {
      this.failure = error
      return undefined
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}
