/** A value of JSON with where it stands in its text: offsets of the first character, and behind the last. */
export type JsonNode = JsonContainer | (Place & { readonly is: 'scalar' })

export interface Place {
  readonly start: number
  readonly end: number
}

type JsonContainer = Place &
  (
    | { readonly is: 'object'; readonly members: readonly JsonMember[] }
    | { readonly is: 'array'; readonly items: readonly JsonNode[] }
  )

export interface JsonMember {
  readonly name: string
  /** Where its name stands. */
  readonly key: Place
  readonly value: JsonNode
}

export interface JsonProblem {
  readonly at: number
  readonly message: string
}

export type ReadJson =
  | { readonly ok: true; readonly root: JsonNode }
  | { readonly ok: false; readonly problem: JsonProblem }

/** Deeper than this is no definition and no reading, and would take the stack. */
const depthMax = 500

/** Reads a text as JSON, and says where each value stands, or where it is none and why. */
export function readJson(text: string): ReadJson {
  try {
    return { ok: true, root: new Reader(text).whole() }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ok: false, problem: { at: Math.min(error.at, text.length), message: error.message } }
  }
}

/** The same for a text that may hold one value a line; nothing for one that cannot be read. */
export function readTree(text: string): JsonNode | undefined {
  const read = readJson(text)
  return read.ok ? read.root : undefined
}

class Unreadable extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

const blank = /[ \t\n\r]*/y
const scalar =
  /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): JsonNode {
    this.#skip()
    if (this.#at === this.#text.length) throw new Unreadable(this.#at, 'there is nothing yet')
    const root = this.#value(0)
    this.#skip()
    if (this.#at < this.#text.length) throw this.#unexpected('nothing more')
    return root
  }

  #value(depth: number): JsonNode {
    if (depth > depthMax) throw new Unreadable(this.#at, 'it is too deep')
    const first = this.#text[this.#at]
    if (first === '{') return this.#object(depth)
    if (first === '[') return this.#array(depth)
    const start = this.#at
    return { is: 'scalar', start, end: this.#scalar('a value') }
  }

  #object(depth: number): JsonNode {
    const start = this.#at
    const members: JsonMember[] = []
    this.#list('}', () => {
      const from = this.#at
      if (this.#text[from] !== '"') throw this.#unexpected('a name in double quotes')
      const key = { start: from, end: this.#scalar('a name in double quotes') }
      const name = JSON.parse(this.#text.slice(key.start, key.end)) as string
      this.#skip()
      if (this.#text[this.#at] !== ':') throw this.#unexpected('a colon')
      this.#at += 1
      this.#skip()
      members.push({ name, key, value: this.#value(depth + 1) })
    })
    return { is: 'object', start, end: this.#at, members }
  }

  #array(depth: number): JsonNode {
    const start = this.#at
    const items: JsonNode[] = []
    this.#list(']', () => items.push(this.#value(depth + 1)))
    return { is: 'array', start, end: this.#at, items }
  }

  /** What stands between brackets, with commas between. */
  #list(close: string, one: () => void): void {
    this.#at += 1
    this.#skip()
    if (this.#text[this.#at] === close) {
      this.#at += 1
      return
    }
    for (;;) {
      one()
      this.#skip()
      const next = this.#text[this.#at]
      if (next !== ',' && next !== close) throw this.#unexpected(`a comma or ${close}`)
      this.#at += 1
      if (next === close) return
      this.#skip()
    }
  }

  #scalar(wanted: string): number {
    scalar.lastIndex = this.#at
    if (!scalar.test(this.#text)) throw this.#unexpected(wanted)
    this.#at = scalar.lastIndex
    return this.#at
  }

  #skip(): void {
    blank.lastIndex = this.#at
    blank.test(this.#text)
    this.#at = blank.lastIndex
  }

  #unexpected(wanted: string): Unreadable {
    const found = this.#text[this.#at]
    if (found === undefined) return new Unreadable(this.#at, `it ends where ${wanted} should be`)
    const isOpen = found === '"' && wanted.startsWith('a ')
    const what = isOpen ? 'a text that does not end, or has a sign that needs \\' : `"${found}"`
    return new Unreadable(this.#at, `there is ${what} where ${wanted} should be`)
  }
}
