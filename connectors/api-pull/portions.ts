import { setImmediate as nextTurn } from 'node:timers/promises'
import { decoders } from '../../processors/decode.ts'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'

/** Items that become one message: it is decoded without a turn for anybody else. */
const itemsMax = 500

/** Bytes of items from which on a message is full. */
const portionBytesMax = 1024 * 1024

/** Larger messages are not taken: of these, so much is kept for whoever looks into the quarantine. */
const messageBytesMax = 4 * 1024 * 1024
const keptBytesMax = 64 * 1024

/** Items of one page. */
const pageItemsMax = 100_000

/** Collects the items of a page into messages of several. */
export class Portions {
  readonly messages: FetchedMessage[] = []
  readonly #join: (items: readonly Buffer[]) => Buffer
  readonly #source: string
  #items: Buffer[] = []
  #bytes = 0
  count = 0

  /** @param join how several items become one message */
  constructor(source: string, join: (items: readonly Buffer[]) => Buffer) {
    this.#source = source
    this.#join = join
  }

  /** @throws Error when there are too many */
  async add(item: Buffer): Promise<void> {
    this.count++
    if (this.count > pageItemsMax) throw new Error(`a page has more than ${pageItemsMax} items`)
    const isFull = this.#items.length >= itemsMax || this.#bytes + item.length > portionBytesMax
    if (isFull && this.#items.length > 0) await this.end()
    this.#items.push(item)
    this.#bytes += item.length
  }

  /** An item that cannot be taken, and why, among the others in its order. */
  async refuse(payload: Buffer, problem: string): Promise<void> {
    this.count++
    await this.end()
    this.messages.push({ payload, source: this.#source, problem })
  }

  /** Makes a message of what there is. */
  async end(): Promise<void> {
    const items = this.#items
    this.#items = []
    this.#bytes = 0
    if (items.length === 0) return
    const joined = this.#join(items)
    const isWhole = this.#join !== asList || items.length === 1 || isReadable(joined)
    for (const payload of isWhole ? [joined] : items) {
      this.messages.push(messageOf(payload, this.#source))
    }
    await nextTurn()
  }
}

/** Whether each item can be read. One that is no JSON would take the others with it. */
function isReadable(list: Buffer): boolean {
  const decoded = decoders.json(list)
  return decoded.ok && (decoded.unreadable?.size ?? 0) === 0
}

/** A JSON array of items that are JSON: byte for byte; of one, the item itself. */
export function asList(items: readonly Buffer[]): Buffer {
  const [first] = items
  if (items.length === 1 && first !== undefined) return first
  return Buffer.concat(
    items.flatMap((item, index) => [index === 0 ? opening : separator, item]).concat(closing),
  )
}

/** One line for each item. */
export function asLines(items: readonly Buffer[]): Buffer {
  return Buffer.concat(items.flatMap((item) => [item, lineFeed]))
}

const [opening, separator, closing, lineFeed] = ['[', ',', ']', '\n'].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer, Buffer]

/** Bytes as one message, unless they are too many for one. */
export function messageOf(payload: Buffer, source: string): FetchedMessage {
  if (payload.length <= messageBytesMax) return { payload, source }
  const problem = `larger than ${messageBytesMax / 1024 / 1024} MiB: only its beginning is kept`
  return { payload: Buffer.from(payload.subarray(0, keptBytesMax)), source, problem }
}
