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

/** How several items become one message. */
export type Join = (items: readonly Buffer[]) => Buffer

interface PortionsNeeds {
  /** Where messages come from. */
  readonly source: string
  readonly join: Join
  /** Takes items that can be read apart from those that cannot; nothing where these take no others with them. */
  readonly part?: (items: readonly Buffer[]) => readonly (readonly Buffer[])[]
}

/** Collects the items of a page into messages of several. */
export class Portions {
  readonly messages: FetchedMessage[] = []
  readonly #needs: PortionsNeeds
  #items: Buffer[] = []
  #bytes = 0
  count = 0

  constructor(needs: PortionsNeeds) {
    this.#needs = needs
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
    this.messages.push({ payload, source: this.#needs.source, problem })
  }

  /** Makes a message of what there is. */
  async end(): Promise<void> {
    const items = this.#items
    this.#items = []
    this.#bytes = 0
    if (items.length === 0) return
    const { join, part, source } = this.#needs
    for (const some of items.length === 1 ? [items] : (part?.(items) ?? [items])) {
      this.messages.push(messageOf(join(some), source))
    }
    await nextTurn()
  }
}

/** Each item alone where one cannot be read: one that is no JSON would take the others with it. */
export function eachAlone(items: readonly Buffer[]): readonly (readonly Buffer[])[] {
  const { ok, unreadable } = read(items)
  return ok && unreadable.size === 0 ? [items] : items.map((item) => [item])
}

/** Items that cannot be read alone, and together what is between them. */
export function badAlone(items: readonly Buffer[]): readonly (readonly Buffer[])[] {
  const { ok, unreadable } = read(items)
  if (!ok) return items.map((item) => [item])
  const parts: Buffer[][] = []
  let isOpen = false
  for (const [index, item] of items.entries()) {
    const isBad = unreadable.has(index)
    if (isOpen && !isBad) parts.at(-1)?.push(item)
    else parts.push([item])
    isOpen = !isBad
  }
  return parts
}

function read(items: readonly Buffer[]) {
  const decoded = decoders.json(asList(items))
  const unreadable = decoded.ok ? decoded.unreadable : undefined
  return { ok: decoded.ok, unreadable: unreadable ?? new Map<number, string>() }
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
