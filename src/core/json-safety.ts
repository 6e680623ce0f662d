import { parseJson } from './parse-json.ts'

/**
 * What `JSON.parse` lets through but must not be stored: duplicate keys, of which one would be
 * lost, U+0000 and lone surrogates (decisions.md#bodies-and-queries), integers that a double is
 * not, nor is written as.
 */

/** Deepest nesting of a message: what recursion can follow without a thought. */
export const messageDepthMax = 64

const integerDigits = 16

const quote = 34
const point = 46
const digitZero = 48
const colon = 58
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** What is wrong with a text and the value that was parsed from it, or nothing. */
export function unsafeContent(text: string, value: unknown): string | undefined {
  return contentOf(text, value).problem
}

interface JsonContent {
  /** What is wrong with it. */
  readonly problem: string | undefined
  /** Whether a number may have more digits than the 15 of a decimal that survive the way into a double and back. */
  readonly hasLongNumber: boolean
}

/**
 * What there is to know of a text and the value that was parsed from it, beside the value.
 *
 * @param takesLong whether integers may have more digits than a double holds
 */
export function contentOf(text: string, value: unknown, takesLong = false): JsonContent {
  const found = scan(text)
  const problem = problemOf(text, value, takesLong ? { ...found, hasLongInteger: false } : found)
  return { problem, hasLongNumber: found.hasLongNumber }
}

/**
 * The value of a text in which an integer that a double would round is the text of its digits; undefined where there is
 * none. The text was parsed before.
 */
export function withIntegersAsTexts(text: string): unknown {
  if (!scan(text).hasLongInteger) return undefined
  let isChanged = false
  const value = parseJson(text, (member, source) => {
    const isInteger = typeof member === 'number' && /^-?\d+$/.test(source)
    if (!isInteger || !isRoundedInteger(source)) return member
    isChanged = true
    return source
  })
  return isChanged ? value : undefined
}

function problemOf(text: string, value: unknown, found: Scan): string | undefined {
  if (found.depth > messageDepthMax) return `nested deeper than ${messageDepthMax} levels`
  if (countMembers(value, found.depth) !== found.members) return 'an object has the same key twice'
  if (!found.hasLongInteger && !text.includes('\\u')) return undefined
  let problem = unsafeKeyIn(value)
  parseJson(text, (member, source, key) => {
    problem ??= unsafeValue(key, member, found.hasLongInteger ? source : undefined)
    return member
  })
  return problem
}

function unsafeKeyIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const problem = unsafeText(key) ?? unsafeKeyIn(member)
    if (problem !== undefined) return problem
  }
  return undefined
}

interface Scan {
  /** Members of all objects as they stand in the text. */
  readonly members: number
  /** Deepest nesting; one more than allowed when it is deeper still. */
  readonly depth: number
  /** Whether a number has as many digits before its point as one that a double would round. */
  readonly hasLongInteger: boolean
  /** Whether a number has as many characters, up to its exponent, as one that a double may not hold. */
  readonly hasLongNumber: boolean
}

/** Looks at the text once: that costs the same for every shape of message. */
function scan(text: string): Scan {
  let members = 0
  let depth = 0
  let deepest = 0
  let hasLongInteger = false
  let hasLongNumber = false
  let wholeAt = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < colon) {
      if (code === quote) index = endOfString(text, index)
      else if (code >= digitZero) {
        const end = endOfDigits(text, index)
        // The digits of a fraction may be many: they are rounded, and nobody minds.
        const isFraction = text.charCodeAt(index - 1) === point
        if (!isFraction) wholeAt = index
        if (end - wholeAt >= integerDigits) hasLongNumber = true
        if (end - index >= integerDigits && !isFraction) hasLongInteger = true
        index = end - 1
      }
    } else if (code === colon) members++
    else if (code === openBracket || code === openBrace) {
      depth++
      deepest = Math.max(deepest, depth)
      if (depth > messageDepthMax) break
    } else if (code === closeBracket || code === closeBrace) depth--
  }
  return { members, depth: deepest, hasLongInteger, hasLongNumber }
}

function endOfDigits(text: string, start: number): number {
  let end = start + 1
  for (let code = text.charCodeAt(end); code >= digitZero && code < colon; ) {
    end++
    code = text.charCodeAt(end)
  }
  return end
}

/** Members that are left of all objects: fewer than in the text when a key came twice. */
function countMembers(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  const isArray = Array.isArray(value)
  const own = isArray ? 0 : Object.keys(value).length
  if (depth <= 1) return own
  const within: readonly unknown[] = isArray ? value : Object.values(value)
  return within.reduce<number>((sum, member) => sum + countMembers(member, depth - 1), own)
}

/** The place of the quote that closes a text of JSON; negative where none does. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    // An even number of backslashes escapes each other, and not the quote.
    if ((end - before) % 2 === 1) break
    end = text.indexOf('"', end + 1)
  }
  return end
}

function unsafeValue(key: string, value: unknown, source: string | undefined): string | undefined {
  if (typeof value === 'string') return unsafeText(value)
  if (typeof value !== 'number' || source === undefined || !/^-?\d+$/.test(source)) return undefined
  return isRoundedInteger(source)
    ? `the integer ${source.slice(0, 40)} at '${key}' is beyond 2^53 and would be rounded`
    : undefined
}

/**
 * Whether an integer, given in decimal digits, would be lost in a double. It is not where the double is that very
 * integer, nor where it is what ECMAScript writes for the double: every client in JavaScript sends 6.02e20 as
 * 602000000000000000000, and so do we.
 */
export function isRoundedInteger(source: string): boolean {
  const value = Number(source)
  if (Number.isSafeInteger(value)) return false
  // A finite double has 309 digits at most, so that no BigInt of more is made.
  if (!Number.isFinite(value)) return true
  return String(value) !== source && BigInt(value) !== BigInt(source)
}

function unsafeText(text: string): string | undefined {
  if (text.includes('\0')) return 'U+0000 is not allowed in text'
  return text.isWellFormed() ? undefined : 'lone surrogates are not allowed in text'
}
