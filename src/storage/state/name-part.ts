import { type RawBuilder, sql } from 'kysely'

/** Signs of an id from which on its beginning is looked for: shorter ones are words, too. */
const idSignsMin = 4

/** How a sigma is written at the end of a word, in lower case only: a part may end where the name goes on. */
const finalSigma = 'ς'

/** A uuid whose digits are all zero. */
const idShape = '00000000-0000-0000-0000-000000000000'

/** The condition that a row has a text somewhere in its name, as it is written, in any case. */
export function hasInName(part: string): RawBuilder<boolean> {
  const wanted = part.toLowerCase().replaceAll(finalSigma, 'σ')
  const name = wanted.includes('σ')
    ? sql`replace(name_folded, ${finalSigma}, 'σ')`
    : sql`name_folded`
  // No LIKE, which has wildcards, and no length, as either ends at a NUL.
  return sql<boolean>`instr(${name}, ${wanted}) > 0`
}

/** The condition that the name of a row begins with a text, in lower case. */
export function nameBeginsWith(start: string): RawBuilder<boolean> {
  return sql<boolean>`instr(name_folded, ${start}) = 1`
}

/** The condition that a row with a uuid has a text in its name, or begins with it, if it is the beginning of a uuid. */
export function hasInNameOrId(part: string): RawBuilder<boolean> {
  const start = part.toLowerCase()
  if (!isIdStart(start)) return hasInName(part)
  return sql<boolean>`(${hasInName(part)} OR ${idBeginsWith(start)})`
}

/** The condition that an id begins with a text. */
export function idBeginsWith(start: string): RawBuilder<boolean> {
  return sql<boolean>`substr(id, 1, ${start.length}) = ${start}`
}

function isIdStart(text: string): boolean {
  return text.length >= idSignsMin && idShape.startsWith(text.replaceAll(/[\da-f]/g, '0'))
}
