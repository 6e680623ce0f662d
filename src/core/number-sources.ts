import { parseJson } from './parse-json.ts'

/**
 * The digits that a number was sent with, where a double may have fewer: a time in seconds with nine decimals is cut off
 * by its decimals, and the double next to it may be in another microsecond.
 *
 * They are remembered beside the objects that were decoded, and as long as these are: values stay plain numbers.
 */
const sources = new WeakMap<object, () => Members>()

type Members = Readonly<Record<string, unknown>>

/**
 * Remembers the digits of a JSON text for the object that was parsed from it, or for those of its list: to be called
 * where a number may have more than a double (`contentOf`).
 */
export function rememberJson(text: string, value: unknown): void {
  let parsed: unknown
  const whole = () => {
    parsed ??= parseJson(text, (member, source) => (typeof member === 'number' ? source : member))
    return parsed
  }
  if (!Array.isArray(value)) remember(value, () => Object(whole()) as Members)
  else {
    for (const [index, element] of value.entries()) {
      remember(element, () => Object((whole() as readonly unknown[])[index]) as Members)
    }
  }
}

/** Remembers the texts of some numbers of an object. */
export function rememberSources(value: object, texts: Readonly<Record<string, string>>): void {
  remember(value, () => texts)
}

/** An object that was made of another one has its numbers, under the names that they had. */
export function passSources(from: object, to: object): void {
  const found = sources.get(from)
  if (found) sources.set(to, found)
}

/** The digits of a number of an object; nothing where those of its double are all that is known. */
export function sourceOf(value: object, name: string): string | undefined {
  const members = sources.get(value)?.()
  if (members === undefined || !Object.hasOwn(members, name)) return undefined
  const source = members[name]
  return typeof source === 'string' && Number(source) === (value as Members)[name]
    ? source
    : undefined
}

/** An object with the digits of its numbers in their places; undefined where those of the doubles are all that is known. */
export function sourcesIn(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? sources.get(value)?.() : undefined
}

function remember(value: unknown, members: () => Members): void {
  if (typeof value === 'object' && value !== null) sources.set(value, members)
}
