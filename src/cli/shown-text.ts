/**
 * Characters that do something to a terminal in place of being shown: control codes, line and paragraph separators, and
 * those that turn the direction of a text. Names and messages come from other users and from devices.
 */
const unshown = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** A text in one line as it can be shown: what a terminal would obey is written as an escape. */
export function shownText(text: string): string {
  return text.replaceAll(unshown, escaped)
}

/** A text of several lines as it can be shown. What JSON leaves of such characters stays the same value. */
export function shownLines(text: string): string {
  return text.replaceAll(unshown, (one) => (one === '\n' || one === '\t' ? one : escaped(one)))
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
