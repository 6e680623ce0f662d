/** A part of a text as it is shown. */
export interface VisiblePart {
  readonly text: string
  /** Its name, where it is a sign that nobody would see, or that would turn the text around. */
  readonly hidden?: string
}

// Lines and tabs are what they are; all else of C0 and C1, DEL, marks of direction, and what has no width is told.
const unseen =
  /(?![\t\n])\p{Cc}|[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu

/** A text in which nothing is hidden: NUL and the like become signs with a name. */
export function visibleParts(text: string): readonly VisiblePart[] {
  const parts: VisiblePart[] = []
  let at = 0
  for (const match of text.matchAll(unseen)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index) })
    parts.push({ text: signOf(match[0]), hidden: nameOf(match[0]) })
    at = match.index + 1
  }
  if (at < text.length) parts.push({ text: text.slice(at) })
  return parts
}

function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<${code.toString(16).padStart(4, '0')}>`
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
