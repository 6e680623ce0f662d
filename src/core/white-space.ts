/**
 * A text without spaces, tabs and ends of lines around it. `trim` takes away much more: spaces that do not break, and
 * U+FEFF, which belong to a text.
 */
export function withoutSpaceAround(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** As in XML and JSON (XML 1.0, section 2.3; RFC 8259, section 2). */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}
