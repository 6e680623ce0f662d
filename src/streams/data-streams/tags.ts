import { isObject } from '../../contracts/definitions/field-map.ts'
import { cutText } from '../../core/cut-text.ts'
import type { ErrorDetail } from '../../core/errors.ts'

/** Texts by name that a stream is found by among many, such as `site: berlin`. */
export type Tags = Readonly<Record<string, string>>

/** Limits of one stream's tags: a list of a thousand streams shows all of theirs. */
export const tagsMax = 32
const valueLengthMax = 200

const tagNamePattern = /^[A-Za-z_][\w.:/-]{0,62}$/

/** Reads the tags of a definition; what is wrong with them is added to the problems. */
export function parseTags(value: unknown, problems: ErrorDetail[]): Tags {
  if (value === undefined) return {}
  if (!isObject(value)) {
    problems.push({ path: 'tags', message: 'must be an object of texts' })
    return {}
  }
  const entries = Object.entries(value)
  if (entries.length > tagsMax) {
    problems.push({ path: 'tags', message: `has more than ${tagsMax} tags` })
  }
  for (const [name, tag] of entries.slice(0, tagsMax)) {
    const problem = tagProblem(name, tag)
    if (problem !== undefined)
      problems.push({ path: `tags.${cutText(name, 100)}`, message: problem })
  }
  return value as Tags
}

/** The problem of one tag, if there is one. */
export function tagProblem(name: string, value: unknown): string | undefined {
  if (!tagNamePattern.test(name) || name === '__proto__') {
    return 'is not a name of a tag: letters, digits and _ . : / -, at most 63, beginning with a letter'
  }
  if (typeof value === 'string' && value !== '' && value.length <= valueLengthMax) return undefined
  return `must be a text of 1 to ${valueLengthMax} characters`
}
