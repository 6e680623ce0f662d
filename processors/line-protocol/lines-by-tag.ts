import { isUtf8 } from 'node:buffer'
import { cutText } from '../../src/core/cut-text.ts'
import { endOfName, LinePlaces, NextPlace, unescaped } from './line-places.ts'

/** The lines of a body that one device has sent. */
export interface LinesOfDevice {
  readonly device: string
  /** The lines, with line feeds between them: a part of the body where no others stand between them. */
  readonly payload: Uint8Array
  /** The number of each line in the body, from 1 on. */
  readonly places: readonly number[]
}

/** A line of which it is not known who has sent it. */
export interface LineOfNobody {
  readonly problem: string
  readonly payload: Uint8Array
  /** Its number in the body, from 1 on. */
  readonly place: number
}

export interface SortedLines {
  /** In the order of their first lines. */
  readonly devices: readonly LinesOfDevice[]
  readonly refused: readonly LineOfNobody[]
}

/**
 * Sorts lines by a tag, or by `measurement`, without reading their fields. A line is one here where it is one for whoever
 * reads it, alone or among the others of its device.
 */
export function linesByTag(payload: Uint8Array, tag: string): SortedLines {
  const { buffer, byteOffset, byteLength } = payload
  // Places of characters are those of bytes, and what lines are cut by is ASCII.
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
  const places = new LinePlaces(text)
  const values = new TagValues(text, Buffer.from(tag).toString('latin1'))
  const devices = new Map<string, Lines>()
  const refused: LineOfNobody[] = []
  for (let start = places.next(); start !== undefined; start = places.next()) {
    const feed = places.feedOf(start)
    const headEnd = places.headEndOf(start, feed)
    const feedAt = places.endOf(headEnd, feed)
    const end = places.contentEnd(start, feedAt)
    const value = values.of(start, headEnd < feed ? headEnd : Math.min(feed, end))
    const known = value === undefined ? undefined : devices.get(value)
    const unnamed = known === undefined ? problemOf(value, tag) : undefined
    const problem =
      unnamed ?? (places.isUnclosed ? 'a text in the line has no closing quote' : undefined)
    if (value === undefined || problem !== undefined) {
      const line = payload.subarray(start, end)
      refused.push({ problem: problem ?? '', payload: line, place: places.number })
    } else {
      const lines = known ?? new Lines()
      if (known === undefined) devices.set(value, lines)
      lines.add({ start, end, next: feedAt + 1 }, places.number)
    }
    places.pass(feedAt)
  }
  const sorted = [...devices].map(([value, lines]) => ({
    device: Buffer.from(value, 'latin1').toString(),
    payload: lines.of(payload),
    places: lines.places,
  }))
  return { devices: sorted, refused }
}

interface Range {
  readonly start: number
  readonly end: number
  /** Where a line behind it begins. */
  readonly next: number
}

const betweenLines = Buffer.from('\n')

/** Lines of a device, those that follow on each other in one range. */
class Lines {
  readonly places: number[] = []
  readonly #ranges: Range[] = []

  add(line: Range, place: number): void {
    this.places.push(place)
    const last = this.#ranges.at(-1)
    if (last?.next !== line.start) this.#ranges.push(line)
    else this.#ranges[this.#ranges.length - 1] = { ...line, start: last.start }
  }

  of(payload: Uint8Array): Uint8Array {
    const parts = this.#ranges.flatMap(({ start, end }) => [
      payload.subarray(start, end),
      betweenLines,
    ])
    const [first] = parts
    return parts.length === 2 && first !== undefined ? first : Buffer.concat(parts.slice(0, -1))
  }
}

const measurement = 'measurement'

/** Why a value names no device. */
function problemOf(value: string | undefined, tag: string): string | undefined {
  if (value === undefined) return `the line has no tag ${cutText(tag, 100)}`
  if (value === '') {
    return tag === measurement
      ? 'the line has no measurement'
      : `the tag ${cutText(tag, 100)} has no value`
  }
  if (!isUtf8(Buffer.from(value, 'latin1'))) return 'not valid UTF-8'
  return value.includes('\0') ? 'U+0000 is not allowed in text' : undefined
}

/** The values of a tag in a text. */
class TagValues {
  readonly #text: string
  readonly #tag: string
  /** How the tag stands in a line without a backslash; nothing where it needs one. */
  readonly #key: string | undefined
  readonly #keys: NextPlace
  readonly #backslashes: NextPlace

  constructor(text: string, tag: string) {
    this.#text = text
    this.#tag = tag
    this.#key = /[,= ]/.test(tag) ? undefined : `,${tag}=`
    this.#keys = new NextPlace(text, this.#key ?? text)
    this.#backslashes = new NextPlace(text, '\\')
  }

  /** That of a line; undefined where it has none. */
  of(start: number, headEnd: number): string | undefined {
    const text = this.#text
    if (this.#backslashes.from(start) < headEnd) return this.#escaped(start, headEnd)
    if (this.#tag === measurement) return text.slice(start, endOfName(text, start, headEnd, false))
    if (this.#key === undefined) return undefined
    const found = this.#keys.from(start)
    if (found >= headEnd) return undefined
    const from = found + this.#key.length
    return text.slice(from, endOfName(text, from, headEnd, true))
  }

  #escaped(start: number, headEnd: number): string | undefined {
    const text = this.#text
    let at = endOfName(text, start, headEnd, false)
    if (this.#tag === measurement) return unescaped(text.slice(start, at), false)
    while (at < headEnd) {
      const keyEnd = endOfName(text, at + 1, headEnd, true)
      if (keyEnd === headEnd || text[keyEnd] !== '=') return undefined
      const valueEnd = endOfName(text, keyEnd + 1, headEnd, true)
      if (unescaped(text.slice(at + 1, keyEnd), true) === this.#tag) {
        return unescaped(text.slice(keyEnd + 1, valueEnd), true)
      }
      if (text[valueEnd] === '=') return undefined
      at = valueEnd
    }
    return undefined
  }
}
