import { parseJson } from '../src/core/parse-json.ts'

const quote = 34
const comma = 44
const colon = 58
const openBracket = 91
const backslash = 92
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/**
 * The bytes of each element of a JSON array, or of each member of an object, without the white space around it.
 * They were parsed without an error before. Texts in them may be no UTF-8: what JSON is made of is ASCII, and
 * bytes of other characters are not.
 */
export function jsonElements(bytes: Uint8Array): Uint8Array[] {
  const elements: Uint8Array[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === openBracket || byte === openBrace) {
      if (depth === 0) start = at + 1
      depth++
    } else if (byte === closeBracket || byte === closeBrace) depth--
    else if (byte !== comma) continue
    if (depth > 1 || (depth === 1 && byte !== comma)) continue
    elements.push(trimmed(bytes, start, at))
    start = at + 1
    if (depth === 0) break
  }
  return elements
}

/**
 * The text that a member of a JSON object is, by its name; nothing where there is no such member, where it is no
 * text, and where it comes twice, because nobody knows then which of the two is meant.
 */
export function onlyTextMember(object: Uint8Array, name: string): string | undefined {
  if (trimmed(object, 0, object.length)[0] !== openBrace) return undefined
  let found: unknown
  for (const member of jsonElements(object)) {
    const keyEnd = endOfString(member, 0) + 1
    if (member.length === 0 || parsed(member.subarray(0, keyEnd)) !== name) continue
    if (found !== undefined) return undefined
    found = parsed(member.subarray(member.indexOf(colon, keyEnd) + 1))
  }
  return typeof found === 'string' ? found : undefined
}

/** The names of the members of a JSON object; none where it is no object. */
export function memberNames(object: Uint8Array): readonly string[] {
  if (trimmed(object, 0, object.length)[0] !== openBrace) return []
  return jsonElements(object)
    .filter(({ length }) => length > 0)
    .map((member) => String(parsed(member.subarray(0, endOfString(member, 0) + 1))))
}

function parsed(bytes: Uint8Array): unknown {
  return parseJson(Buffer.from(bytes).toString())
}

/** The place of the quote that closes a string. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/** What stands between white space: space, tab, line feed and carriage return (RFC 8259, section 2). */
export function trimmed(bytes: Uint8Array, start: number, end: number): Uint8Array {
  let first = start
  let last = end
  while (first < last && isSpace(bytes[first])) first++
  while (last > first && isSpace(bytes[last - 1])) last--
  return bytes.subarray(first, last)
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13
}
