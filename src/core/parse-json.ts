/**
 * `JSON.parse` for what users have sent, whose keys may be anything.
 *
 * V8 12.8 and later compares a key that has escapes with the key that it expects there, and takes the expected one
 * when the escaped text begins like it (https://github.com/nodejs/node/issues/63785): a line feed is read as
 * a backslash where another object has had a backslash. So texts with such keys are taken apart here.
 *
 * @param scalarOf what stands for each value that is neither an object nor an array, instead of itself
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseJson(text: string, scalarOf?: ScalarOf): unknown {
  const isEscaped = text.includes('\\')
  if (scalarOf !== undefined && !isEscaped) return revived(text, scalarOf)
  const value: unknown = JSON.parse(text)
  if (isEscaped && hasEscapedKey(text)) return new ValidJson(text, scalarOf).value()
  return scalarOf === undefined ? value : revived(text, scalarOf)
}

/**
 * @param source the text of the value, as it was sent
 * @param key of the member or the element that it is; empty for a text that is no more than this value
 */
export type ScalarOf = (value: unknown, source: string, key: string) => unknown

/** `JSON.parse` with the third argument of its reviver (ES2026), which the compiler's types lack. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

function revived(text: string, scalarOf: ScalarOf): unknown {
  return parseWithSource(text, (key, value, { source }) =>
    source === undefined ? value : scalarOf(value, source, key),
  )
}

const quote = 34
const comma = 44
const colon = 58
const openBracket = 91
const backslash = 92
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Whether a key of a valid text has an escape. */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    at = afterString(text, at)
    if (text.charCodeAt(afterSpace(text, at)) === colon) return true
  }
  return false
}

/** Where a string ends, given a place within it. */
function afterString(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 32) at++
  return at
}

/** An array, or an object whose next member has this key. */
type Open =
  | { readonly items: unknown[] }
  | { readonly members: [string, unknown][]; key: string | undefined }

/** Takes a valid text apart, down to the keys and the scalars; without recursion, as `JSON.parse` does. */
class ValidJson {
  readonly #text: string
  readonly #scalarOf: ScalarOf
  readonly #open: Open[] = []
  #at = 0

  constructor(text: string, scalarOf: ScalarOf = (value) => value) {
    this.#text = text
    this.#scalarOf = scalarOf
  }

  value(): unknown {
    for (;;) {
      const next = this.#next()
      if (next === openBracket) this.#begin({ items: [] })
      else if (next === openBrace) this.#begin({ members: [], key: undefined })
      else if (next === comma) this.#at++
      else {
        const value = next === closeBracket || next === closeBrace ? this.#end() : this.#scalar()
        if (this.#open.length === 0) return value
        this.#put(value)
      }
    }
  }

  #begin(open: Open): void {
    this.#open.push(open)
    this.#at++
  }

  #end(): unknown {
    this.#at++
    const ended = this.#open.pop() as Open
    // From entries, because a member may be `__proto__`.
    return 'items' in ended ? ended.items : Object.fromEntries(ended.members)
  }

  /** Takes a value, or a key with the colon behind it. */
  #put(value: unknown): void {
    const into = this.#open.at(-1) as Open
    if ('items' in into) into.items.push(value)
    else if (into.key === undefined) {
      into.key = value as string
      this.#next()
      this.#at++
    } else {
      into.members.push([into.key, value])
      into.key = undefined
    }
  }

  #scalar(): unknown {
    const from = this.#at
    if (this.#text.charCodeAt(from) === quote) this.#at = afterString(this.#text, from + 1)
    else while (isOfScalar(this.#text.charCodeAt(this.#at))) this.#at++
    const source = this.#text.slice(from, this.#at)
    const value: unknown = JSON.parse(source)
    const into = this.#open.at(-1)
    if (into === undefined) return this.#scalarOf(value, source, '')
    if ('items' in into) return this.#scalarOf(value, source, `${into.items.length}`)
    return into.key === undefined ? value : this.#scalarOf(value, source, into.key)
  }

  /** What stands behind white space. */
  #next(): number {
    this.#at = afterSpace(this.#text, this.#at)
    return this.#text.charCodeAt(this.#at)
  }
}

/** Whether a character may be in a number or a word; not at the end of the text. */
function isOfScalar(code: number): boolean {
  return code > 32 && code !== comma && code !== closeBracket && code !== closeBrace
}
