import { placeGroups } from '../places.ts'

/** Something that a search leads to. */
export interface Found {
  readonly name: string
  /** What tells it from others of its name. */
  readonly beside: string
  readonly href: string
}

/** Entries of a group: more of a kind are found by typing more. */
export const foundMax = 8

/** Pages whose name has the words in it. */
export function foundPages(
  wanted: string,
  isAllowed: (needs: readonly string[]) => boolean,
): readonly Found[] {
  const words = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return placeGroups
    .flatMap(({ name: group, places }) => places.map((place) => ({ ...place, group })))
    .filter(
      ({ name, needs }) =>
        isAllowed(needs) && words.every((word) => name.toLowerCase().includes(word)),
    )
    .slice(0, foundMax)
    .map(({ name, href, group }) => ({ name, href, beside: group }))
}

/** Whether a text is a whole id: only then is asked what it is the id of. */
export function isWholeId(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text.trim())
}

/** Whether a text is the whole id of a key. */
export function isKeyId(text: string): boolean {
  return /^sv_[a-z]+_[\da-f]{24}$/.test(text.trim())
}

/** Whether a text stands anywhere in one of others, in any case. */
export function isIn(wanted: string, ...texts: readonly (string | null)[]): boolean {
  const folded = wanted.toLowerCase()
  return texts.some((text) => text?.toLowerCase().includes(folded) === true)
}
