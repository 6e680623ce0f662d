import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { messageBytesMax, shownBytes, tooLarge } from '../message-size.ts'
import type { RowText } from './table-shape.ts'

/** Rows of one page, and bytes of it: a row more may go beyond them. */
const rowsMax = 500
const bytesMax = 1024 * 1024

/** Puts rows into messages: many of them into one. */
export class RowBatch {
  readonly #source: string
  #messages: FetchedMessage[] = []
  /** Rows that go into the next message together. */
  #rows: string[] = []
  #count = 0
  #bytes = 0

  constructor(source: string) {
    this.#source = source
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get isFull(): boolean {
    return this.#count >= rowsMax || this.#bytes >= bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  add({ text, isSafe }: RowText): void {
    const bytes = Buffer.byteLength(text)
    const isTooLarge = bytes > messageBytesMax
    this.#count++
    this.#bytes += isTooLarge ? shownBytes : bytes
    if (isSafe && !isTooLarge) {
      this.#rows.push(text)
      return
    }
    this.#close()
    if (isTooLarge) this.#messages.push(this.#beginningOf(text, bytes))
    else this.#messages.push({ payload: Buffer.from(text), source: this.#source })
  }

  take(): { readonly messages: readonly FetchedMessage[]; readonly bytes: number } {
    this.#close()
    const page = { messages: this.#messages, bytes: this.#bytes }
    this.#messages = []
    this.#count = 0
    this.#bytes = 0
    return page
  }

  #close(): void {
    const rows = this.#rows
    if (rows.length === 0) return
    this.#rows = []
    const text = rows.length === 1 ? (rows[0] as string) : `[${rows.join(',')}]`
    this.#messages.push({ payload: Buffer.from(text), source: this.#source })
  }

  #beginningOf(text: string, bytes: number): FetchedMessage {
    const problem = tooLarge(bytes, 'row')
    return { payload: Buffer.from(text.slice(0, shownBytes)), source: this.#source, problem }
  }
}
