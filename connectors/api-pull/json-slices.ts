/** Where a value stands in bytes: up to its end, without it. */
export interface Slice {
  readonly start: number
  readonly end: number
}

/** What keeps values from being found: the text is no JSON, or says two things at once. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem'
}

/**
 * Depth down to which brackets are held to their kind; the decoder judges deeper ones, which are
 * only counted here.
 */
const trackedDepth = 64

const quote = 34
const comma = 44
const colon = 58
const openBracket = 91
const backslash = 92
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** The byte order mark, which some send before JSON. */
const mark = Buffer.from('\uFEFF')

interface Wanted {
  readonly names: readonly string[]
  readonly place: number
}

/**
 * Where the values at these paths stand, undefined for those that are not there. Values are not read, and so not
 * changed: all that is made sure of is where each one begins and ends.
 *
 * @throws JsonProblem when it is no JSON, or a key on the way comes twice
 */
export function slicesAt(
  bytes: Buffer,
  paths: readonly (readonly string[])[],
): readonly (Slice | undefined)[] {
  const found: (Slice | undefined)[] = paths.map(() => undefined)
  const walk = new Walk(bytes)
  walk.value(
    paths.map((names, place) => ({ names, place })),
    (place, slice) => {
      found[place] = slice
    },
  )
  walk.end()
  return found
}

/** The elements of a list that stands there. @throws JsonProblem */
export function* elementsOf(bytes: Buffer, list: Slice): Generator<Slice> {
  const walk = new Walk(bytes, list.start + 1)
  if (walk.take(closeBracket)) return
  do {
    yield walk.value([], () => undefined)
  } while (walk.take(comma))
  if (!walk.take(closeBracket)) walk.fail()
}

/** Whether what stands there is a list. */
export function isList(bytes: Buffer, { start }: Slice): boolean {
  return bytes[start] === openBracket
}

/** Where a whole text begins, behind a mark and white space; or what follows within it. */
export function startOf(bytes: Buffer, from?: number): number {
  return new Walk(bytes, from).start
}

class Walk {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at?: number) {
    this.#bytes = bytes
    this.#at = at ?? (bytes.subarray(0, mark.length).equals(mark) ? mark.length : 0)
  }

  get start(): number {
    this.#space()
    return this.#at
  }

  /** Passes over the value that comes next; reports what is wanted within it. */
  value(wanted: readonly Wanted[], onFound: (place: number, slice: Slice) => void): Slice {
    const { start } = this
    const inner = wanted.filter(({ names }) => names.length > 0)
    const first = this.#bytes[start]
    if (first === openBrace && inner.length > 0) this.#object(inner, onFound)
    else if (first === openBrace || first === openBracket) this.#nested()
    else if (first === quote) this.#text()
    else this.#word()
    const slice = { start, end: this.#at }
    for (const { names, place } of wanted) if (names.length === 0) onFound(place, slice)
    return slice
  }

  /** Goes behind this byte, if it is what comes next. */
  take(byte: number): boolean {
    this.#space()
    if (this.#bytes[this.#at] !== byte) return false
    this.#at++
    return true
  }

  /** Checks that nothing more comes. */
  end(): void {
    this.#space()
    if (this.#at < this.#bytes.length) this.fail()
  }

  fail(): never {
    const isOver = this.#at >= this.#bytes.length
    throw new JsonProblem(isOver ? 'the JSON ends too early' : `no JSON at byte ${this.#at}`)
  }

  #object(wanted: readonly Wanted[], onFound: (place: number, slice: Slice) => void): void {
    this.#at++
    if (this.take(closeBrace)) return
    const seen = new Set<string>()
    do {
      const key = this.#key()
      const inner = wanted
        .filter(({ names }) => names[0] === key)
        .map(({ names, place }) => ({ names: names.slice(1), place }))
      if (inner.length > 0) {
        if (seen.has(key)) throw new JsonProblem(`the key ${key} comes twice`)
        seen.add(key)
      }
      if (!this.take(colon)) this.fail()
      this.value(inner, onFound)
    } while (this.take(comma))
    if (!this.take(closeBrace)) this.fail()
  }

  #key(): string {
    const { start } = this
    if (this.#bytes[start] !== quote) this.fail()
    this.#text()
    const text = this.#bytes.toString('utf8', start, this.#at)
    if (!text.includes('\\')) return text.slice(1, -1)
    try {
      return JSON.parse(text) as string
    } catch {
      return this.fail()
    }
  }

  /** Goes behind an object or a list. */
  #nested(): void {
    const closing: number[] = []
    let depth = 0
    do {
      const byte = this.#bytes[this.#at]
      if (byte === undefined) this.fail()
      if (byte === quote) {
        this.#text()
        continue
      }
      if (byte === openBrace || byte === openBracket) {
        // Each bracket stands two before the one that closes it.
        if (depth < trackedDepth) closing[depth] = byte + 2
        depth++
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--
        if (depth < trackedDepth && closing[depth] !== byte) this.fail()
      }
      this.#at++
    } while (depth > 0)
  }

  #text(): void {
    let at = this.#at + 1
    for (let byte = this.#bytes[at]; byte !== quote; byte = this.#bytes[at]) {
      if (byte === undefined) {
        this.#at = this.#bytes.length
        this.fail()
      }
      at += byte === backslash ? 2 : 1
    }
    this.#at = at + 1
  }

  /** A number, true, false or null: what is in it, the decoder says. */
  #word(): void {
    let at = this.#at
    while (isOfWord(this.#bytes[at])) at++
    if (this.#at === at) this.fail()
    this.#at = at
  }

  #space(): void {
    let at = this.#at
    while (isSpace(this.#bytes[at])) at++
    this.#at = at
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9
}

const wordEnds = new Set([quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace])

function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && byte > 32 && !wordEnds.has(byte)
}
