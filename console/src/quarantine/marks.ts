import { type Found, placeOfDotted } from '../formats/json-place.ts'
import type { JsonNode } from '../formats/json-tree.ts'

export interface Detail {
  readonly path: string
  readonly message: string
}

/** A detail with where it leads in the bytes, if it leads anywhere. */
export interface PlacedDetail extends Detail {
  readonly found: Found | undefined
}

/** Details beside what they are about; those of steps and of the source are about the definition. */
export function placed(
  root: JsonNode | undefined,
  details: readonly Detail[],
): readonly PlacedDetail[] {
  return details.map((detail) => {
    const isAboutDefinition = /^(?:processing|source)\b/.test(detail.path)
    const found = root && !isAboutDefinition ? placeOfDotted(root, detail.path) : undefined
    return { ...detail, found }
  })
}

/** A part of a text; those that something is wrong with say what. */
export interface MarkedPart {
  readonly text: string
  readonly problem?: string
}

/** A text in parts, with what details are about marked. Marks within marks are one. */
export function markedParts(text: string, details: readonly PlacedDetail[]): readonly MarkedPart[] {
  const marks = details
    .flatMap(({ found, message }) => (found?.isWhole === true ? [{ ...found, message }] : []))
    .sort((one, other) => one.start - other.start)
  const parts: MarkedPart[] = []
  let at = 0
  for (const { start, end, message } of marks) {
    if (start < at || start >= text.length || start === 0) continue
    parts.push({ text: text.slice(at, start) })
    at = Math.min(end, text.length)
    parts.push({ text: text.slice(start, at), problem: message })
  }
  parts.push({ text: text.slice(at) })
  return parts.filter((part) => part.text !== '')
}
