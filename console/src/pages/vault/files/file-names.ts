/** What no name of a file may have: steps of a path, and what changes how it looks. */
const refused = /[/\\\p{Cc}]/gu

/** A name of a file that the service takes; a long one is cut before its ending, and no letter is cut in two. */
export function cutTo(name: string, lettersMax: number): string {
  const letters = Array.from(name.replaceAll(refused, '_'))
  if (letters.length <= lettersMax) return letters.join('') || '_'
  const ending = /\.\w{1,8}$/.exec(name)?.[0] ?? ''
  return letters.slice(0, lettersMax - ending.length).join('') + ending
}
