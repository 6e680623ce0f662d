import { endOfString } from '../../src/core/json-safety.ts'

const tab = 9
const lineFeed = 10
const carriageReturn = 13
const space = 32
const quote = 34
const hash = 35
const comma = 44
const equalsSign = 61
const backslash = 92

/** Where a name or the value of a tag ends: at a character that ends it and has no backslash before it. */
export function endOfName(text: string, from: number, end: number, equalsEnds: boolean): number {
  let at = from
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === comma || code === space || (equalsEnds && code === equalsSign)) return at
    // A backslash before any other character is one of the name.
    if (code === backslash && at + 1 < end && isEscaped(text.charCodeAt(at + 1), equalsEnds)) at++
  }
  return end
}

function isEscaped(code: number, equalsEnds: boolean): boolean {
  return code === comma || code === space || (equalsEnds && code === equalsSign)
}

/** What a name, or the value of a tag, says that stands in a line. */
export function unescaped(written: string, equalsEnds: boolean): string {
  if (!written.includes('\\')) return written
  return written.replaceAll(equalsEnds ? /\\([,= ])/g : /\\([, ])/g, '$1')
}

/** The places of a text in another one, asked for from the beginning to the end: it is looked through once. */
export class NextPlace {
  readonly #text: string
  readonly #sought: string
  #found = -1

  constructor(text: string, sought: string) {
    this.#text = text
    this.#sought = sought
  }

  /** The first place from another one on; the end of the text where there is none. */
  from(at: number): number {
    if (this.#found < at) {
      const found = this.#text.indexOf(this.#sought, at)
      this.#found = found < 0 ? this.#text.length : found
    }
    return this.#found
  }
}

/**
 * Where the lines of a text begin and end. Only a text in quotes has line feeds that do not end its line; one that is
 * not closed in the way that the rest of a field set asks for ends with its line, so that the lines behind it are read.
 * Each character is looked at a fixed number of times, whatever the text is.
 */
export class LinePlaces {
  readonly text: string
  /** The number of the line under way, from 1 on. */
  number = 1
  /** Whether the line whose end was asked for last has a text that is not closed. */
  isUnclosed = false
  #at = 0
  readonly #feeds: NextPlace
  readonly #spaces: NextPlace
  readonly #quotes: NextPlace
  /** Quotes that open a text which is not closed. */
  readonly #unclosed = new Set<number>()

  constructor(text: string) {
    this.text = text
    this.#feeds = new NextPlace(text, '\n')
    this.#spaces = new NextPlace(text, ' ')
    this.#quotes = new NextPlace(text, '"')
  }

  /** Where the next line begins that is not blank and not a comment; undefined behind the last one. */
  next(): number | undefined {
    const { text } = this
    for (;;) {
      let start = this.#at
      let code = text.charCodeAt(start)
      while (code === space || code === tab) code = text.charCodeAt(++start)
      if (start >= text.length) return undefined
      const isBlank = code === lineFeed || (code === carriageReturn && this.#isEnd(start))
      if (!isBlank && code !== hash) return start
      this.pass(this.#feeds.from(start))
    }
  }

  /** The line feed that ends the line at a place, if no text has one in it; the end of the text where there is none. */
  feedOf(start: number): number {
    return this.#feeds.from(start)
  }

  /** The space behind the measurement and the tags of a line; its line feed where there is none. */
  headEndOf(start: number, feed: number): number {
    let at = this.#spaces.from(start)
    while (at < feed && this.text.charCodeAt(at - 1) === backslash) at = this.#spaces.from(at + 1)
    return Math.min(at, feed)
  }

  /** The end of a line, behind whose measurement and tags there is a space, or its first line feed. */
  endOf(headEnd: number, feed: number): number {
    this.isUnclosed = false
    if (this.#quotes.from(headEnd) > feed) return feed
    let at = headEnd
    while (this.text.charCodeAt(at) === space) at++
    return this.#endBehindTexts(at, feed)
  }

  /** Where the next line may begin. */
  get at(): number {
    return this.#at
  }

  /** Moves to a place where a line may begin, without counting lines. */
  moveTo(at: number): void {
    this.#at = at
  }

  /** Moves behind a line. */
  pass(end: number): void {
    let feed = this.text.indexOf('\n', this.#at)
    for (; feed >= 0 && feed < end; feed = this.text.indexOf('\n', feed + 1)) this.number++
    this.number++
    this.#at = end + 1
  }

  /** What is left of a line without the carriage return at its end. */
  contentEnd(start: number, end: number): number {
    return end > start && this.text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end
  }

  #feedFrom(start: number): number {
    const found = this.text.indexOf('\n', start)
    return found < 0 ? this.text.length : found
  }

  /** Whether a line ends at a place, or behind a carriage return there. */
  #isEnd(at: number): boolean {
    const { text } = this
    const next = text.charCodeAt(at) === carriageReturn ? at + 1 : at
    return next >= text.length || text.charCodeAt(next) === lineFeed
  }

  /** Walks over fields as far as their texts have line feeds in them. */
  #endBehindTexts(fieldsAt: number, feed: number): number {
    const { text } = this
    const opened: number[] = []
    let end = feed
    let at = fieldsAt
    for (;;) {
      at = endOfName(text, at, end, true) + 1
      if (at > end || text.charCodeAt(at - 1) !== equalsSign) break
      if (text.charCodeAt(at) === quote) {
        const close = this.#unclosed.has(at) ? -1 : endOfString(text, at)
        if (close < 0 || close > end) opened.push(at)
        if (close < 0) break
        if (close > end) end = this.#feedFrom(close)
        at = close + 1
        if (text.charCodeAt(at) === space || this.#isEnd(at)) return end
      } else {
        at = endOfName(text, at, end, false)
        if (at === end || text.charCodeAt(at) === space) return end
      }
      if (text.charCodeAt(at) !== comma) break
      at++
    }
    for (const one of opened) this.#unclosed.add(one)
    this.isUnclosed = opened.length > 0
    return feed
  }
}
