/**
 * `JSON.parse` for what users have sent, whose keys may be anything; not for what is nested deeper than a reading
 * may be.
 *
 * V8 12.8 and later compares a key that has escapes with the key that it expects there, and takes the expected one
 * when the escaped text begins like it (https://github.com/nodejs/node/issues/63785): a line feed is read as
 * a backslash where another object has had a backslash. So texts with such keys are taken apart here.
 *
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasEscapedKey(text) ? new ValidJson(text).value() : value
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

/** Takes a valid text apart, down to the keys and the scalars. */
class ValidJson {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): unknown {
    const next = this.#next()
    if (next === openBrace) return this.#object()
    return next === openBracket ? this.#array() : this.#scalar()
  }

  #object(): Record<string, unknown> {
    const members: [string, unknown][] = []
    for (this.#at++; this.#next() !== closeBrace; this.#skipComma()) {
      const key = this.#scalar() as string
      this.#next()
      // The colon.
      this.#at++
      members.push([key, this.value()])
    }
    this.#at++
    return Object.fromEntries(members)
  }

  #array(): unknown[] {
    const items: unknown[] = []
    for (this.#at++; this.#next() !== closeBracket; this.#skipComma()) items.push(this.value())
    this.#at++
    return items
  }

  #scalar(): unknown {
    const from = this.#at
    if (this.#text.charCodeAt(from) === quote) this.#at = afterString(this.#text, from + 1)
    else while (isOfScalar(this.#text.charCodeAt(this.#at))) this.#at++
    return JSON.parse(this.#text.slice(from, this.#at))
  }

  /** What stands behind white space. */
  #next(): number {
    this.#at = afterSpace(this.#text, this.#at)
    return this.#text.charCodeAt(this.#at)
  }

  #skipComma(): void {
    if (this.#next() === comma) this.#at++
  }
}

/** Whether a character may be in a number or a word; not at the end of the text. */
function isOfScalar(code: number): boolean {
  return code > 32 && code !== comma && code !== closeBracket && code !== closeBrace
}
