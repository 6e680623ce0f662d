/** What a server answers, in RESP2: https://redis.io/docs/latest/develop/reference/protocol-spec/. */
export type Reply = null | number | string | Uint8Array | LargeText | ErrorReply | readonly Reply[]

/** The server says that it does not do what it was asked. */
export class ErrorReply {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The beginning of a text that is larger than what is taken. */
export class LargeText {
  readonly beginning: Uint8Array
  readonly bytes: number

  constructor(beginning: Uint8Array, bytes: number) {
    this.beginning = beginning
    this.bytes = bytes
  }
}

/** Bytes of one text: of a larger one the beginning is kept. */
export const textBytesMax = 4 * 1024 * 1024
const shownBytes = 64 * 1024

/** Memory of one answer, with what each part of it takes beside its bytes. */
const replyBytesMax = 64 * 1024 * 1024
const partBytes = 64

/** Bytes of a line: of an error, say. */
const lineBytesMax = 16 * 1024

/** Arrays in arrays: what streams have is four deep. */
const depthMax = 8

const [lineFeed, carriageReturn] = [10, 13]

/** An answer takes more memory than there is for one. */
export class ReplyTooLarge extends Error {
  override readonly name = 'ReplyTooLarge'
}

interface OpenArray {
  readonly items: Reply[]
  readonly length: number
}

/** Puts answers together of what arrives, without trust in who sends it. */
export class ReplyReader {
  readonly #onReply: (reply: Reply) => void
  readonly #open: OpenArray[] = []
  /** The beginning of a line whose end has not arrived. */
  #line: Buffer = Buffer.alloc(0)
  #text: TextParts | undefined
  /** Bytes of the answer that is being read. */
  #bytes = 0

  constructor(onReply: (reply: Reply) => void) {
    this.#onReply = onReply
  }

  /** @throws ReplyTooLarge; Error for what is not RESP2 */
  read(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      const text = this.#text
      if (text !== undefined && !text.isWhole) at = text.read(chunk, at)
      else at = this.#readLine(chunk, at)
    }
  }

  #readLine(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(lineFeed, start)
    const part = chunk.subarray(start, end === -1 ? chunk.length : end)
    if (this.#line.length + part.length > lineBytesMax) throw noRedis()
    const line = this.#line.length === 0 ? part : Buffer.concat([this.#line, part])
    if (end === -1) {
      this.#line = line
      return chunk.length
    }
    this.#line = Buffer.alloc(0)
    if (line.at(-1) !== carriageReturn) throw noRedis()
    this.#take(line.toString('utf8', 0, line.length - 1))
    return end + 1
  }

  #take(line: string): void {
    const text = this.#text
    if (text !== undefined) {
      if (line !== '') throw noRedis()
      this.#text = undefined
      this.#deliver(text.value)
      return
    }
    this.#count(partBytes)
    const rest = line.slice(1)
    switch (line.slice(0, 1)) {
      case '+':
        return this.#deliver(rest)
      case '-':
        return this.#deliver(new ErrorReply(rest))
      case ':':
        return this.#deliver(numberOf(rest))
      case '$':
        return this.#begin(numberOf(rest), (length) => this.#beginText(length))
      case '*':
        return this.#begin(numberOf(rest), (length) => this.#beginArray(length))
      default:
        throw noRedis()
    }
  }

  #begin(length: number, begin: (length: number) => void): void {
    if (length === -1) this.#deliver(null)
    else if (length < 0) throw noRedis()
    else begin(length)
  }

  #beginText(length: number): void {
    this.#text = new TextParts(length)
    this.#count(this.#text.bytesKept)
  }

  #beginArray(length: number): void {
    if (this.#open.length === depthMax) throw noRedis()
    if (length === 0) this.#deliver([])
    else this.#open.push({ items: [], length })
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > replyBytesMax) throw new ReplyTooLarge('the server answers too much at once')
  }

  #deliver(reply: Reply): void {
    let whole = reply
    for (;;) {
      const top = this.#open.at(-1)
      if (top === undefined) break
      top.items.push(whole)
      if (top.items.length < top.length) return
      this.#open.pop()
      whole = top.items
    }
    this.#bytes = 0
    this.#onReply(whole)
  }
}

/** A text of a length that was said before it. */
class TextParts {
  readonly #length: number
  readonly #parts: Buffer[] = []
  #left: number
  #keptLeft: number

  constructor(length: number) {
    this.#length = length
    this.#left = length
    this.#keptLeft = this.bytesKept
  }

  get bytesKept(): number {
    return this.#length > textBytesMax ? shownBytes : this.#length
  }

  get isWhole(): boolean {
    return this.#left === 0
  }

  get value(): Uint8Array | LargeText {
    const [first, ...others] = this.#parts
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#parts)
    return this.#length > textBytesMax ? new LargeText(bytes, this.#length) : bytes
  }

  /** Returns where in the chunk its end, or that of the text, is. */
  read(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.#left)
    const kept = chunk.subarray(start, Math.min(end, start + this.#keptLeft))
    if (kept.length > 0) this.#parts.push(kept)
    this.#left -= end - start
    this.#keptLeft -= kept.length
    return end
  }
}

function numberOf(text: string): number {
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number)) throw noRedis()
  return number
}

function noRedis(): Error {
  return new Error('what answers there does not speak as Redis does')
}
