import { endOfString } from './json-safety.ts'
import { parseJson } from './parse-json.ts'

/** A text of JSON with the value that it says. */
export interface ReadJson {
  readonly text: string
  readonly value: unknown
}

/** What stands for NaN where JSON has no word for it: a number that no double can hold. */
const notANumber = '1e999999999'
const infinity = '1e99999'

const words: ReadonlyMap<string, string> = new Map([
  ['N', 'NaN'],
  ['I', 'Infinity'],
])

const standIns: ReadonlyMap<string, string> = new Map([
  ['NaN', notANumber],
  ['Infinity', infinity],
])

const quote = '"'

/**
 * Reads a text that is JSON but for NaN, Infinity and -Infinity, which some programs write (Python's `json` does). In the
 * text that comes back numbers that JSON has stand for them. Nothing where it has no such words, or is no JSON anyway.
 */
export function readNonFinite(text: string): ReadJson | undefined {
  const written = withoutWords(text)
  if (written === undefined) return undefined
  try {
    const value = parseJson(written, (member, source) =>
      source.endsWith(notANumber) && typeof member === 'number' ? Number.NaN : member,
    )
    return { text: written, value }
  } catch {
    return undefined
  }
}

/** A text with numbers in place of words for those that JSON cannot write; nothing where there are no such words. */
function withoutWords(text: string): string | undefined {
  if (!/NaN|Infinity/.test(text)) return undefined
  let written = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === quote) {
      const end = endOfString(text, at)
      if (end < 0) return undefined
      at = end
      continue
    }
    const word = words.get(character)
    if (word === undefined || !isWord(text, at, word)) continue
    written += text.slice(from, at) + (standIns.get(word) ?? '')
    from = at + word.length
    at = from - 1
  }
  return from === 0 ? undefined : written + text.slice(from)
}

/** Whether a word stands there, and is no part of a number or of another word. */
function isWord(text: string, at: number, word: string): boolean {
  if (!text.startsWith(word, at)) return false
  const before = text.charAt(at - 1)
  const after = text.charAt(at + word.length)
  return (before === '' || ' \t\r\n[:,-'.includes(before)) && ' \t\r\n]},'.includes(after)
}
