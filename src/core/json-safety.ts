/**
 * What `JSON.parse` lets through but must not be stored: duplicate keys, of which one would be lost,
 * U+0000 and lone surrogates (D62), integers that a double would round (D14).
 */

/** Deepest nesting of a message: what recursion can follow without a thought. */
const depthMax = 64

/** 2^53: from here on a double cannot tell neighbouring integers apart. */
const integerMax = 2 ** 53
const integerDigits = 16

const quote = 34
const colon = 58
const backslash = 92
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** `JSON.parse` with the third argument of its reviver (ES2026), which the compiler's types lack. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

/** What is wrong with a text and the value that was parsed from it, or nothing. */
export function unsafeContent(text: string, value: unknown): string | undefined {
  const members = countMembers(text)
  if (members === undefined) return `nested deeper than ${depthMax} levels`
  const found = { members: 0, hasLargeNumber: false }
  inspect(value, found)
  if (found.members !== members) return 'an object has the same key twice'
  if (!found.hasLargeNumber && !text.includes('\\u')) return undefined
  let problem: string | undefined
  parseWithSource(text, (key, member, context) => {
    problem ??= unsafeText(key) ?? unsafeValue(key, member, context.source)
    return member
  })
  return problem
}

/** Members of all objects as they stand in the text; nothing when it is nested too deeply. */
function countMembers(text: string): number | undefined {
  let members = 0
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    // Digits, signs, commas and spaces, which are most of what stands outside of strings.
    if (code < colon && code !== quote) continue
    if (code === quote) index = endOfString(text, index)
    else if (code === colon) members++
    else if (code === openBracket || code === openBrace) {
      depth++
      if (depth > depthMax) return undefined
    } else if (code === closeBracket || code === closeBrace) depth--
  }
  return members
}

function endOfString(text: string, start: number): number {
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

interface Inspection {
  /** Members that are left of all objects: fewer than in the text when a key came twice. */
  members: number
  /** A number that could stand for an integer that a double cannot tell from others. */
  hasLargeNumber: boolean
}

function inspect(value: unknown, found: Inspection): void {
  if (typeof value === 'number') {
    if (value >= integerMax || value <= -integerMax) found.hasLargeNumber = true
    return
  }
  if (typeof value !== 'object' || value === null) return
  const isObject = !Array.isArray(value)
  // for-in makes no list of what it visits; what JSON.parse made inherits nothing enumerable.
  for (const name in value) {
    if (isObject) found.members++
    inspect((value as Readonly<Record<string, unknown>>)[name], found)
  }
}

function unsafeValue(key: string, value: unknown, source: string | undefined): string | undefined {
  if (typeof value === 'string') return unsafeText(value)
  if (typeof value !== 'number' || source === undefined || !/^-?\d+$/.test(source)) return undefined
  const digits = source.replace('-', '')
  const isBeyond = digits.length > integerDigits || BigInt(digits) > BigInt(integerMax)
  return isBeyond
    ? `the integer ${source.slice(0, 40)} at '${key}' is beyond 2^53 and would be rounded`
    : undefined
}

function unsafeText(text: string): string | undefined {
  if (text.includes('\0')) return 'U+0000 is not allowed in text'
  return text.isWellFormed() ? undefined : 'lone surrogates are not allowed in text'
}
