import type { DecodedMessage, UndecodableMessage } from '../src/contracts/reading.ts'
import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { messageDepthMax } from '../src/core/json-safety.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'

/**
 * What CBOR and MessagePack have in common: a message is a row of items, and an item that holds
 * others says before them how many there are.
 */
export interface Item {
  /** `end` closes an array or map of unknown length. */
  readonly kind: 'scalar' | 'array' | 'map' | 'end'
  /** The value of a scalar: a text, a number, true, false or null. */
  readonly value?: unknown
  /** How many elements of an array, or members of a map, follow. Infinity: until the end item. */
  readonly length?: number
}

/** The items of a message, one after the other. */
export interface Items {
  /** Byte at which the next one begins. */
  readonly position: number
  readonly bytes: Uint8Array
  /** @throws UnreadableItem for what is no item, is cut off, or is no value of a reading */
  next(): Item
  /** Lets it go on at another byte. */
  moveTo(position: number): void
  /** The name of a member whose key is no text, where the format has such. */
  nameOf?(key: unknown): string | undefined
}

/** What is wrong with a binary message. */
export class UnreadableItem extends Error {
  override readonly name = 'UnreadableItem'
}

export const endItem: Item = { kind: 'end' }

/** A format of which messages are rows of items. */
export interface ItemFormat {
  readonly name: PayloadFormat
  readonly open: (bytes: Uint8Array) => Items
  /**
   * The byte after the item that begins there, with all that it holds, whether or not a reading can have it.
   *
   * @throws UnreadableItem where that cannot be told
   */
  readonly endOf: (bytes: Uint8Array, start: number) => number
}

/** Takes a binary message apart, by the same rules as JSON: one map, or an array of readings. */
export function decodeItems(
  payload: Uint8Array,
  format: ItemFormat,
): DecodedMessage | UndecodableMessage {
  try {
    return messageOf(payload, format)
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    return { ok: false, problem: error.message }
  }
}

/** The text that a member of a map is, even if the map may not be stored; nothing where it comes twice. */
export function textMemberOfItems(
  map: Uint8Array,
  name: string,
  format: ItemFormat,
): string | undefined {
  const found = membersOf(map, format).filter((member) => member.name === name)
  const [only, second] = found
  return typeof only?.value === 'string' && second === undefined ? only.value : undefined
}

/** The names of the members of a map, as far as they can be read; none where it is no map. */
export function memberNamesOfItems(map: Uint8Array, format: ItemFormat): readonly unknown[] {
  return membersOf(map, format).map(({ name }) => name)
}

interface ItemMember {
  readonly name: unknown
  /** Nothing where it is none of a reading, or holds others. */
  readonly value: unknown
}

function membersOf(map: Uint8Array, { open, endOf }: ItemFormat): readonly ItemMember[] {
  const members: ItemMember[] = []
  try {
    const items = open(map)
    const { kind, length = 0 } = items.next()
    if (kind !== 'map') return []
    while (members.length < length) {
      const key = itemAt(items, map, endOf)?.value
      const name = typeof key === 'string' ? key : (items.nameOf?.(key) ?? key)
      members.push({ name, value: itemAt(items, map, endOf)?.value })
    }
  } catch (error) {
    // The end of a map of unknown length.
    if (!(error instanceof UnreadableItem)) throw error
  }
  return members
}

/** The next item, and nothing where it is none of a reading; either way it stands behind it. */
function itemAt(items: Items, bytes: Uint8Array, endOf: ItemFormat['endOf']): Item | undefined {
  const end = endOf(bytes, items.position)
  try {
    return items.next()
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    return undefined
  } finally {
    items.moveTo(end)
  }
}

function messageOf(payload: Uint8Array, format: ItemFormat): DecodedMessage | UndecodableMessage {
  const items = format.open(payload)
  const first = items.next()
  if (first.kind === 'array') {
    const { readings, unreadable, ends } = elementsOf(items, first, format)
    refuseRest(items)
    const elements = (bytes: Uint8Array) =>
      ends.slice(1).map((end, index) => bytes.subarray(ends[index], end))
    const bad = unreadable.size > 0 && { unreadable }
    return batchOf({ readings, format: format.name, elements, ...bad })
  }
  const reading = readingOf(items, first)
  refuseRest(items)
  return { ok: true, readings: [reading], isBatch: false, format: format.name }
}

function readingOf(items: Items, first: Item): unknown {
  if (first.kind !== 'map') throw problem('a message must be a map or an array of maps')
  return valueOf(items, first, messageDepthMax)
}

/** The readings of a batch, and the byte before the first and after each of them. */
function elementsOf(items: Items, array: Item, format: ItemFormat) {
  const length = lengthOf(items, array)
  if (length !== Infinity && length > readingsPerMessageMax) throw problem(tooManyReadings)
  const readings: unknown[] = []
  const unreadable = new Map<number, string>()
  const ends = [items.position]
  while (readings.length < length) {
    const start = items.position
    try {
      const item = items.next()
      if (item.kind === 'end' && length === Infinity) break
      if (readings.length === readingsPerMessageMax) throw problem(tooManyReadings)
      readings.push(valueOf(items, item, messageDepthMax))
    } catch (error) {
      // An element that can be passed over is refused alone.
      const end = endOfRefused(items.bytes, start, { format, error })
      unreadable.set(readings.length, problemOf(items.bytes.subarray(start, end), format))
      readings.push(undefined)
      items.moveTo(end)
    }
    ends.push(items.position)
  }
  return { readings, unreadable, ends }
}

/** @throws unknown what is wrong with the element, where nobody can tell where it ends */
function endOfRefused(
  bytes: Uint8Array,
  start: number,
  { format, error }: { readonly format: ItemFormat; readonly error: unknown },
): number {
  if (!(error instanceof UnreadableItem) || error.message === tooManyReadings) throw error
  try {
    return format.endOf(bytes, start)
  } catch {
    throw error
  }
}

/** What is wrong with an element, in the words that it would be refused with as a message of its own. */
function problemOf(element: Uint8Array, format: ItemFormat): string {
  const items = format.open(element)
  try {
    valueOf(items, items.next(), messageDepthMax)
  } catch (error) {
    if (error instanceof UnreadableItem) return error.message
    throw error
  }
  throw new Error('an element can be read alone, and not among others')
}

function valueOf(items: Items, item: Item, levels: number): unknown {
  if (item.kind === 'scalar') return item.value
  if (item.kind === 'end') throw problem('an end where a value should be', items)
  if (levels === 0) throw problem(`nested deeper than ${messageDepthMax} levels`)
  return item.kind === 'array' ? arrayOf(items, item, levels) : objectOf(items, item, levels)
}

function arrayOf(items: Items, array: Item, levels: number): unknown[] {
  const length = lengthOf(items, array)
  // Filled one by one: what a length announces may never come.
  const elements: unknown[] = []
  while (elements.length < length) {
    const item = items.next()
    if (item.kind === 'end' && length === Infinity) break
    elements.push(valueOf(items, item, levels - 1))
  }
  return elements
}

function objectOf(items: Items, map: Item, levels: number): object {
  const length = lengthOf(items, map)
  const members: Record<string, unknown> = {}
  for (let count = 0; count < length; count++) {
    const key = items.next()
    if (key.kind === 'end' && length === Infinity) break
    const name = typeof key.value === 'string' ? key.value : items.nameOf?.(key.value)
    if (name === undefined) throw problem('a key that is not a text', items)
    if (Object.hasOwn(members, name)) throw problem('an object has the same key twice')
    const value = valueOf(items, items.next(), levels - 1)
    if (name === '__proto__') define(members, name, value)
    else members[name] = value
  }
  return members
}

/** As `JSON.parse` does it: a plain assignment would change the prototype instead. */
function define(members: object, key: string, value: unknown): void {
  Object.defineProperty(members, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

/** How many elements or members follow; each of them takes at least one byte, or two. */
function lengthOf({ bytes, position }: Items, { kind, length = 0 }: Item): number {
  const bytesMin = kind === 'map' ? length * 2 : length
  if (length !== Infinity && bytesMin > bytes.length - position) throw truncated()
  return length
}

function refuseRest({ bytes, position }: Items): void {
  const rest = bytes.length - position
  if (rest > 0) throw problem(`${rest} bytes follow the message`)
}

export function truncated(): UnreadableItem {
  return problem('the message is cut off')
}

/** A problem, with the place where the reader stands when that is of use. */
export function problem(message: string, items?: Pick<Items, 'position'>): UnreadableItem {
  return new UnreadableItem(
    items === undefined ? message : `${message} (near byte ${items.position})`,
  )
}
