import { canonicalNumber } from '../src/core/canonical-json.ts'

const space = 32
const quote = 34
const minus = 45
const point = 46
const zero = 48
const nine = 57
const colon = 58
const upperE = 69
const backslash = 92
const lowerE = 101

/** Decimal digits that survive the way into a double and back (IEEE 754, binary64). */
const exactDigits = 15

/** Smaller numbers are written with an exponent (ECMA-262, Number::toString). */
const plainMin = 1e-6

const powersOfTen = Array.from({ length: exactDigits + 1 }, (_, exponent) => 10 ** exponent)

/** Reads numbers without exponents. */
export class PlainNumbers {
  #mantissa = 0
  /** The number that was read last. */
  value = 0
  /** Whether it had no decimals. */
  isInteger = false
  /** The shortest text of the same double. */
  canonical = ''

  /** Where a number ends that begins at a place, having read it; negative where none does that is plain. */
  endOfNumber(text: string, start: number): number {
    const from = text.charCodeAt(start) === minus ? start + 1 : start
    this.#mantissa = 0
    const whole = this.#endOfDigits(text, from)
    const hasLeadingZero = whole > from + 1 && text.charCodeAt(from) === zero
    // Longer integers may be beyond 2^53, where a double would round them.
    if (whole === from || whole - from > exactDigits || hasLeadingZero) return -1
    this.isInteger = text.charCodeAt(whole) !== point
    const end = this.isInteger ? whole : this.#endOfDigits(text, whole + 1)
    const decimals = this.isInteger ? 0 : end - whole - 1
    const next = text.charCodeAt(end)
    if ((!this.isInteger && decimals === 0) || next === lowerE || next === upperE) return -1
    const source = text.slice(start, end)
    if (whole - from + decimals > exactDigits) {
      this.value = Number(source)
      this.canonical = canonicalNumber(this.value)
      return end
    }
    // Exact: both are integers below 2^53 (Clinger, "How to read floating point numbers accurately").
    const size = this.#mantissa / (powersOfTen[decimals] as number)
    this.value = from === start ? size : -size
    const isShortest = decimals === 0 || text.charCodeAt(end - 1) !== zero
    this.canonical = isShortest && size >= plainMin ? source : canonicalNumber(this.value)
    return end
  }

  /** Where the digits end; they are added to the mantissa. */
  #endOfDigits(text: string, start: number): number {
    let mantissa = this.#mantissa
    let at = start
    let code = text.charCodeAt(at)
    while (code >= zero && code <= nine) {
      mantissa = mantissa * 10 + code - zero
      code = text.charCodeAt(++at)
    }
    this.#mantissa = mantissa
    return at
  }
}

/**
 * A place in a JSON text that moves over what is plain: strings without escapes, numbers without
 * exponents, white space anywhere. What reads a value answers nothing when it is not plain, and what
 * it has moved over by then is of no use.
 */
export class PlainText extends PlainNumbers {
  #text = ''
  #at = 0
  #numberStart = 0
  #numberEnd = 0

  /** Its digits as they stand there. */
  get numberSource(): string {
    return this.#text.slice(this.#numberStart, this.#numberEnd)
  }

  begin(text: string): void {
    this.#text = text
    this.#at = 0
    this.#skipSpace()
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Moves over the next character if it is this one. */
  take(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    this.#skipSpace()
    return true
  }

  /** Moves over a text if it stands here. */
  takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    this.#skipSpace()
    return true
  }

  /** Reads the key of a member and its colon, and answers both without the space between. */
  key(): string | undefined {
    const text = this.string()
    return text !== undefined && this.take(colon) ? `${text}:` : undefined
  }

  /** Reads a string, and answers it with its quotes: JSON has no other text for the same string. */
  string(): string | undefined {
    const text = this.#text
    const start = this.#at
    if (text.charCodeAt(start) !== quote) return undefined
    let at = start + 1
    let code = text.charCodeAt(at)
    // Not a number at the end of the text: no comparison holds.
    while (code >= space && code !== quote && code !== backslash) code = text.charCodeAt(++at)
    if (code !== quote) return undefined
    this.#at = at + 1
    this.#skipSpace()
    return text.slice(start, at + 1)
  }

  boolean(): string | undefined {
    if (this.takeText('true')) return 'true'
    return this.takeText('false') ? 'false' : undefined
  }

  /** Moves over a value that holds no others. */
  skipScalar(): boolean {
    return (
      this.string() !== undefined ||
      this.boolean() !== undefined ||
      this.takeText('null') ||
      this.number() !== undefined
    )
  }

  /** Reads a number into `value`, and answers the shortest text of the same double. */
  number(): string | undefined {
    const start = this.#at
    const end = this.endOfNumber(this.#text, start)
    if (end < 0) return undefined
    this.#at = end
    this.#skipSpace()
    this.#numberStart = start
    this.#numberEnd = end
    return this.canonical
  }

  #skipSpace(): void {
    const text = this.#text
    let code = text.charCodeAt(this.#at)
    while (code === space || code === 10 || code === 13 || code === 9) {
      code = text.charCodeAt(++this.#at)
    }
  }
}
